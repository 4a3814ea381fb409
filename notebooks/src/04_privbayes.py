# %% [markdown]
# # 04 · PrivBayes, the full algorithm
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 01 mechanisms, 02 composition and the ledger, 03 Bayesian networks |
# | **You will be able to** | run PrivBayes by hand on a small table, say where each part of ε goes, choose k without looking at the data, and catch a misprint that costs half as much privacy again |
# | **Paper** | Zhang et al., *PrivBayes*, SIGMOD 2014 and TODS 2017, as C. Deng's thesis (2025) reprints it in section 2.2, Algorithms 1 and 2 |
# | **ε spent** | 0 on people: Adult is a public teaching table. Each fit below *would* cost what its ledger says |

# %% [markdown]
# ## A question to start with
#
# The thesis reprints PrivBayes on two pages. Its Algorithm 2, line 4, adds Laplace noise of scale $\frac{2(d-k)}{n\varepsilon}$. Run it, and
# the synthetic table is a little *better* than it should be. Nothing crashes, no test of quality fails.
#
# What is wrong? By the end of this page you can answer from the ledger alone, without looking at a single record.

# %%
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.answers.laws import exponential_probabilities
from pdsynth.core import measures
from pdsynth.core.model import conditional
from pdsynth.core.structure import MaxCells, useful_degree
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_04 as ex
from pdsynth.course.guess import guess

adult = pds.datasets.load_adult(coding="thesis")

# %% [markdown]
# ## A toy that you can check by hand
#
# Eight people, three questions: are you over forty, are you well paid, do you own your home? The root is drawn by lot, say `over40`.
# It costs nothing, because no record was asked. With $k=1$ two pairs may follow: `paid` ← `over40`, or `home` ← `over40`.

# %%
paid = np.array([[4, 0], [0, 4]])  # rows: paid no/yes, columns: over40 no/yes
home = np.array([[3, 1], [1, 3]])  # rows: home no/yes
scores = [measures.mutual_information(t) for t in (paid, home)]
sensitivity = measures.mutual_information_sensitivity(8, 2, 2)
names = ["I(paid, over40)", "I(home, over40)", "sensitivity of I"]
pd.Series([*scores, sensitivity], index=names, name="bits").round(3).to_frame()

# %% [markdown]
# The first is 1 bit: knowing one tells the other. The second is $1-H(\tfrac14)$. One record among eight can move such a score by half
# a bit, so the exponential mechanism can't be sure. With ε = 1 for this choice, $\Pr\propto e^{\varepsilon I/2\Delta I}$:

# %%
def drawn():
    chances = 100 * exponential_probabilities(np.array(scores), sensitivity, epsilon=1.0)
    return chances[0], pd.Series(chances, index=["paid", "home"], name="of 100 draws").round(1).to_frame()

guess("In how many of 100 draws is paid chosen, the pair that tells everything?", drawn, unit="of 100")

# %% [markdown]
# Suppose `paid` was drawn. Now the noise: the table (`paid`, `over40`) is measured *once*, say with the result below. Negative counts
# become 0 (line 5). From this one table we get two distributions: $P^*(\text{paid}\mid\text{over40})$ by column (line 6), and
# $P^*(\text{over40})$ by adding up the columns (lines 8–10). The second is free, since it looks at the noisy table only.

# %%
noisy = np.array([[5, -1], [2, 4]])
clipped = np.maximum(noisy, 0)
print("P*(over40)       ", (clipped.sum(axis=0) / clipped.sum()).round(3))
print("P*(paid | over40)\n", conditional(noisy).round(3))

# %% [markdown]
# Check it: the columns add up to 7 and 4, so 7/11 and 4/11; the first column gives 5/7 and 2/7, the second 0 and 1.
#
# ## The idea, in the paper's symbols
#
# **Structure, Algorithm 1, $\varepsilon_1=\beta\varepsilon$.** Draw $X_1$ (line 2). For $i=2\dots d$ collect all pairs $(X,\Pi)$ with
# $X\notin V$, $\Pi\subseteq V$ (line 5), where $V$ is what is placed already. Draw one with probability $\propto e^{\varepsilon_1 I/(2(d-1)\Delta I)}$ (line 6).
# That is $d-1$ selections of $\varepsilon_1/(d-1)$ each, in sequence.
#
# **Tables, Algorithm 2, $\varepsilon_2=\varepsilon-\varepsilon_1$.** For $i=k+1\dots d$ add Laplace noise to the joint table of $X_i$ and $\Pi_i$
# (lines 2–4). In *counts*, one replaced record moves two cells by one: sensitivity 2. There are $d-k$ tables, so each gets
# $\varepsilon_2/(d-k)$ and the scale is $2(d-k)/\varepsilon_2$ records. The first $k$ conditionals come from table $k+1$ for free (lines 8–10).
#
# **Sampling** in the order of the network is post-processing.

# %%
synth = pds.PrivBayes(epsilon=1.0, k=2, random_state=4)
synth.fit(adult.frame, schema=adult.schema)
synth.network_

# %%
def count_lines():
    ledger = synth.ledger_.to_frame()
    table = ledger.groupby("mechanism", sort=False)["epsilon"].agg(["count", "sum"])
    return table.loc["discrete_laplace", "count"], table

guess("Fourteen attributes, k = 2: how many noisy tables does the ledger hold?", count_lines, unit="tables")

# %% [markdown]
# Selections and tables cost exactly ε together. What is missing are the derived tables.
#
# ### Why exactly min(k, i−1) parents
#
# The thesis prints "each $|\Pi|\le k$" (Algorithm 1, line 5). Zhang et al. take *exactly* $\min(k,i-1)$ parents. It is not a detail: only then
# is $\Pi_{k+1}=\{X_1,\dots,X_k\}$, so that table $k+1$ contains everything the first $k$ need.

# %%
(first, _), (second, _), (third, parents) = synth.network_.pairs[:3]
root, _, measured = synth.model_.tables[:3]
other = 2 - parents.index(first)  # axis 0 is the child, 1 and 2 are its parents
added_up = np.maximum(measured, 0).sum(axis=(0, other))
print(f"{third} has the parents {parents};")
print(f"the table of {first} is derived from it: {np.array_equal(root, added_up)}")

# |Π| ≤ 2 also allows this network:
loose = pds.Network((("over40", ()), ("paid", ("over40",)), ("home", ("over40",))))
needed, axes = {"over40", "paid"}, {"home", *loose.parents("home")}
print("table 3 of the loose network lacks", needed - axes)

# %% [markdown]
# In the loose network nothing noisy knows `paid`. Whoever needs its distribution then must measure one more table, and pay, or read it
# raw. (Adding a parent never lowers mutual information either, so the smaller sets had nothing to offer.)
#
# ### Choosing k without looking
#
# More parents capture more, but spread the records over more cells. A table is **useful** when its mean cell is at least $\theta_u$ times the
# noise scale (TODS writes θ, which here is kept for lesson 06). For two-valued attributes the table has $2^{k+1}$ cells, so the condition is
# $\frac{n\,\varepsilon_2}{(d-k)\,2^{k+2}} \ge \theta_u$, and `k="auto"` takes the largest such $k$. For general domains each child takes
# parent sets with $|X|\cdot|\Pi| \le \tau = \frac{n\,\varepsilon_2}{2d\,\theta_u}$ into which no further attribute fits. All $d$ tables are paid for.
# Everything in these formulas is public, so $k$ costs nothing.

# %%
n, d = len(adult.frame), len(adult.schema)
theta, rows = Fraction(4), {}
for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(4)):
    epsilon2 = epsilon * Fraction(7, 10)
    k = useful_degree(n, d, float(epsilon2), float(theta))
    tau = MaxCells.of(n, d, epsilon2, theta).cells
    rows[float(epsilon)] = {"k, if all were two-valued": k, "τ, cells of a table": int(tau)}
pd.DataFrame(rows).T.rename_axis("ε")

# %% [markdown]
# Useful isn't the same as best. One run each at ε = 1 (look at the large gaps, not at the last digit):

# %%
def distance(k, guarantee="strict"):
    run = pds.PrivBayes(epsilon=1.0, k=k, guarantee=guarantee, random_state=4)
    fake = run.fit(adult.frame, schema=adult.schema).sample()
    return pds.evaluate.marginal_distance(adult.frame, fake, adult.schema, alpha=2)

choices = (0, 1, 2, 3, "auto")

def nearest():
    rows = {str(k): {"private": distance(k), "no noise": distance(k, "none")} for k in choices}
    table = pd.DataFrame(rows).T.rename_axis("k").round(3)
    return table["private"].idxmin(), table

guess("Which k comes nearest to the real table at ε = 1?", nearest, options=[str(k) for k in choices])

# %% [markdown]
# Read the second column: without noise each parent helps. Then the first: with noise a parent must bring more than it costs. What *auto* chooses is
# useful by its rule, and needn't be the best. (k = 0 is no network at all: the attributes are independent.)
#
# ## PrivBayes, alive
#
# **What to notice**
# * Step k from 0 to 4: the captured information grows, the noise climbs over the dashed red line, and the sorted distances
#   first fall, then explode. *This run* (blue) and *without noise* (green) are the same network rule.
# * Open circles are derived: there are k of them, always first. Under *auto* there are none.
# * At k = 3, lower ε: which tables drown first? Those with the large domains, not those with the delicate topics.
# * Switch the reading to *thesis reprint*: noise and distances improve, and the text under *Details* says why.

# %%
from pdsynth.course import panels

panels.privbayes.panel()

# %% [markdown]
# ![The panel at ε = 1, k = auto, strict](pictures/04_privbayes.svg)
#
# *The panel's first position, for readers without a kernel.*

# %% [markdown]
# ## Your turn
#
# **1 · Predict.** $d=14$, $k=2$, ε = 1, β = 0.3. How large is the noise scale of each table, in records?

# %%
scale = None  # your number
# solution
scale = Fraction(2 * (14 - 2)) / (1 - Fraction(3, 10))

# %%
ex.q1.check(scale)

# %% [markdown]
# **2 · Code.** Write `pairs(i, d, k)`: how many attribute–parent pairs are in Ω when the $i$-th attribute is chosen ($i\ge2$), with
# exactly $\min(k,i-1)$ parents. `comb(m, s)` counts the sets of s among m.

# %%
def pairs(i, d, k):
    ...
# solution
def pairs(i, d, k):
    return (d - i + 1) * comb(i - 1, min(k, i - 1))

# %%
ex.q2.check(pairs)

# %% [markdown]
# **3 · Find the bug.** This function gets the $d$ tables of counts of a network. It is meant to cost $\varepsilon_2$. How much does it cost
# for $d=14$ and $k=4$, as a multiple of $\varepsilon_2$?

# %%
def noisy_joints(tables, k, epsilon2, rng):
    d = len(tables)
    scale = 2 * (d - k) / epsilon2
    return [t + rng.laplace(scale=scale, size=t.shape) for t in tables]

# %%
multiple = None  # for example Fraction(1)
# solution
multiple = Fraction(14, 14 - 4)

# %%
ex.q3.check(multiple)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.

# %% [markdown]
# ## What the thesis prints, what the ledger says
#
# > "Use an $\varepsilon/2$-differential private algorithm to generate a set of conditional distributions of D"
# > (section 2.2, step 2), by "adding Laplacian noise satisfying $\mathrm{Lap}(\frac{2(d-k)}{n\varepsilon})$" (Algorithm 2, line 4).
#
# A step with ε/2 for $d-k$ tables needs the scale $4(d-k)/(n\varepsilon)$. The print has half of it. `reading="thesis"` runs the print:

# %%
for reading in ("tods", "thesis"):
    run = synth.clone().set_params(guarantee="published", reading=reading)
    run.fit(adult.frame, schema=adult.schema)
    print(f"{reading:>6}: {run.ledger_.verdict()}")

# %% [markdown]
# So that is the answer to the opening question: the structure costs ε/2, the tables cost ε, together **1.5 ε**. The ledger needs no record
# to see it: every entry's true cost is its sensitivity divided by its scale. PrivBayes itself is sound, and so is its reading in the
# journal version; we found a misprint, not a broken idea.
#
# The strict reading changes two things. Tables of at most 32 cells get *zero-sum* noise (`zero_sum_laplace` in the ledger), whose numbers add up to 0.
# A replaced record doesn't move the sum either, which is the public n, so the same ε buys smaller errors. The other change is the score. Mutual information is hard to choose by, because one record can move it by about
# $\frac{2}{n}\log_2 n$. The distance from independence $R$ moves by at most $\frac{3}{n}$. In units of its own sensitivity, a good score is large:

# %%
pair = ["relationship", "marital-status"]
table = pd.crosstab(*(adult.frame[name] for name in pair)).to_numpy()
i, r = measures.mutual_information(table), measures.tvd_from_independence(table)
s_i = measures.mutual_information_sensitivity(n, *table.shape)
s_r = measures.tvd_sensitivity(n, *table.shape)
units = pd.Series({"I / ΔI": i / s_i, "R / ΔR": float(r / s_r)})
units.round().to_frame(" × ".join(pair))

# %% [markdown]
# ## What is still not private
#
# * ε protects *one record*. That married people live with a spouse is a fact about many, and the network publishes it on purpose.
# * The schema is public by assumption. Bins cut where the data have gaps would leak, and no ledger entry could show it.
# * The thesis' public MATLAB code takes the first $k$ that *violates* usefulness, and noises $d$ tables with the scale for $d-k$ (your
#   third exercise). An algorithm on paper and the program that made the figures are two things.
# * This page fixes `random_state`, so that you see what the text describes. Its verdict says what follows: NOT PRIVATE: reproducible. Never release such a run.
#
# ## Summary
#
# PrivBayes = a random root, $d-1$ exponential mechanisms, $d-k$ noisy tables, sampling. $k$ comes from public numbers. Exactly
# $\min(k,i-1)$ parents make the first $k$ tables free. The sum of the ledger's true costs tells a sound print from a misprint.
#
# **Next:** [14, custom networks](14_custom_networks_and_disclosure.ipynb) on the core path; or the first case file, [05, the AMI order](05_ami_ordering.ipynb). The thesis says that the random root spoils the network. Does it?
