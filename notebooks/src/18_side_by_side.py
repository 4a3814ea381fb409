# %% [markdown]
# # 18 · All of them side by side, and the method to run
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 02 composition and the ledger, 04 PrivBayes, and any two of 07, 10, 11, 12, 13, 14 |
# | **You will be able to** | say before any run what n, ε and k can bear, price an edge, compare methods at the same guarantee, and choose a method for a reason |
# | **Paper** | none alone: the parts and claims of all of them |
# | **ε spent** | 0 on people: Adult is a public teaching table. Each fit below *would* cost what its ledger says |

# %% [markdown]
# ## A question to start with
#
# Many papers, most of which say that they beat PrivBayes. You have one table, one ε, and one attribute, *occupation*, that nobody should read off. Which method do you take?
#
# Guess the method that comes nearest, then k.

# %%
import warnings

import pandas as pd

import pdsynth as pds
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_18 as ex
from pdsynth.course.guess import guess
from pdsynth.papers import sidebyside

warnings.filterwarnings("ignore", message="(these|all) attributes were to have more noise")  # lesson 17 reads it

adult = pds.datasets.load_adult(coding="thesis")
n, schema = len(adult.frame), adult.schema

# %%
def nearest():
    methods = {"PrivBayes": pds.PrivBayes(1.0), "HPPrivBayes": pds.HPPrivBayes(1.0, k="auto", sensitive="occupation"), "Independent": pds.baselines.Independent(1.0),
               "ConsistentBayes": pds.ConsistentBayes(1.0)}
    score = {name: pds.evaluate.marginal_distance(adult.frame, m.fit(adult.frame, schema=schema).sample(), schema) for name, m in methods.items()}
    table = pd.Series(score, name="distance of pairs").sort_values().round(3)
    return table.index[0], table.to_frame()

names = ["HPPrivBayes", "PrivBayes", "Independent", "ConsistentBayes"]
guess("ε = 1, 45,222 people, 14 columns, all strict. Which one comes nearest?", nearest, options=names)

# %%
guess("What is the largest k at which a mean cell of a typical table still has four times its noise?", lambda: pds.plan(schema, n, 1.0).k, unit="parents")

# %% [markdown]
# ## A toy that you can check by hand
#
# A table of counts has cells, and every cell gets the same noise. If a mean cell holds fewer records than the noise, the table tells more about the noise than about people. 1,000 records, attributes
# of ten values, noise of scale 20:

# %%
pd.DataFrame([{"parents": k, "cells": 10 ** (k + 1), "mean cell": 1000 / 10 ** (k + 1), "noise ÷ mean cell": 20 * 10 ** (k + 1) / 1000}
              for k in range(4)]).set_index("parents")  # fmt: skip

# %% [markdown]
# Already one parent gives twice as much noise as records. None of these numbers looked at a record: n, the domains, k and ε are public, so whoever looks at them *before* the run spends nothing.
#
# ## Before you spend: the library's two lines
#
# `pds.plan` does this for your schema. *Useful* means a mean cell of at least four noise scales ($\theta_u=4$, TODS 2017, section 4.5).

# %%
pds.plan(schema, n, epsilon=1.0)

# %%
for rows, epsilon in ((n, 1.0), (n, 0.1), (1_473, 1.0), (176, 1.0)):
    print(pds.plan(schema, rows, epsilon), "\n")

# %% [markdown]
# A method says so as well: `fit` warns at a hopeless k. The thesis works at k = 4; with `k="auto"` every table is as large as it can be *and stay useful*, and no larger.
#
# `pds.plan(…).price` tells what *one more edge* costs: noise for the child's table, ε for the new parent, who now stands in one table more. What it brings is read off a **public** reference, never off the records.

# %%
drawn = pds.PrivBayes(1.0, guarantee="none", k=1, random_state=18).fit(adult.frame, schema=schema).network_
shared = pds.plan(schema, n, 0.7)
def priced(edge):
    try:
        return shared.price(drawn, edge, reference=adult.frame)
    except pds.SchemaError:  # it is there already, or closes a circle
        return None

found = filter(None, (priced((a, b)) for a in schema.names for b in schema.names if a != b))
found = sorted(found, key=lambda edge: -edge.information)
print(found[0], found[-1], sep="\n")

# %% [markdown]
# The best edge that this network lacks brings less than a tenth of a bit and makes its table six times as large. The worst brings nothing, and costs
# its new parent just as much.
#
# ## The idea, in the papers' symbols
#
# Every method of this series is a choice of three parts:
#
# | part | choices | class |
# |---|---|---|
# | **structure**, $\varepsilon_1$ | greedy pairs; an order, then parents; sums of pairs; a spanning tree; clusters; a genetic search; a policy | `Greedy`, `Ordered`, `PairwiseSums`, `SpanningTree`, … |
# | **budget**, $\varepsilon_2\,(+\,\varepsilon_3)$ | $\varepsilon_2$ in equal shares; groups $r:1$; shares $\propto e^{-\mathrm{OE}}$; the ratio $q$ | `Uniform`, `Groups`, `RiskEntropy`, `Geometric` |
# | **place of the noise** | joint counts (sensitivity 2); conditionals (2 as well, though printed as $2/n$) | `conditionals="joint"` or `"conditional"` |
#
# They mix freely, and the ledger closes for each mixture (NOT PRIVATE: reproducible is said of the seed, not of the sum):

# %%
mixture = pds.Synthesizer(1.0, structure=pds.parts.PairwiseSums(), budget=pds.parts.RiskEntropy(), random_state=18)
mixture.fit(adult.frame, schema=schema).ledger_.verdict()

# %% [markdown]
# What does each part do to the distance? A small factorial, one run each (20 repeats in `figures/sidebyside/README.md`):

# %%
result = pds.papers.reproduce("sidebyside", figure=2, repeats=1, jobs=1, data=adult)
strict = result.data[result.data["guarantee"] == "strict"]
strict.pivot_table(index="method", columns="budget", values="value", sort=False).round(3)

# %% [markdown]
# Read it by column and by row. The rows hardly differ: every structure finds the strong pairs. The columns do: equal shares (*Uniform*) are the best column, and each personal split takes more from
# most tables than it gives to a few. With 20 repeats the split explains 27 % of the variance and the structure 8 %; the rest is noise and their mixture.
#
# ## All of them, alive
#
# The first chart says how far each synthetic table is from the real one. The second says what a change of the sensitive attribute costs. The last is the plan, with a ring
# around the k of the run.
#
# **What to notice**
# * Move k to 4: the distance of all that have a k jumps to the right, and the plan has it over the red line. JTree, Independent and the forests have no k.
# * Back to *auto*, lower ε to 0.1: Independent, which ignores all ties, becomes one of the best. Raise ε to 4: it stays where it is, the others pass it.
# * The costs: most are alike, whatever the paper's personalisation does. Three are low: *Independent*, one table an attribute; the *forest* that is told who is sensitive, with one more table that holds it; and the *custom network* with a policy.
# * Choose another sensitive attribute: the low cost follows, because a policy names it. Groups by association only move noise.
# * *Published*: red marks, no finite ε. Look at the distances at the same time: it bought hardly anything.
# * **reconcile**, *agree*: every column stands in several noisy tables, which contradict each other; now the nearest tables that agree are released. Most distances jump to the left, the costs stay:
#   post-processing costs nothing. (Some seconds a move; two methods with very large tables are left out.)

# %%
from pdsynth.course import panels

panels.side_by_side.panel()

# %% [markdown]
# ![All fast algorithms at ε = 1, strict, k = auto: distance, loss of occupation, plan](pictures/18_side_by_side.svg)
#
# *The panel's first position, for readers without a kernel.*

# %% [markdown]
# ### What each step buys
#
# `ConsistentBayes` is built from what the table above teaches. A noisy look at how strongly pairs are tied on average takes at most 5 % of ε. It decides how
# much single columns get: where ties are weaker than noise, all that pairs that stand out leave. Single columns come next. Then comes a *forest* of those pairs that single
# columns explain worst, and then *rounds* of pairs and small sets against the fitted model. All of it is made to agree. One strict run each at ε = 1. `sample()` deals rows out in proportion, so that less chance of sampling is added to the noise.
# (`sample(method="independent")` draws each row by itself. Textbooks' intervals assume that, but they don't know the noise of the fit, and are too short.)

# %%
agree, steps = pds.parts.Agree(), {}
for name, method in {"columns alone": pds.baselines.Independent(1.0), "and a forest": pds.ConsistentBayes(1.0, rounds=0),
                     "and rounds": pds.ConsistentBayes(1.0), "PrivBayes": pds.PrivBayes(1.0),
                     "PrivBayes, agreed": pds.PrivBayes(1.0, reconcile=agree)}.items():  # fmt: skip
    model = method.fit(adult.frame, schema=schema).model_
    rows = {draw: pds.evaluate.marginal_distance(adult.frame, model.sample(n, method=draw), schema) for draw in ("independent", "balanced")}
    steps[name] = rows | {"ε": float(model.ledger.epsilon)}
one, other = (adult.frame.sample(frac=1, random_state=18).iloc[part::2] for part in (0, 1))
steps["halves of the real table"] = {"independent": pds.evaluate.marginal_distance(one, other, schema)}
pd.DataFrame(steps).T.round(4)

# %% [markdown]
# The forest halves the distance of single columns, rounds take a sixth to a quarter off the rest, and agreement gives PrivBayes about as much as the forest has. `panels.forest.panel()` in a new cell moves the forest's ε
# and its sensitive attribute, which then stands in one table besides its own; the loss is bounded before the run.
#
# ![A forest on Adult at ε = 1, the noise of its tables, and its distances beside Independent](pictures/18_forest.svg)
#
# ### At the same guarantee for the sensitive attribute, who serves the rest best?
#
# "The same ε" isn't the same promise to *occupation*: at ε = 1 it loses between 0.03 and 0.6. So ask the other way round. Move every method's total ε (up to 1) until a change of occupation costs 0.05,
# and compare the distances of all pairs *without* it:

# %%
points = {"fine": (0.05, 0.2, 1.0), "promises": (0.05,)}
fair = pds.papers.reproduce("sidebyside", figure=3, repeats=2, jobs=1, **points)
sidebyside.match(fair.data, sidebyside.PAPER.settings(**points)).set_index("method")

# %% [markdown]
# Two come first, and not by a clever formula: the policy and the forest that is told which attribute is sensitive. Both let occupation stand in as few tables as they can, give these a small share, and
# everything else goes to the others. What it loses is then bounded *before* the run: no learnt network can make it worse.
#
# ## Your turn
#
# **1 · Predict.** 10,000 records, ten attributes of four values each, ε = 1 of which the structure takes 0.3, k = 2, so eight tables. How large is noise ÷ mean cell?

# %%
ratio = None  # a number
# solution
ratio = (2 * 8 / 0.7) / (10_000 / 4**3)

# %%
ex.q1.check(ratio)

# %% [markdown]
# **2 · Code.** Write `largest_k(n, d, size, epsilon)`: the largest k whose mean cell is at least four noise scales, and 0 if none is. All d attributes have `size` values, and
# d − k tables share 0.7 ε (all of ε for k = 0).

# %%
def largest_k(n, d, size, epsilon):
    ...
# solution
def largest_k(n, d, size, epsilon):
    def useful(k):
        return 2 * (d - k) / (epsilon * (0.7 if k else 1)) * size ** (k + 1) / n <= 1 / 4
    return max((k for k in range(d) if useful(k)), default=0)

# %%
ex.q2.check(largest_k)

# %% [markdown]
# **3 · Find the bug.** A colleague tunes k. Every single fit is strict. Which of these are true? Answer with a set of letters.
#
# ```python
# def tuned(frame, schema, epsilon):
#     tried = {k: pds.PrivBayes(epsilon, k=k).fit(frame, schema=schema) for k in (1, 2, 3, 4)}
#     score = {k: pds.evaluate.marginal_distance(frame, run.sample(), schema) for k, run in tried.items()}
#     k = min(score, key=score.get)
#     return tried[k]
# ```
#
# * **a** The fits alone cost 4ε.
# * **b** They cost ε, since three of them are thrown away.
# * **c** `score` gives away something that no ε covers.
# * **d** `score` works on samples, so it is post-processing.
# * **e** The k of `pds.plan` would have cost nothing.
# * **f** Fresh seeds for each fit would repair it.

# %%
claims = None  # for example {"b", "d"}
# solution
claims = {"a", "c", "e"}

# %%
ex.q3.check(claims)

# %% [markdown]
# **4 · Design.** A town has 2,000 people in a table that you will never see. Write `method(schema, n, epsilon)`, which returns an unfitted synthesizer, strict, at exactly ε.
# It is fitted to the hidden people at ε = 1 and judged by its two-way distance to them: 0.2 is enough. (In 300 runs of the plan's method the worst had 0.154:
# an honest plan misses the limit in less than 1 % of all runs.)

# %%
def method(schema, n, epsilon):
    ...
# solution
def method(schema, n, epsilon):
    return pds.plan(schema, n, epsilon).synthesizer()

# %%
ex.q4.check(method)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.

# %% [markdown]
# ## What the papers claim, what the ledger says, what the tables say
#
# The usual headline is "better than PrivBayes". On Adult, 20 repeats, strict and `k="auto"`, 2-way distance at ε = 1 (all trials: `figures/sidebyside`, one command, `python figures/make.py sidebyside`):
#
# | | distance | loss of occupation | as published |
# |---|---|---|---|
# | CSAPrivBayes, groups by policy | 0.035 | 0.56 | 0.052, ε = 1 |
# | PrivBayes, tables agree | 0.036 | 0.55 | 0.039, ε = 1 |
# | PPBA | 0.036 | 0.49 | 0.050, no finite ε |
# | GeneticBayes | 0.037 | 0.44 | 0.038, no finite ε |
# | JTree | 0.042 | 0.59 | 0.041, no finite ε |
# | HPPrivBayes | 0.042 | 0.42 | 0.158, no finite ε |
# | PrivBayes | 0.048 | 0.55 | 0.048, ε = 1 |
# | ELPrivBayes | 0.050 | 0.50 | 0.051, no finite ε |
# | custom network, policy | 0.051 | **0.03** | 0.050, ε = 1 |
# | Independent | 0.068 | 0.07 | 0.068, ε = 1 |
# | HMPrivBayes | 0.069 | 0.34 | 0.187, no finite ε |
# | PrivABN | 0.120 | 0.57 | 0.053, no finite ε |
# | *OpenDP's MST, (ε, δ = 10⁻⁹)* | *0.035* | – | – |
#
# 1. **Nearer than PrivBayes, and for another reason.** Strict methods make their tables agree, which costs no ε. Where PrivBayes' tables agree, too, only groups by policy, PPBA and GeneticBayes come as near.
# 2. **Published isn't better on the whole**: nearer at 5 of 36 points, farther at 19. A finite ε was given up for nothing in most cases.
# 3. **The yardstick is as near as the best of these.** This MST has Gaussian noise, which $(\varepsilon,\delta)$ allows (lesson 20); it also runs in pure ε (`figures/yardsticks`). It fits one
#    model to all noisy tables together; in print the papers' methods read each table once. That is what consistency is worth. `ConsistentBayes` fits one
#    model, too, in pure ε, and is nearer than this MST (*what each step buys*, above).
#
# ### How to choose
#
# 1. **ε**: what a person can accept. $e^\varepsilon$ is the factor by which anybody's odds about her can move. If no useful table fits under it, the answer is coarser bins or fewer columns, not a larger ε:

# %%
useful = {e: pds.plan(schema, n, e).k for e in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)}
pd.Series(useful, name="largest useful k").rename_axis("ε").to_frame().T

# %% [markdown]
# 2. **k**: `"auto"`. If you must fix it, take the plan's k. Never try several on the records (your third exercise).
# 3. **Sensitive attributes**: a policy. Say which attribute is a leaf, which group it is in, which share it gets (lessons 14 and 17). It costs nothing and is known before.
# 4. **Method**: the one that the plan names. It foretells the distance of each candidate from public facts, also when the answer is single columns, and `plan.synthesizer()` is that method, unfitted:

# %%
for rows, epsilon in ((n, 1.0), (n, 0.1), (1_473, 1.0), (176, 0.1)):
    known = pds.plan(schema, rows, epsilon)
    print(f"{rows:,} records, ε = {epsilon:g}: {known.method}")

# %% [markdown]
# 5. **Release once**, with fresh noise from the system. What you looked at while choosing is spent, unless it was public.
#
# ## What is still not private
#
# * Comparing methods on private records spends every fit's ε and reads every distance raw. Adult is public.
# * The loss of an attribute holds if *only that attribute* changes. What goes with it, a partner's income or a degree, keeps telling.
# * Three losses are known before the run: *Independent*'s, the told forest's, the policy's. The others are read off it: ex post, no promise.
# * Advice tuned on Adult is advice about tables like Adult.
#
# ## The method to run
#
# If you take one thing along, take these lines. The plan reads public facts alone, names the method, and makes it. Here that is `ConsistentBayes`: single columns, then the pairs and
# small sets that they explain worst, made to agree. Pure ε, one fit, one ledger:

# %%
plan = pds.plan(schema, n, epsilon=1.0)
release = plan.synthesizer().fit(adult.frame, schema=schema)
release

# %%
release.ledger_

# %% [markdown]
# ## Summary
#
# Noise over mean cell, from public facts, decides more than any paper's idea: choose k by it. Structures are nearly alike, and splits mostly cost. At the same promise to one attribute a public policy serves
# the rest best. Strict methods pay for everything, and are nearer than their published forms more often than farther. Methods whose tables are made to agree come nearest. Run what the plan names: on a table like this one, `ConsistentBayes`.
#
# **Next:** [19, your own data](19_your_own_data.ipynb): schema, plan, one release.
