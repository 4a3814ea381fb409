# %% [markdown]
# # 09 · Risk entropy: a share read off the records
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 02 composition and the ledger, 04 PrivBayes, 06 sensitivity groups and weights |
# | **You will be able to** | compute a normalised risk entropy by hand, split a budget by it, read an illness off the size of the noise, and pay for the entropies so that nobody can |
# | **Paper** | Zhang, Shen and Yang, *HMPrivBayes*, Computer Systems & Applications 31(10), 2022, section 3.4, formulas (11) and (12) |
# | **ε spent** | 0 on people: invented tables, and Adult, a public teaching table |

# %% [markdown]
# ## An attack to start with
#
# A hundred people, each in a street of their own, out of 4,096 streets. One question is delicate: a rare illness. HMPrivBayes releases
# a noisy table of each attribute, and gives an attribute *less* budget the more it reveals. ε is 0.1, so a guess about one person may be right
# 52.5 % of the time at most.
#
# The attacker wants to know whether anybody is ill. She doesn't even open the table of the illness. She opens the table of the **streets**.

# %%
from fractions import Fraction

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.algorithms import risk_entropy_weights
from pdsynth.core.measures import entropy, normalised_risk_entropy
from pdsynth.core.noise import ExactNoise
from pdsynth.core.views import BinaryEncoding
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_09 as ex
from pdsynth.course.guess import guess

rng = np.random.default_rng(0)

# %%
def noisy_streets(ill, streets, runs, epsilon=0.1):
    """The released table of streets, many times over; the budget is split by the raw entropies."""
    counts = np.bincount(np.arange(100) % streets, minlength=streets)
    oe = {"illness": normalised_risk_entropy(np.array([100 - ill, ill]))}
    oe["street"] = normalised_risk_entropy(counts)
    share = float(risk_entropy_weights(oe)["street"])
    return counts + rng.laplace(scale=2 / (share * epsilon), size=(runs, streets))

# %%
def attack(streets=4096, runs=1000):
    """How often 'is anybody ill?' is answered rightly from the mean size of the noise."""
    size = {ill: np.abs(noisy_streets(ill, streets, runs)).mean(axis=1) for ill in (0, 1)}
    threshold = (size[0].mean() + size[1].mean()) / 2
    return (np.mean(size[0] > threshold) + np.mean(size[1] < threshold)) / 2

allowed = np.exp(0.1) / (1 + np.exp(0.1))
guess("In how many of 100 games is her answer about the illness right?", lambda: 100 * attack(), unit="of 100")

# %% [markdown]
# One ill person raises the risk entropy of `illness`, which lowers its share, which raises the share of `street`, which shrinks the noise in
# 4,096 almost empty cells. Their average tells.
#
# ## A toy that you can check by hand
#
# Eight people, three attributes. Entropy is in bits; the *normalised* risk entropy divides by the most that it could be:
# $\log_2$ of the number of declared values. So it lies between 0 (all alike) and 1 (all values equally frequent).

# %%
toy = {"blood": [2, 2, 2, 2], "diet": [4, 4, 0, 0], "alive": [8, 0]}
oe = {name: normalised_risk_entropy(np.array(counts)) for name, counts in toy.items()}
bits = {name: entropy(np.array(counts)) for name, counts in toy.items()}
most = {name: np.log2(len(counts)) for name, counts in toy.items()}
pd.DataFrame({"H, bits": bits, "log₂ values": most, "OE": oe})

# %% [markdown]
# The weights are $e^{-1}=0.368$, $e^{-1/2}=0.607$ and $e^0=1$; divided by their sum 1.975 they are the shares. A table of counts has
# sensitivity 2 (one person leaves a cell and enters another), so at ε = 1 its noise scale is 2 over its share:

# %%
share = risk_entropy_weights(oe)
pd.DataFrame({"share": share, "noise scale": {n: 2 / s for n, s in share.items()}}).astype(float).round(3)

# %% [markdown]
# `alive` tells nothing and gets half of the budget. `blood` tells most and gets the most noise. (The library rounds weights to 1/1024, so that
# shares are exact fractions and add up to 1 without a remainder.)
#
# ## The idea, in the paper's symbols
#
# $$\mathrm{OE}_j=-\frac{1}{\log|X_j|}\sum_{x}P(x)\log P(x)\quad(11)\qquad\qquad
# b_j=\frac{2}{n\varepsilon_3}\cdot\frac{\sum_{j'}\exp(-\mathrm{OE}_{j'})}{\exp(-\mathrm{OE}_j)}\quad(12)$$
#
# $|X_j|$ is the number of declared values of attribute $j$. The paper writes n for it, and n for the number of records as well. The base of the logarithm cancels.
# The sum runs over the tables that are noised.
#
# **Which way does it protect?** "The larger the normalised risk entropy, the more sensitive the attribute, the stronger the protection it needs,
# and the smaller the share of the budget" (section 3.4, our translation). Less budget is more noise: the protective direction, and
# the opposite of HPPrivBayes' value weights (lesson 06), which give the delicate values the *least* noise.
#
# **How much can it do?** OE lies in [0, 1], so no weight is more than $e = 2.72$ times another.

# %%
adult = pds.datasets.load_adult(complete=True)
codes = adult.schema.encode(adult.frame)
rows = {}
for j, a in enumerate(adult.schema.attributes):
    counts = np.bincount(codes[:, j], minlength=a.size)
    rows[a.name] = {"values": a.size, "H, bits": entropy(counts), "OE": normalised_risk_entropy(counts)}
table = pd.DataFrame(rows).T.sort_values("OE", ascending=False)
table["share"] = pd.Series(risk_entropy_weights(table["OE"].to_dict())).astype(float)
table.round(3)

# %% [markdown]
# Who stands on top? The paper's introduction motivates the method with `sex`: having "only two values" it "carries less information
# than age", so it needs less protection. The entropies agree: 0.9 bits against 3.4. Then the normalisation divides each by its own
# maximum, and `sex` becomes the *most* sensitive attribute of all. OE doesn't measure how much an attribute tells; it measures how evenly it
# is spread.
#
# ### Who writes the schema writes the budget
#
# $|X|$ counts declared values. Declare more countries than anyone comes from, and OE falls. Nobody's privacy changed; the share did:

# %%
counts = np.bincount(codes[:, adult.schema.index("native-country")], minlength=41)
padded = {f"{size} declared": np.pad(counts, (0, size - 41)) for size in (41, 64, 256)}
pd.Series({name: normalised_risk_entropy(c) for name, c in padded.items()}, name="OE").round(3).to_frame()

# %% [markdown]
# On **bits**, where HMPrivBayes works, every "attribute" has two values, $\log_2 2=1$, and OE is simply the entropy of the bit. The bits of one
# attribute can end at both ends of the scale:

# %%
encoding = BinaryEncoding(adult.schema)
bits = encoding.encode(codes)
ones = pd.Series(bits.sum(axis=0), index=encoding.schema.names)
oe_bits = {n: normalised_risk_entropy(np.array([len(codes) - c, c])) for n, c in ones.items()}
pd.Series(oe_bits, name="OE").filter(regex="^(age|sex|fnlwgt)").round(3).to_frame().T

# %% [markdown]
# ### How to pay for it
#
# Release one histogram per attribute. A replaced record changes two cells in each of the $d$ of them, so with equal shares the noise scale is $2d/\varepsilon_0$. The library gives a histogram of $m$ values a share $\propto\sqrt m$, which makes
# the sum of all noise least. Entropies, shares and scales computed from the *noisy* histograms are post-processing. (`HMPrivBayes` also takes off what is known of the noise: see `risk_entropy_`.)

# %%
people, rows = panels.teaching_table("complete"), {}
for size, records in panels.risk_entropy.samples(people).items():
    for part in (Fraction(1, 100), Fraction(1, 10)):
        state = panels.risk_entropy.run(records, Fraction(1), part, 1, "strict", ExactNoise())
        off = pd.Series(state["oe"]) - pd.Series(state["raw"])
        worst = off.abs().idxmax()
        rows[size, f"{part} of ε"] = {"largest error": abs(off[worst]), "at": worst, "mean error": off.mean()}
pd.DataFrame(rows).T.rename_axis(["records", "paid"])

# %% [markdown]
# With all records and a tenth of ε the order survives, but for neighbours that are nearly equal. The errors of small tables go both ways. Noise fills declared values that nobody has,
# so a lopsided histogram of many values, as `native-country`, looks more even than it is. Noise also takes people away, and of two values, as in `sex`, one may hardly be left.
#
# ## The shares, alive
#
# One chart says who gets which share. One says what it leads to: the noise scale of the table against its mean cell. At the dashed red line noise and signal are equal.
# One says where the shares come from: the OE of the records (grey) and the OE that sets the noise (diamonds).
#
# **What to notice**
# * At the first position the shares range over a factor of about two. Now look at the noise: the *number of cells* of a table moves it far more
#   than its share does. An upright stroke is where equal shares would put it.
# * Take a tenth, then a hundredth of the records: the diamonds run away to both sides, and the shares become a lottery.
# * Raise **s**, the share of ε for the entropies: better entropies, less left for the tables. Lower it to 0.01: the lopsided attributes lose part of the budget that they had gained.
# * Choose *raw, as published*: the diamonds sit on the bars, a red line enters the ledger, and ε is gone.
# * *Reversed* gives the budget to the evenly spread attributes. Nothing in the privacy changes: the direction is a choice, not a theorem.

# %%
from pdsynth.course import panels

panels.risk_entropy.panel()

# %% [markdown]
# ![Entropies, shares and noise of Adult's attributes at ε = 1, one tenth of it for noisy histograms](pictures/09_normalised_risk_entropy.svg)
#
# *The panel's first position, for readers without a kernel.*

# %% [markdown]
# ## Your turn
#
# **1 · Predict.** Sixteen people, an attribute with *eight* declared values, counts (8, 4, 2, 2, 0, 0, 0, 0). Its OE? A fraction, please.

# %%
oe_eight = None  # your number
# solution
oe_eight = Fraction(7, 4) / 3

# %%
ex.q1.check(oe_eight)

# %% [markdown]
# **2 · Code.** Write `shares(oe)`: from a list of entropies the list of shares of formula (12).

# %%
def shares(oe):
    ...
# solution
def shares(oe):
    w = np.exp(-np.array(oe))
    return w / w.sum()

# %%
ex.q2.check(shares)

# %% [markdown]
# **3 · Repair.** A colleague implements formula (11) from the paper. Her shares come out nearly equal, whatever the table. Write `risk_entropy(column, declared)`, where
# `declared` is how many values the schema declares, so that it is right.

# %%
def her_entropy(column):
    p = column.value_counts(normalize=True)
    p = p[p > 0]
    return -(p * np.log2(p)).sum() / np.log2(len(column))

# %%
def risk_entropy(column, declared):
    ...
# solution
def risk_entropy(column, declared):
    p = column.value_counts(normalize=True)
    p = p[p > 0]
    return -(p * np.log2(p)).sum() / np.log2(declared)

# %%
ex.q3.check(risk_entropy)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.

# %% [markdown]
# ## What the paper claims, what the ledger says
#
# Section 3.4 ends: "By Definition 3 and Property 1, Algorithm 5 satisfies $\varepsilon_3$-differential privacy" (our translation). Given the scales, that
# is right: they cost $\sum_j \varepsilon_3\,e^{-\mathrm{OE}_j}/\sum_j e^{-\mathrm{OE}_j}=\varepsilon_3$. But the scales come from the records:

# %%
for guarantee in ("published", "strict"):
    state = panels.risk_entropy.run(people.records, Fraction(1), Fraction(1, 10), 1, guarantee, ExactNoise())
    ledger = state["ledger"]
    print(f"{guarantee}: {ledger.verdict()}")
    print(*(f"    {e.step}, {e.source}: {e.why}" for e in ledger.unaccounted), sep="\n")

# %% [markdown]
# How bad is it? That depends on how much noise there is to measure. With four streets instead of 4,096 the opening attack has nothing to average over:

# %%
print(f"four streets: right {attack(streets=4, runs=20_000):.1%} of the time; allowed {allowed:.1%}")

# %% [markdown]
# An audit of this table would find nothing, and still no finite ε holds. **An audit finds what it looks at; a ledger finds what was
# read.** Lesson 16 takes this up.
#
# ## What is still not private
#
# * OE says how evenly values are spread, not how delicate they are. A rare illness has a *small* OE and gets a *large* share, little noise.
# * Less budget for an attribute's table is no smaller ε for its owner: the attribute also stands in the tables of its children, as a parent.
# * Declared values are public knowledge by assumption. A schema cut to the values that occur would leak, and change every share.
#
# ## Summary
#
# $\mathrm{OE}_j=H(X_j)/\log|X_j|$ lies in [0, 1]. Tables get shares $\propto e^{-\mathrm{OE}_j}$, at most a factor $e$ apart. More evenly spread means more noise.
# Raw entropies make noise scales depend on the records, which can be read off wherever there are many cells. One noisy histogram an
# attribute repairs it; on a table of this size a tenth of ε keeps nearly the order of the attributes.
#
# **Next:** [10, HMPrivBayes](10_hmprivbayes.ipynb) as a whole: clusters, networks, and these shares.
