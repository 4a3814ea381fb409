# %% [markdown]
# # 03 · Bayesian networks and mutual information
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 02 composition and the ledger |
# | **You will be able to** | compute mutual information by hand, say how good a network is before any noise, and explain why a private algorithm prefers another measure |
# | **Paper** | thesis sections 2 and 2.1, Definitions 8 and 9, Equation (5); J. Zhang et al., *PrivBayes*, ACM TODS 2017, Lemma 4.1 |
# | **ε spent** | 0 on people: Adult is a public teaching table. Each fit below *would* cost what its ledger says |

# %% [markdown]
# ## A question to start with
#
# Lesson 01 made any table of counts private: noise of scale $2/\varepsilon$ in every cell, done. So why not the one table that holds everything, all
# 14 attributes at once? Noise in its cells looks like people: invented ones.

# %%
import math

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.core import measures
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_03 as ex
from pdsynth.course.guess import guess

pd.set_option("display.max_colwidth", 90)
adult = pds.datasets.load_adult(coding="thesis")
n, cells = len(adult.frame), math.prod(adult.schema.sizes)

# %%
def drown():
    table = pd.Series({"cells": f"{cells:,}", "people": f"{n:,}", "invented at ε = 1, about one a cell": f"{cells:,}"})
    return cells / n, table.to_frame("the full table")

guess("At ε = 1, how many invented people does the noise make for each real one?", drown, unit="for each real one")

# %% [markdown]
# The full table drowns. Small tables don't: sex × relationship has twelve cells. The art is to describe 14 attributes by small tables that *overlap in the
# right places*.
#
# ## A toy that you can check by hand
#
# Eight people, three yes/no questions. B mostly repeats A; C was decided by a coin that happens to fall evenly.

# %%
toy = pd.DataFrame({"A": [0, 0, 0, 0, 1, 1, 1, 1], "B": [0, 0, 0, 1, 1, 1, 1, 0], "C": [0, 1, 0, 1, 0, 1, 0, 1]})
ab, ac = pd.crosstab(toy["A"], toy["B"]).to_numpy(), pd.crosstab(toy["A"], toy["C"]).to_numpy()
print(ab, ac, sep="\n\n")

# %% [markdown]
# A and C: every cell is 2 = 8 · ½ · ½. Knowing A says nothing about C. A and B: the cells are 3, 1, 1, 3 where independence would give 2, 2, 2, 2. There are two ways
# to put a number on the gap.
#
# **Mutual information** counts bits. Each cell adds its share of the people times $\log_2$ of (this share ÷ the share under independence):
# $I = 2\cdot\tfrac38\log_2\tfrac32+2\cdot\tfrac18\log_2\tfrac12$.

# %%
functions = {"I in bits": measures.mutual_information, "R": measures.tvd_from_independence, "K": measures.association}

def compare():
    by_hand = 2 * 3 / 8 * math.log2(3 / 2) + 2 * 1 / 8 * math.log2(1 / 2)
    return by_hand, pd.DataFrame({name: [f(ab), f(ac)] for name, f in functions.items()}, index=["A, B", "A, C"]).round(4)

guess("How many bits does A tell about B?", compare, unit="bits")

# %% [markdown]
# **Distance from independence**, $R$, is half the sum of the gaps themselves: here $\tfrac12\cdot4\cdot\tfrac18=\tfrac14$. In whole numbers that is $K=2n^2R=32$.

# %%
def copied():
    table = pd.crosstab(toy["A"], toy["A"])
    return float(measures.tvd_from_independence(table.to_numpy())), table

guess("And R of A with an exact copy of itself?", copied)

# %% [markdown]
# ## The idea, in the paper's symbols
#
# The **entropy** $H(X)$ of an attribute (Definition 9) is its uncertainty in bits: add up, over its values, share × $\log_2$ (1 ÷ share). Mutual information
# (Definition 8, here always in bits) is how much of it another attribute removes: $I(X_1,X_2)=H(X_1)+H(X_2)-H(X_1,X_2)$. It is 0 exactly when the two are independent, and never more than either entropy.

# %%
guess("What is the entropy of an attribute with four values, all equally frequent?", lambda: float(measures.entropy(np.full(4, 1 / 4))), unit="bits")

# %% [markdown]
# A **Bayesian network** $\mathcal N$ puts the attributes in an order and gives each $X_i$ a set of parents $\Pi_i$ among those before it. It needs one table for each attribute
# with its parents, and no larger one.

# %%
def largest():
    values, parents = 4, 2
    return values ** (parents + 1), pd.Series({"a network": values ** (parents + 1), "the full table": values**14}, name="cells").to_frame()

guess("14 attributes of four values each, two parents each: how many cells has the largest table?", largest, unit="cells")

# %% [markdown]
# The network describes the table by
#
# $$P_{\mathcal N}[\mathcal A]=\prod_{i=1}^{d}P[X_i\mid\Pi_i]\qquad\text{(Equation 5)}$$
#
# How far is that from the truth? In Kullback–Leibler divergence there is an exact answer:
#
# $$D(P\,\|\,P_{\mathcal N})=\underbrace{\sum_i H(X_i)-H(\mathcal A)}_{\text{fixed by the table}}-\sum_i I(X_i,\Pi_i).$$
#
# The best network is the one with the largest **sum of mutual information**. Equation (5) as code, for a table of probabilities `p`:

# %%
def network_law(p, network, names):
    law = np.ones_like(p)
    for child, parents in network.pairs:
        others = tuple(axis for axis, name in enumerate(names) if name not in (child, *parents))
        joint = p.sum(axis=others, keepdims=True)
        law = law * joint / joint.sum(axis=names.index(child), keepdims=True)
    return law

# %% [markdown]
# The thesis' own example (section 2.1, Figure 1), redrawn. Operators' age (A) and sex (B) and the value of a new technology (C) tell how many products are faulty for
# technical reasons (D). Its text names the arrows into D. Those of E, other faults, stand in its picture alone, so E stands apart here.

# %%
from pdsynth.plots import network_figure

faults = (("A: age", ()), ("B: sex", ()), ("C: value", ()), ("D: technical", ("A: age", "B: sex", "C: value")), ("E: other", ()))
network_figure(pds.Network(faults), title="After Figure 1 of the thesis", height=300)

# %% [markdown]
# Three attributes of Adult, four networks. The divergence is computed from the law itself, and from the formula.

# %%
names = ["sex", "relationship", "marital-status"]
small = adult.schema.select(names)
p = np.zeros(small.sizes)
np.add.at(p, tuple(small.encode(adult.frame[names]).T), 1 / n)
fixed = sum(measures.entropy(p.sum(axis=tuple({0, 1, 2} - {i}))) for i in range(3)) - measures.entropy(p)
sex, kin, wed = names
drawings = {
    "no edges": [],
    "sex in the middle": [(sex, kin), (sex, wed)],
    "relationship in the middle": [(kin, sex), (kin, wed)],
    "marital status in the middle": [(wed, sex), (wed, kin)],
}

# %%
def diverge():
    rows, seen = {}, p > 0
    for label, edges in drawings.items():
        network = pds.Network.from_edges(names, edges)
        law, information = network_law(p, network, names), pds.evaluate.sum_mutual_information(network, adult.frame[names], small)
        rows[label] = (information, (p[seen] * np.log2(p[seen] / law[seen])).sum(), fixed - information)
    table = pd.DataFrame(rows, index=["sum of I", "divergence, from the law", "divergence, from the formula"]).T.round(4)
    return table["sum of I"].idxmax(), table

guess("Which network is nearest to the table?", diverge, options=list(drawings))

# %% [markdown]
# ## The library's few lines
#
# Without noise, the greedy algorithm that lesson 04 explains finds networks on all 14 attributes. More parents, more information:

# %%
sums = {}
for k in (0, 1, 2, 3):
    fitted = pds.PrivBayes(k=k, guarantee="none").fit(adult.frame, schema=adult.schema)
    sums[k] = pds.evaluate.sum_mutual_information(fitted.network_, adult.frame, adult.schema)
pd.Series(sums, name="sum of mutual information, bits").rename_axis("k").round(3).to_frame().T

# %%
pds.PrivBayes(k=1, guarantee="none").fit(adult.frame, schema=adult.schema).network_

# %% [markdown]
# ### Why a private algorithm prefers R
#
# To choose a pair privately we need the score's sensitivity. One record can change $I$ by up to about $\frac2n\log_2 n$ bits, but $R$ by less than $\frac3n$ (the bound is proved in
# the docstring of `association_sensitivity`). What counts is how large a score is *measured in its own sensitivity*:

# %%
pairs = [("relationship", "marital-status"), ("education", "occupation"), ("age", "workclass"), ("race", "workclass")]
codes, rows = pd.DataFrame(adult.schema.encode(adult.frame), columns=adult.schema.names), []
for x, y in pairs:
    table, sizes = pd.crosstab(codes[x], codes[y]).to_numpy(), (adult.schema[x].size, adult.schema[y].size)
    i, r = measures.mutual_information(table), float(measures.tvd_from_independence(table))
    rows.append((i, i / measures.mutual_information_sensitivity(n, *sizes), r, r / float(measures.tvd_sensitivity(n, *sizes))))
pd.DataFrame(rows, index=[" × ".join(p) for p in pairs], columns=["I, bits", "I ÷ its sensitivity", "R", "R ÷ its sensitivity"]).round(3)

# %% [markdown]
# In the last column the weak pairs stand out of the noise more than ten times better. Little is lost: both
# measures are 0 exactly for independent attributes, and Pinsker's inequality $R\le\sqrt{I\ln2/2}$ ties them together.
#
# ## The panel: a map of Adult
#
# First all pairs; the chosen one is taken apart in the second chart: orange cells hold more people than independence gives them, blue ones fewer. At full colour it is 5 % of all people or more. (*Show all 14* shows the pairs of every column.)
# Half the sum of the absolute values is $R$. Choose a **pair**, then the **measure** *R with noise*, and move **ε**.
#
# **What to notice**
# * One pair outshines all: education and education-num (*schooling* in the chart), nearly the same thing twice. Then the family: relationship, marital status, sex.
# * Husbands are men, with hardly an exception: choose relationship and sex. A few cells make the whole association.
# * *R with noise* publishes all 91 pairs at once. At ε = 1 the picture is the same; at 0.05 the weak pairs dissolve, and the text under *Details* says how many.

# %%
from pdsynth.course import panels

panels.information.panel()

# %% [markdown]
# ![Mutual information of all pairs of Adult](pictures/03_bayesian_networks.svg)
#
# *The panel's first position, for readers without a kernel.*
#
# ## Your turn
#
# **1 · Predict.** An attribute has counts 6, 3, 3. What is its mutual information with an exact copy of itself, in bits?

# %%
copy_information = None  # your number
# solution
copy_information = measures.entropy(np.array([6, 3, 3]))

# %%
ex.q1.check(copy_information)

# %% [markdown]
# **2 · Code.** Write `information(table)`: mutual information in bits of a table of counts. Cells may be empty.

# %%
def information(table):
    ...
# solution
def information(table):
    p = table / table.sum()
    q = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    return float((p[p > 0] * np.log2(p[p > 0] / q[p > 0])).sum())

# %%
ex.q2.check(information)

# %% [markdown]
# **3 · Find the bug.** From a public library. `score` is the mutual information that you just wrote. How much is truly spent when `epsilon` is 0.6?
#
# ```python
# def choose_parent(score, n, epsilon, rng):
#     sensitivity = np.log(n) / n + (n - 1) / n * np.log(n / (n - 1))
#     weights = np.exp(epsilon * (score - score.max()) / (2 * sensitivity))
#     return rng.choice(len(score), p=weights / weights.sum())
# ```

# %%
spent = None  # your number
# solution
spent = 0.6 / math.log(2)

# %%
ex.q3.check(spent)

# %% [markdown]
# **4 · Attack.** Fast, since it skips what isn't there. Write `anybody(noisy, x, y)`: from its output, whether at least one person has this combination. Be certain,
# not lucky.
#
# ```python
# def noisy_table(frame, x, y, epsilon, rng):
#     counts = frame.groupby([x, y], observed=True).size()
#     return counts + rng.laplace(scale=2 / epsilon, size=len(counts))
# ```

# %%
def anybody(noisy, x, y):
    ...
# solution
def anybody(noisy, x, y):
    return (x, y) in noisy.index

# %%
ex.q4.check(anybody)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.
#
# ## What the paper claims, what the ledger says
#
# Two slips are harmless. Equation (5) is printed with $P[X_d\mid\Pi_d]$ inside the product, where $i$ is meant. Definition 8 has a logarithm without a base, Definition 9
# has base 2. The threshold θ = 0.1 of lesson 06 depends on it: only bits give the groups of the author's own program.
#
# Section 2.1 says that $P_{\mathcal N}$ is near $P$ "when the degree of the Bayesian Network is small". The sums above say the opposite: every further parent adds information. A small
# degree is not *closer*, it is *affordable*, because noise is paid per cell.
#
# And the map itself? HPPrivBayes starts from all its numbers, without noise, since an order "does not directly leak the mutual information" (section 3.1). A strict run
# must buy what it uses:

# %%
import warnings

warnings.filterwarnings("ignore", message="these attributes were to have more noise")  # lesson 17 reads it
order = {}
for guarantee in ("published", "strict"):
    fitted = pds.HPPrivBayes(epsilon=1.0, k=2, sensitive="occupation", guarantee=guarantee).fit(adult.frame, schema=adult.schema)
    order[guarantee] = fitted.ledger_.to_frame().set_index("step").loc["AMI order", ["mechanism", "released", "epsilon"]]
pd.DataFrame(order).T

# %% [markdown]
# ## What is still not private
#
# * **The heat map of I or R.** It is computed from raw records; for people who are not a public teaching table, only *R with noise* may leave the house.
# * **The arrows.** A network chosen by `argmax` on raw scores is a function of the data and can flip with one record. Lesson 04 chooses by chance, with a promise.
# * **The strong link itself.** That husbands are men is no secret of any one of them. DP hides what any one record says, not what the table is about.
#
# ## Summary
#
# A network replaces one hopeless table by small ones. Its quality is its sum of mutual information, exactly. To choose it privately one measures the links by $R$, whose
# sensitivity is small.
#
# **Next:** [04, PrivBayes](04_privbayes.ipynb): network, noise and sampling put together.
