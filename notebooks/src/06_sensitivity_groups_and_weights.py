# %% [markdown]
# # 06 · Groups and weights: the size of the noise tells
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 02 composition and the ledger, 04 PrivBayes, 05 AMI ordering |
# | **You will be able to** | split attributes by θ and r, compute sensitivity weights by hand, find the true cost of a table with a scale for each value, and show how raw groups and raw weights give a person away |
# | **Paper** | C. Deng, thesis, 2025, section 3.1 (Definition 11) and 3.2 (Algorithms 4, 5 and 6) |
# | **ε spent** | 0 on people: invented tables, and Adult, a public teaching table |

# %% [markdown]
# ## An attack to start with
#
# A thousand people, one question with a rare answer. Did one person say "yes", or two? HPPrivBayes publishes a noisy table of this question and its parents (256 combinations). It pays very little ε for it, so a guess should be close to
# tossing a coin.
#
# The attacker doesn't look for the "yes". She asks only: *how large is the noise in the "no" row, compared with the "yes" row?* For now,
# take the noise formula on trust; it is Algorithm 6, line 6, for seven tables that share $\varepsilon_3=0.525$.

# %%
from fractions import Fraction

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.algorithms import value_weights
from pdsynth.core.measures import mutual_information
from pdsynth.core.unit import histogram_cost, tight_scales
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_06 as ex
from pdsynth.course.guess import guess
from pdsynth.published.budgets import printed_group_a, printed_scales, sensitivity_weights

rng, in_b, epsilon3 = np.random.default_rng(0), 7, Fraction(525, 1000)
scales = {}
for yes in (1, 2):
    weights = sensitivity_weights(np.array([1000 - yes, yes]))
    scales[yes] = np.array(printed_scales(weights, in_b, epsilon3), dtype=float)
pd.DataFrame(scales, index=["no", "yes"]).rename_axis(columns="said yes:").round(1)

# %% [markdown]
# (Those are noise scales in records, on a table of a thousand people. More about that below.)

# %%
def published_ratio(yes, cells=256, runs=2000):
    """Log ratio of the two rows of what Algorithm 6 publishes."""
    counts = np.zeros((2, cells))
    counts[0], counts[1, 0] = rng.multinomial(1000 - yes, np.full(cells, 1 / cells)), yes
    noisy = counts + rng.laplace(size=(runs, 2, cells)) * scales[yes][:, None]
    joint = np.maximum(noisy, 0)
    joint /= joint.sum(axis=(1, 2), keepdims=True)
    return np.log(joint[:, 0].sum(axis=1) / joint[:, 1].sum(axis=1))

def attack():
    one, two = published_ratio(1), published_ratio(2)
    threshold, paid = (one.mean() + two.mean()) / 2, float(epsilon3 / in_b)
    right = 50 * (np.mean(one > threshold) + np.mean(two < threshold))
    allowed = 100 * np.exp(paid) / (1 + np.exp(paid))
    return right, pd.Series({"paid: ε": paid, "right, allowed": allowed, "right, found": right}).round(3).to_frame("").T

guess("How often is she right, in 100 games?", attack, unit="of 100")

# %% [markdown]
# One person more halves the noise. Noise whose *size* depends on the records is itself a release, and nobody paid for it.
#
# ## A toy that you can check by hand
#
# Four people answer a, two answer b, two answer c. Definition 11: the surprise $\mathrm{SD}_x=-\log_2 P(x)$ is 1, 2 and 2 bits, and
# $w_x = \mathrm{SD}_x/\sum \mathrm{SD}$ is 1/5, 2/5, 2/5. Let this be the only table of group B, paid with ε₃ = 1.

# %%
w = sensitivity_weights(np.array([4, 2, 2]))
printed = printed_scales(w, 1, Fraction(1))
print("w =", w, " printed scales 2|B|/(w ε₃) =", [str(s) for s in printed])

# %% [markdown]
# Write $|B|$ for the number of tables in group B (the thesis writes l). The thesis adds up: each value "consumes" $w_x\varepsilon_3/|B|$,
# together $\varepsilon_3/|B|$, here 1. But a person sits in *one* cell. Replacing her record lowers one cell by 1 and raises one other by 1.

# %%
tight = tight_scales([Fraction(1, 2), Fraction(1), Fraction(1)], Fraction(1), columns=3)

def cost():
    both = {"printed": printed, "v = w / max w": tight}
    rows = {name: [*scale, histogram_cost(scale, columns=3)] for name, scale in both.items()}
    table = pd.DataFrame(rows, index=["scale of a", "scale of b", "scale of c", "true ε"]).astype(str)
    return float(histogram_cost(printed, columns=3)), table

guess("Each cell costs 1 ÷ its scale, and both cells may lie in the same row. What does the printed noise truly cost?", cost, unit="= ε")

# %% [markdown]
# Only two cells pay, $1/b_x + 1/b_{x'}$. With parents both can lie in the same row, and the worst is the row with the smallest scale:
# $2/\min b = \max_x w_x\cdot\varepsilon_3/|B|$. Budgets of values don't add; only the largest counts. (Group $A$ has no such weights: one scale for all its cells.)
#
# So, *if* the weights were public, the thesis would add $1/\max w$ times too much noise: here two and a half times.
# The repair is one division: $v_x = w_x/\max w$ and $b_x = 2|B|/(v_x\varepsilon_3)$ cost exactly $\varepsilon_3/|B|$.

# %%
def too_much():
    tables = {f"{values} equally frequent values": 1 / max(sensitivity_weights(np.full(values, 4))) for values in (2, 10)}
    return float(tables["10 equally frequent values"]), pd.Series(tables, name="1 ÷ max w").astype(float).to_frame()

guess("Ten equally frequent values. How many times too much noise does the printed formula add?", too_much, unit="times")

# %% [markdown]
# ## The idea, in the thesis' symbols
#
# **Groups (Algorithm 4).** Choose a sensitive attribute $S$ and a threshold θ. $X\in A$ if $I(X,S)\ge\theta$ (lines 5–6), otherwise $X\in B$
# (line 8). $S$ itself is in A.
#
# **Budgets.** $\varepsilon_2 = L_2\varepsilon$ for A, $\varepsilon_3=L_3\varepsilon$ for B: $L_2$ and $L_3$ are shares of ε, and $r=L_2/L_3$ is their ratio. With $r<1$ the *group* A gets the smaller share. Which group's *tables* have more noise is another question: see below. Strict therefore takes r for tables: one of A gets r times the ε of one of B.
#
# **Noise.** A: one scale for all cells (Algorithm 5, line 4). B: a scale for each value, from $w_x$ (Algorithm 6, lines 5–6).
#
# What the thesis reads raw, strict pays for. A noisy table of every column (`share_histograms`, 0.15 of ε) tells the value weights, and what each pair would look like if it were independent. From one more share $L_0$ (`share_sketch`, 0.05)
# 4/5 go to the distances of the pairs with $S$ from that. One person moves such a distance by 2 records at most, whatever the domain, since what is expected is released already.

# %%
adult = pds.datasets.load_adult(coding="thesis")
import warnings

warnings.filterwarnings("ignore", message="these attributes were to have more noise")  # lesson 17 reads it
strict = pds.HPPrivBayes(1.0, k=2, sensitive="occupation", theta=0.1, r=1/3, random_state=6)
published = strict.clone().set_params(guarantee="published")

def groups(run):
    run.fit(adult.frame, schema=adult.schema)
    return {name: "A" if name in run.groups_["A"] else "B" for name in adult.schema.names}

pd.DataFrame({"published": groups(published), "strict": groups(strict)})

# %% [markdown]
# Where the two differ, the noisy association with `occupation` came out on the other side of the threshold. (Strict compares the distance R with a
# threshold that stands for θ. Without noise both rules give the same groups here.) Strict finds its groups through noise, and a noisy answer is sometimes wrong.
#
# Now check the toy's formula on the ledger of the published run: claimed and true cost of each B table.

# %%
rows = {}
for e in published.ledger_.entries:
    child = e.attributes[0]
    if e.step.startswith("table(") and child in published.groups_["B"]:
        share, w = e.epsilon / e.claimed, published.weights_[child]
        rows[child] = {"claimed": e.claimed, "true": e.epsilon,
                       "true ÷ claimed": share, "max w": max(w)}
pd.DataFrame(rows).T.astype(float).round(4)

# %% [markdown]
# ### Two leaks, one cause
#
# You have seen the raw *weights* leak. The raw *split* leaks the same way. Twenty people, attributes X, S and Z. Let one person after the
# other change X so that it follows S. $I(X,S)$ climbs from 0 to 1 bit, so it must step over θ = 0.1 somewhere:

# %%
def crowd(steps):
    """X and S are independent at first; then ``steps`` people in turn change X."""
    a, b = 5 + (steps + 1) // 2, 5 + steps // 2
    x = ["no"] * a + ["yes"] * (10 - a) + ["no"] * (10 - b) + ["yes"] * b
    s = ["no"] * 10 + ["yes"] * 10
    return pd.DataFrame({"X": x, "S": s, "Z": ["no", "yes"] * 10})

def bits(steps):
    people = crowd(steps)
    return mutual_information(pd.crosstab(people["X"], people["S"]).to_numpy())

climb = pd.Series({steps: abs(bits(steps)) for steps in range(6)}, name="I(X,S)")
climb.rename_axis("people who changed").round(3).to_frame().T

# %%
three = [pds.Attribute.categorical(name, ["no", "yes"]) for name in ("X", "S", "Z")]
recipe = pds.HPPrivBayes(1.0, k=0, sensitive="S", theta=0.1, random_state=0, personal=pds.parts.SensitivityGroups(rare_values="same_noise"))
recipe.set_params(guarantee="published")

def scale_of_s(steps):
    ledger = recipe.fit(crowd(steps), schema=pds.Schema(tuple(three))).ledger_
    return next(float(e.scale) for e in ledger.entries if e.step.startswith("table(S"))

def fourth():
    scales = pd.Series({f"{steps} people changed": scale_of_s(steps) for steps in (3, 4)})
    return scales.iloc[1] / scales.iloc[0], scales.to_frame("noise of S's table")

guess("A fourth person changes X alone. How many times as large is the noise on S then?", fourth, unit="times")

# %% [markdown]
# The person changed an answer about X, and the noise on *S* moved, because $|B|$ stands in every formula. That is the scale leak of
# the opening, now through Algorithm 4.

# %% [markdown] more
# ### More: which way does it protect?
#
# The thesis writes (§4.2.4) that $r<1$ adds "a large amount of noise to group A while adding almost no noise to group B". Compute it from the printed formulas: A's scale is $2(d-k-|B|)/\varepsilon_2$,
# B's is $2|B|/(w_x\varepsilon_3)$, and $w_x$, a part of 1, divides the share of B once more. With the thesis' own numbers (k = 4, θ = 0.1, ε = 1, $L_1$ = 0.3):

# %%
codes = pd.DataFrame(adult.schema.encode(adult.frame), columns=adult.schema.names)
frequencies = {name: np.bincount(codes[name], minlength=adult.schema[name].size) for name in published.groups_["B"]}
l, tables, rows = len(frequencies), Fraction(7, 10), {}
for r in (Fraction(1, 6), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2)):
    noise_a = float(printed_group_a(14, 4, l, tables * r / (1 + r)))
    noise_b = {name: 2 * l / (sensitivity_weights(count) * float(tables / (1 + r))) for name, count in frequencies.items()}
    more = sum(count[noise_b[name] > noise_a].sum() for name, count in frequencies.items())
    median_b = np.median(np.concatenate(list(noise_b.values())))
    rows[str(r)] = {"noise of A": noise_a, "noise of B (median value)": median_b, "noise A ÷ noise B": noise_a / median_b,
                    "B's entries with more noise than A's, %": 100 * more / (l * len(adult.frame)), "strict: noise A ÷ noise B": float(1 / r)}
pd.DataFrame(rows).T.rename_axis("r").round(2)

# %% [markdown]
# The *less* sensitive group has more noise, at every r. Strict gives a table of A r times the ε of one of B, however many stand in either group, so A's noise is 1/r times B's.
#
# And inside B, *cancer* "requires more privacy budget than the value *cold*". More budget is *less* noise: the rare, delicate values get the least protection. `rare_values` lets you choose: `"less_noise"` (rare: less noise), `"more_noise"` (rare: more noise),
# `"same_noise"` (all alike). All three cost the same:

# %%
race = adult.frame["race"].value_counts()
columns = {"records": race}
for rare_values in ("less_noise", "more_noise", "same_noise"):
    v = value_weights(race.to_numpy(), rare_values, floor=Fraction(1, 20))
    scale = tight_scales(v, epsilon3 / in_b, columns=2)
    columns[f"scale, {rare_values}"] = [round(float(s)) for s in scale]
pd.DataFrame(columns)

# %% [markdown]
# ## Groups and weights, alive
#
# First who stands on which side of θ, then an attribute's values, their records (grey squares) and noise scales. The text under *Details* says how much
# of the paid ε is really used.
#
# **What to notice**
# * Move θ to 0 and to 0.5: everything is in A, then only `occupation`. Watch `race` lose its value weights in the first case.
# * *As printed*, the most frequent value of each attribute has the largest noise, by far where it dominates. Try `capital-gain`: its noise is
#   larger than the records of all its other values.
# * Choose `capital-loss`, then `age`: the share of ε used as printed is max w, close to 1 only when one value dominates.
# * The floor **v_min** under the weights $v_x$ is 0.5 here. With `panels.sensitivity.view(v_min=0.05).figure` in a new cell, the tight scale of frequent values grows away from the others. The floor keeps them usable.
# * Switch rare values to *more_noise*: the order of the noise turns round; the tight cost does not move.

# %%
from pdsynth.course import panels

panels.sensitivity.panel()

# %% [markdown]
# ![Groups by θ = 0.1 bit, and the values of race with their noise scales](pictures/06_sensitivity_groups_and_weights.svg)
#
# *The panel's first position, for readers without a kernel.*

# %% [markdown]
# ## Your turn
#
# **1 · Predict.** An attribute has 16 equally frequent values (and parents). Its table pays $\varepsilon_3/|B| = 0.08$ and gets the printed
# scales $2|B|/(w_x\varepsilon_3)$. How large is its true cost, were the weights public?

# %%
cost = None  # your number
# solution
cost = Fraction(8, 100) / 16

# %%
ex.q1.check(cost)

# %% [markdown]
# **2 · Code.** Write `row_scales(w, epsilon)`: for a table with parents, the list of noise scales, proportional to $1/w_x$, for which the table
# costs exactly `epsilon`.

# %%
def row_scales(w, epsilon):
    ...
# solution
def row_scales(w, epsilon):
    return [2 * max(w) / (x * epsilon) for x in w]

# %%
ex.q2.check(row_scales)

# %% [markdown]
# **3 · Repair.** A colleague has paid for a noisy histogram and now sets the scales of a table. One input hasn't been paid for. Write `value_scales(noisy, epsilon)`, which
# does the same from what has been: take noisy counts below one half as one half.

# %%
def leaky_scales(frame, noisy, name, epsilon):
    share = frame[name].value_counts(normalize=True).reindex(noisy.index)
    surprise = -np.log2(share)
    v = surprise / surprise.max()
    return 2 / (v * epsilon)

# %%
def value_scales(noisy, epsilon):
    ...
# solution
def value_scales(noisy, epsilon):
    share = noisy.clip(0.5) / noisy.clip(0.5).sum()
    surprise = -np.log2(share)
    v = surprise / surprise.max()
    return 2 / (v * epsilon)

# %%
ex.q3.check(value_scales)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.

# %% [markdown]
# ## What the thesis claims, what the ledger says
#
# > "There is no privacy protection involved in this step as we consider the data publisher safe, so no privacy budget is used"
# > (proof of Theorem 1, step 2, about the groups).
#
# The publisher is *always* trusted here; DP protects against the reader of the *output*, and the output's noise shows the groups.

# %%
for name, run in {"published": published, "strict": strict}.items():
    print(f"{name}: {run.ledger_.verdict()}")
raw = [(e.step, e.source) for e in published.ledger_.unaccounted]
pd.DataFrame(raw, columns=["read raw", "thesis"])

# %% [markdown]
# And where the thesis does pay, it pays the wrong price in both groups: the values of B are overpaid, as you saw. Algorithm 5 divides
# $\varepsilon_2$ by $d-k-|B|$ but noises $d-|B|$ tables. When $d-k-|B|$ reaches 0, the formula has no meaning, and the library says so:

# %%
try:
    printed_group_a(d=14, k=4, in_b=10, epsilon=Fraction(1, 4))
except pds.BudgetError as problem:
    print(problem)

# %% [markdown]
# ## What is still not private
#
# * Value weights set *how much noise* a value gets. A table's guarantee is still the worst move: ε for everyone, less only for those whose
#   old and new values both have small weights.
# * A group is a choice about noise, not about who is protected: whoever shares a rare *combination* of B values isn't safer for standing in B.
# * Groups by association need the sketch, and at small ε it misplaces attributes near θ. The cleanest personalisation is a **policy**:
#   `pds.parts.SensitivityGroups(groups={"A": [...], "B": [...]})`, decided before anyone looks. It costs nothing.
# * This lesson's panel shows raw information and raw counts of a public table. On your own records it isn't for release.
# * This page fixes `random_state`, so that you see what the text describes: its strict fits say NOT PRIVATE: reproducible. A release draws fresh noise.
#
# ## Summary
#
# θ splits attributes by their tie to S, $r$ splits the budget, $w_x$ splits a table by values. With public weights a table costs
# $\max w\cdot\varepsilon_3/|B|$, so $v=w/\max w$ buys the same guarantee with far less noise. Raw groups and raw weights change noise *scales*, and a
# scale can be read off the output: no finite ε. Sketches, or a public policy, repair that.
#
# **Next:** [07, HPPrivBayes](07_hpprivbayes.ipynb) as a whole, and whether its tables are any better.
