# %% [markdown]
# # 08 · Private clustering: columns are not records
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 02 composition and the ledger, 03 Bayesian networks and mutual information |
# | **You will be able to** | find the grid behind a maximal information coefficient, cluster attributes privately, see a sign error tear relatives apart, and say why disjoint columns are not disjoint records |
# | **Paper** | Zhang, Shen and Yang, *HMPrivBayes*, Computer Systems & Applications 31(10), 2022, sections 2.2 and 3.2 (formula (5), Algorithms 1 and 3) |
# | **ε spent** | 0 on people: invented tables, and Adult, a public teaching table |

# %% [markdown]
# ## A question to start with
#
# A table with hundreds of columns is too much for one network. HMPrivBayes first cuts it into a few narrow tables. Attributes that belong together stay together. Each group gets its own network, and the synthetic
# pieces are pasted side by side. Everything between the groups is lost, so
# they had better be the right ones.
#
# Four attributes: two pairs of twins (similarity 1), strangers otherwise (0). Into which two groups does the paper's formula cut them?

# %%
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.algorithms.hmprivbayes import affinity, spectral_clusters
from pdsynth.core import measures
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_08 as ex
from pdsynth.course.guess import guess
from pdsynth.course.mic import (
    maximal_grid,
    maximal_information_coefficient,
    maximal_information_sensitivity,
)

twins = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])

# %%
def cut():
    both = {"a reader would say": spectral_clusters(twins, 2), "the paper's formula": spectral_clusters(twins, 2, reading="printed")}
    torn = all({0, 1} != {*cluster} != {2, 3} for cluster in both["the paper's formula"])
    return "every pair is torn apart" if torn else "twins stay together", pd.Series(both, name="clusters").astype(str).to_frame()

guess("Attributes 0 and 1 are twins, 2 and 3 as well. What does the printed formula do?", cut,
      options=["twins stay together", "every pair is torn apart", "one group gets all four"])

# %% [markdown]
# We come back to this cut. First: where do similarities come from?
#
# ## A toy that you can check by hand
#
# Sixty-four people; $X_1$ is 0, 1 or 2 (16, 32, 16 people) and $X_2=1$ exactly when $X_1\neq1$. A straight line explains nothing: the correlation is 0. Yet $X_1$
# tells $X_2$ completely. The **maximal information coefficient** lays grids over the table. A grid joins neighbouring values into $g$ columns and $h$ rows, and
# scores $I/\log_2\min(g,h)$. MIC is the best score.

# %%
bent = np.array([[0, 16], [32, 0], [0, 16]])  # rows: X₁ = 0, 1, 2; columns: X₂ = 0, 1
for cuts in ((1,), (2,), (1, 2)):
    grid = np.add.reduceat(bent, (0, *cuts), axis=0)
    score = measures.mutual_information(grid) / np.log2(min(grid.shape))
    print(f"{len(grid)} × 2, cut before {cuts}: {score:.4f}")
maximal_grid(bent)

# %% [markdown]
# Check the first: {0} against {1, 2}. $H(X_2)=1$. Given 0, $X_2$ is certain; given {1, 2} (48 people) it is 32 to 16, so 0.9183 bits are left in three quarters of the
# cases: $1-0.6887=0.3113$. The full grid scores $1/\log_2 2=1$.
#
# Why divide by $\log_2\min(g,h)$? Because $I$ can't be larger than that. So MIC lies in [0, 1], and a pair of attributes with sixteen values can be compared
# with a pair that has two.
#
# ## The idea, in the paper's symbols
#
# $$\mathrm{MIC}(X_1,X_2)=\max_{g\times h<n^{0.6}}\frac{I(X_1,X_2)}{\log_2\min(g,h)}\quad(5)$$
#
# The bound keeps grids from being finer than the data (the paper: or $n^{0.55}$). The usual programs search *heuristically* and let the records propose the
# cuts; the library tries every grid of the declared domain. That matters for privacy: a fixed, public family of grids has a provable
# sensitivity (the largest over its grids), a search that the records steer has none.

# %%
adult = pds.datasets.load_adult(coding="thesis")
people = panels.teaching_table("thesis", seed=8)  # Adult with its counts kept warm
pairs = [("education", "education-num"), ("relationship", "sex")]
pairs += [("age", "marital-status"), ("sex", "native-country")]

def strongest():
    rows = {}
    for x, y in pairs:
        pair = adult.schema.index(x), adult.schema.index(y)
        table, grid = people.records.table(pair), panels.clustering.grid(people, pair)
        found = {"I, bits": round(measures.mutual_information(table), 4), "MIC": round(grid.value, 4),
                 "grid": f"{len(grid.row_cuts) + 1} × {len(grid.column_cuts) + 1}"}
        rows[f"{x} × {y}"] = found | {f"{m} ÷ Δ{m}": round(v) for m, v in panels.clustering.strengths(people, pair).items()}
    all_pairs = pd.DataFrame(rows).T
    means = all_pairs.filter(like="÷").astype(float).mean()
    return means.idxmax().split()[0], all_pairs

guess("Divide each measure by the most that one record can change it. Which one is strongest then?", strongest,
      options=["I", "MIC", "R"])

# %% [markdown]
# ### What noise is measured against
#
# Three lessons. $I$ ranges over bits, MIC over [0, 1]. **On two-valued attributes MIC is just $I$ in bits**: one grid, normaliser 1. HMPrivBayes turns every
# attribute into bits, so in its own experiments all of this machinery stands still. And the last columns have each measure in units of the most that one record can change it. There $R$, the distance from independence (lesson 03), is
# many times stronger. That is what noise is measured against.

# %% [markdown] more
# ### More: MIC depends on the order of values
#
# A grid joins *neighbouring* codes, so MIC depends on the order in which the schema lists the values; mutual information doesn't:

# %%
pair = adult.schema.index("age"), adult.schema.index("marital-status")
table = people.records.table(pair)
shuffled = table[[3, 0, 4, 1, 2]]  # the same ages in another order
for name, t in {"age in order": table, "age shuffled": shuffled}.items():
    mic = maximal_information_coefficient(t)
    print(f"{name}: I = {measures.mutual_information(t):.3f}, MIC = {mic:.3f}")

# %% [markdown]
# ### From similarities to clusters
#
# Spectral clustering sees attributes as towns and affinities as roads. It looks for a cut that destroys little road. (Algorithm 1: degree matrix,
# normalised Laplacian, some of its smallest eigenvectors, here as many as clusters are wanted, then k-means++ on their rows.) Algorithm 1 takes *distances* and
# makes affinities of them, $w=\exp(-\text{distance}/2\gamma^2)$ with a width γ. Algorithm 3 (DPSC) hands it MIC: a *similarity*. So twins get the smallest affinity of all:

# %%
for reading in ("similarity", "printed"):
    w = affinity(twins, reading=reading)
    print(f"{reading:>10}: twins {w[0, 1]:.3f}, strangers {w[0, 2]:.3f}")

# %% [markdown]
# What does that do to Adult? We measure which share of all pairwise mutual information stays inside three clusters, without any noise, and for
# random clusters of the same sizes:

# %%
def kept(clusters):
    return panels.clustering.kept_information(people.information, clusters)

r = panels.clustering.similarities(people, "none", Fraction(1))[0]
right, wrong = (spectral_clusters(r, 3, reading=reading) for reading in ("similarity", "printed"))
rng, sizes = np.random.default_rng(0), np.cumsum([len(c) for c in right])[:-1]
lots = [kept([tuple(c) for c in np.split(rng.permutation(14), sizes)]) for _ in range(200)]
found = {"similarity": kept(right), "as printed": kept(wrong), "by lot, mean": np.mean(lots)}
pd.Series(found, name="information kept").round(3).to_frame()

# %% [markdown]
# As printed it is worse than drawing lots. The library clips the similarities to [0, 1] and empties the diagonal. It keeps the printed form for you to look at.
#
# ### η, the filter
#
# Inside a cluster, formula (9) forbids a parent whose similarity is at most η times the strongest of either side. It acts on the *noisy*
# matrix, so it costs nothing: post-processing.
#
# ## Grids and clusters, alive
#
# The table of two attributes (brighter is more records) stands under the grid that attains its MIC, and three measures of it beside what one record can do. The similarities are
# sorted by cluster; a cross marks a pair that η forbids.
#
# **What to notice**
# * `age` × `marital-status`: the best grid cuts age once, at thirty. Choose `sex` × `native-country`: one grid only, MIC = I.
# * Switch the reading to *as printed*: the strong pairs, here the dark ones, leave their frames, and the information kept falls from nearly 80 % to about 20 %.
# * Lower ε₁ to 0.05: with R the clusters hardly move, since there are only 91 pairs and $R$ is sturdy.
# * Choose *published*: 38 bits, and the frames fill with torn attributes. Read the text under *Details*: the bits of one attribute are scattered over clusters, and will be
#   sampled as if they had nothing to do with each other. Read its last words, too.
# * Raise η: crosses spread. At 0.9 a cluster is left with its strongest ties.

# %%
from pdsynth.course import panels

panels.clustering.panel()

# %% [markdown]
# ![The grid of age and marital status, and three private clusters of Adult's attributes](pictures/08_mic_and_private_clustering.svg)
#
# *The panel's first position, for readers without a kernel.*

# %% [markdown]
# ## Your turn
#
# **1 · Predict.** Four hundred people, a 4 × 4 table with 100 people in each cell of the diagonal; $400^{0.6}$, about 36.4, allows all grids. The MIC?

# %%
mic = None  # your number
# solution
mic = 2 / np.log2(4)

# %%
ex.q1.check(mic)

# %% [markdown]
# **2 · Code.** Write `affinity(s)`: from a noisy similarity matrix the weights for spectral clustering, with the sign put right. A weight lies between 0 and 1 and grows with the similarity.
# Noise pushes similarities out of [0, 1]: below 0 counts as 0, above 1 as 1. The diagonal is 0, for nobody is tied to itself. Leave `s` as it is.

# %%
def affinity(s):
    ...
# solution
def affinity(s):
    w = np.clip(s, 0, 1)
    np.fill_diagonal(w, 0)
    return w

# %%
ex.q2.check(affinity)

# %% [markdown]
# **3 · Find the bug.** This is DPSC's line 1, in the words of its proof, for $d=52$ bits. `delta` is right, one comment isn't true. What does
# the matrix truly cost, as a multiple of `epsilon`?

# %%
def noisy_similarities(mic, delta, epsilon, rng):
    d = len(mic)
    rounds = d - 1  # each round takes d/2 pairs of columns; they are disjoint, so a round is paid once
    scale = delta * rounds / epsilon
    noisy = mic + rng.laplace(scale=scale, size=(d, d))
    noisy = np.triu(noisy, 1)
    return np.clip(noisy + noisy.T, 0, 1)

# %%
cost = None  # your number
# solution
cost = 52 // 2

# %%
ex.q3.check(cost)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.

# %% [markdown]
# ## What the paper claims, what the ledger says
#
# > "Each access to the data set $D$ can compute the MIC of $\lfloor d/2\rfloor$ pairs of attributes" (section 3.2, our translation), so $D$ is accessed
# > $d(d-1)/(2\lfloor d/2\rfloor)$ times, and "Algorithm 3 satisfies $\varepsilon_1$-differential privacy".
#
# Parallel composition (lesson 02) needs disjoint *records*. Here is the worst case, without any statistics. In world A all bits of all people are 0. In
# world B one person answers 1 to everything:

# %%
def similarities(n, d, person):
    bits = np.zeros((n, d), dtype=int)
    bits[0] = person
    pairs = (2 * bits[:, i] + bits[:, j] for i, j in combinations(range(d), 2))
    tables = (np.bincount(pair, minlength=4).reshape(2, 2) for pair in pairs)
    return np.array([maximal_information_coefficient(t) for t in tables])

delta = maximal_information_sensitivity(1000, 2, 2)
print(f"ΔMIC = {delta:.6f}")
print("world A:", similarities(1000, 4, 0).round(6), "\nworld B:", similarities(1000, 4, 1).round(6))

# %% [markdown]
# All $J=d(d-1)/2$ numbers jump at once, each by the full sensitivity Δ. Take the event *every noisy number is at least Δ*. In world B each is a coin toss: $2^{-J}$. In world A
# each needs noise above Δ: $(\tfrac12e^{-\Delta/b})^J$. The ratio is $e^{J\Delta/b}=e^{\lfloor d/2\rfloor\varepsilon_1}$, exactly. For $d=4$ and $\varepsilon_1=1$ we can watch it:

# %%
rng = np.random.default_rng(1)
b = 4 * 3 / (1 * 2 * (4 // 2))  # scale in units of Δ
event = [np.mean((jump + rng.laplace(scale=b, size=(400_000, 6)) >= 1).all(axis=1)) for jump in (0, 1)]
print(f"ln ratio {np.log(event[1] / event[0]):.2f}, claimed 1, proved 2")

# %% [markdown]
# **What an audit cannot see.** For $d=52$ the same event has probability $2^{-1326}$. No one will ever sample it. The *privacy loss* is the log ratio of what was seen;
# here is the largest in 20,000 runs beside the worst that is possible:

# %%
def largest_loss(d, epsilon1=1.0, runs=20_000, step=64):
    m, b = d * (d - 1) // 2, d * (d - 1) / (epsilon1 * 2 * (d // 2))
    loss = np.zeros(runs)
    for start in range(0, m, step):  # in blocks, to save memory
        z = rng.laplace(scale=b, size=(runs, min(step, m - start)))
        loss += ((np.abs(z + 1) - np.abs(z)) / b).sum(axis=1)
    return loss.max()

rows = {d: {"claimed": 1, "seen": largest_loss(d), "proved": d // 2} for d in (4, 6, 10, 52)}
pd.DataFrame(rows).T.rename_axis("d").round(2)

# %% [markdown]
# At 4 bits sampling finds the worst case. At 52 it sees a loss of about three where 26 is possible: a thousand small losses that rarely all point the same
# way. An audit, which must also be statistically sure, gets less: 0.9 to 1.6 with as many runs. "The audit found no more than that" is true, and is not a proof. The ledger needs
# no luck, it multiplies:

# %%
for guarantee in ("published", "strict"):
    ledger = panels.clustering.similarities(people, guarantee, Fraction(2, 5))[2]
    print(f"{guarantee}: {ledger.verdict()}")

# %% [markdown]
# Thirty-eight bits, nineteen times the claim. The strict sketch takes the original attributes and $R$: 91 integers $K$, paid in full.
#
# ## What is still not private
#
# * The clusters tell which attributes go together in the crowd. That is meant to be learnt.
# * With $d$ attributes the sketch has $d(d-1)/2$ numbers, and its noise grows with them. For 57 attributes and ε₁ below 1 it drowns the similarities (lesson 10
#   has the warning). Public groups, known from the questionnaire, cost nothing.
# * Bits of one attribute must travel together. The library clusters attributes; the printed algorithm clusters bits.
#
# ## Summary
#
# MIC is $I/\log_2\min(g,h)$ on the best grid; on bits it is $I$. Fed with similarities, the printed affinity separates relatives. DPSC pays for disjoint
# columns as if they were disjoint records: $\lfloor d/2\rfloor\,\varepsilon_1$, attained by one person who answers 1 to everything. Sampling sees little of it.
#
# **Next:** [09, risk entropy](09_normalised_risk_entropy.ipynb): how HMPrivBayes shares its noise among the tables.
