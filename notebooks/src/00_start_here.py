# %% [markdown]
# # 00 · Start here
#
# | | |
# |---|---|
# | **Time** | about 25 minutes |
# | **Before this** | a little Python and pandas; no privacy, no statistics beyond a table of counts |
# | **You will be able to** | make a differentially private table in three lines, read what it cost, and find your way through the series |
# | **Paper** | C. Deng, *High-dimensional Dataset Publishing Methods Satisfying Personalized Differential Privacy Based on Bayesian Network*, 2025, section 1; J. Zhang et al., *PrivBayes*, ACM TODS 2017 |
# | **ε spent** | 0 on people: Adult is a public teaching table. Each fit below *would* cost what its ledger says |

# %% [markdown]
# ## A question: is it enough to drop the names?
#
# You hold a table of 48,842 people from the 1994 US census: age, work, family, pay. A colleague wants it. There are no names in it, so what
# could go wrong? Guess first: how many of these people are the **only** ones with their combination of seven everyday facts?

# %%
import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_00 as ex

adult = pds.datasets.load_adult()
adult

# %%
facts = ["age", "sex", "race", "education", "occupation", "marital-status", "hours-per-week"]
unique = {f"{m} facts, up to {facts[m - 1]}": 1 - adult.frame.duplicated(facts[:m], keep=False).mean() for m in (2, 4, 5, 7)}
pd.Series(unique, name="only one of their kind").map("{:.1%}".format).to_frame()

# %% [markdown]
# Whoever knows these seven facts about a neighbour finds the neighbour's row, and reads the salary beside it. Names were never the point.
#
# ## A toy that you can check by hand
#
# So publish no rows, only totals? Four people answer a question with yes (1) or no (0). The total with Eve, and the total a day later without her:

# %%
answers = pd.Series({"Ann": 1, "Bob": 0, "Cyd": 1, "Eve": 1})
with_eve, without_eve = answers.sum(), answers.drop("Eve").sum()
print(f"with Eve {with_eve}, without Eve {without_eve}: so Eve said {with_eve - without_eve}")

# %% [markdown]
# Two harmless totals, one secret. Every *exact* number about a group is one subtraction away from a fact about a person. The way out is
# noise: publish `total + Z` with a random whole number `Z`. Here are both totals, each with its own fresh noise, ten times:

# %%
from pdsynth.privacy.mechanisms import ExactNoise, laplace_mechanism

noise = ExactNoise()  # drawn from the operating system, so your numbers differ from your neighbour's
tries = {day: laplace_mechanism(np.full(10, total), 2, noise) for day, total in (("with Eve", with_eve), ("without Eve", without_eve))}
pd.DataFrame(tries).T

# %% [markdown]
# Can you still tell what Eve said? Sometimes you would guess right, never for sure. **Differential privacy** makes "never for sure" a number.
#
# ## The idea, in the paper's symbols
#
# A randomised algorithm $f$ satisfies **ε-differential privacy** (thesis, Definition 1) when for any two tables $D_1, D_2$ that differ in one
# record, and for any set $S$ of outputs,
#
# $$\Pr[f(D_1)\in S]\;\le\;e^{\varepsilon}\,\Pr[f(D_2)\in S].$$
#
# Whatever you publish would have been almost as likely had one person's record been another. ε is the **budget**: at ε = 0.1 the
# odds of any guess about one person shift by at most a factor $e^{0.1}$, at ε = 1 by at most $e^{1}$:

# %%
pd.Series({epsilon: np.exp(epsilon) for epsilon in (0.01, 0.1, 1, 4, 10)}, name="largest factor").rename_axis("ε").round(2).to_frame()

# %% [markdown]
# A single count is easy. A table of fifteen attributes has more possible rows than there are people on earth, and noise in each of them would
# drown everything. **PrivBayes** and the papers that follow it publish a *Bayesian network* instead: a few small noisy tables, each about
# a handful of attributes, from which a synthetic table is drawn.
#
# ## Your first private table, in four lines
#
# Which method is best here? `pds.plan` answers from *public* facts, the schema, the number of records and ε; it reads no record and costs nothing.

# %%
adult = pds.datasets.load_adult()
plan = pds.plan(adult.schema, len(adult.frame), epsilon=1.0)
synth = plan.synthesizer().fit(adult.frame, schema=adult.schema)
fake = synth.sample()
print(plan)

# %% [markdown]
# `ConsistentBayes` counts single columns first, then the pairs and triples that these explain worst, and makes all the noisy tables agree. The same columns and types, as many rows, and none of them was copied from a person:

# %%
fake.head()

# %% [markdown]
# What did it cost? Every answer that the algorithm got from the records stands in its **ledger**, with its noise and its price. The sum is
# an exact fraction, and the last line of the table says how much was spent.

# %%
synth.ledger_

# %% [markdown]
# This is the network it chose. An arrow says: *draw this attribute first, then that one given it*.

# %%
synth.network_

# %% [markdown]
# ### Is it any good?
#
# Distances from 0 to 1, the mean over all pairs of columns (lesson 15). `Independent` knows single columns and no ties at the same ε: whatever isn't nearer isn't worth having. Two random halves of the real
# table differ by chance alone: nothing needs to be nearer than they are.

# %%
page = pds.evaluate.report(adult, fake, epsilon=1.0)  # reads the real records exactly: never for publishing
page.distances.query("alpha == 2")[["table", "distance", "low", "high"]].round(4)

# %% [markdown]
# ## The panel: how much does ε matter?
#
# Move **ε** with the arrow keys, then choose another attribute. The grey bars are the real people, the orange ones the synthetic table. (The panel
# runs PrivBayes of 2014, with which the papers begin, on the coarser 14-attribute coding of the thesis.)
#
# **What to notice**
# * At ε = 1 you can hardly tell the bars of occupation apart. Go down to 0.05 and watch the small groups first: noise has the same
#   size everywhere, so it hurts where few people are.
# * The number of edges falls with ε: from public facts alone the algorithm knows how large its tables may be.
# * From ε = 2 on the bars hardly get better: the extra budget buys larger tables (more edges), not cleaner small ones. Lesson 04 has the rule.

# %%
panels.first_table.panel()

# %% [markdown]
# ![Real and synthetic shares of occupation at ε = 1](pictures/00_start_here.svg)
#
# *The panel's first position, for readers without a kernel.*
#
# ## Your turn
#
# **1 · Predict.** You fit PrivBayes with ε = 1 on Monday, and again with ε = 0.5 on Tuesday, on the same records, and publish both tables.
# How much budget is gone in all?

# %%
spent = None  # your number
# solution
spent = 1 + 0.5

# %%
ex.q1.check(spent)

# %% [markdown]
# **2 · Code.** Write `first_table(epsilon)`: fit a strict `PrivBayes` on `adult` and return the pair *(synthetic table, true ε from the ledger)*.

# %%
def first_table(epsilon):
    ...
# solution
def first_table(epsilon):
    synth = pds.PrivBayes(epsilon=epsilon).fit(adult.frame, schema=adult.schema)
    return synth.sample(), synth.ledger_.epsilon

# %%
ex.q2.check(first_table)

# %% [markdown]
# **3 · Find the bug.** A well-known public tool ships with a default like this one. Nothing crashes, and the noise has the right size. Why is
# the result not private? Answer `"domain"`, `"seed"` or `"scale"`.

# %%
def publish(counts, epsilon, seed=0):
    rng = np.random.default_rng(seed)
    return counts + rng.laplace(scale=2 / epsilon, size=len(counts))

# %%
bug = None  # "domain", "seed" or "scale"
# solution
bug = "seed"

# %%
ex.q3.check(bug)

# %% [markdown]
# Stuck? `ex.q1.hint()`, `ex.q1.solution()`, and the same for `q2` and `q3`.
#
# ## What the papers claim, what the ledger says
#
# PrivBayes claims ε, and its ledger agrees. The paper that this series starts from, HPPrivBayes, claims the same (thesis, Theorem 1). The library
# runs every algorithm in two readings: `strict` (the default) truly keeps its promise, `published` does what the paper prints.

# %%
published = pds.HPPrivBayes(epsilon=1.0, k=2, sensitive="occupation", guarantee="published")
print(published.fit(adult.frame, schema=adult.schema).ledger_.verdict())
print(pds.HPPrivBayes(epsilon=1.0, k=2, sensitive="occupation").fit(adult.frame, schema=adult.schema).ledger_.verdict())

# %% [markdown]
# A claim in a theorem and a sum in a ledger are two things. Finding out where they part, and repairing it, is half of this series.
#
# ## What is still not private
#
# * **What is true of many.** That people with a doctorate earn more is learnt on purpose, and applies to you whether you are in the table or not.
# * **The schema.** Categories and bounds must be known before looking. A schema inferred from the data is refused by a strict fit.
# * **The second fit.** Every run on the same records adds to the bill. Moving the slider above did so each time, on a table that is public anyway.
# * **A large ε.** At ε = 10 the factor in the table above is in the tens of thousands: a number, hardly a protection.
#
# ## The map
#
# | lesson | topic | ready |
# |---|---|---|
# | **00** | start here | yes |
# | **01** | DP mechanisms: Laplace, discrete Laplace, exponential; sensitivity; neighbours | yes |
# | **02** | composition and the ledger | yes |
# | **03** | Bayesian networks and mutual information | yes |
# | **04** | PrivBayes, the full algorithm | yes |
# | **05** | AMI ordering | yes |
# | **06** | sensitivity groups (θ, r) and sensitivity weights | yes |
# | **07** | HPPrivBayes, the full algorithm, and its evaluation | yes |
# | **08** | MIC and private spectral clustering | yes |
# | **09** | normalised risk entropy | yes |
# | **10** | HMPrivBayes, the full algorithm, and its evaluation | yes |
# | **11** | PrivABN and its evaluation | yes |
# | **12** | PPBA: spanning tree, dynamic weights, the ratio q | yes |
# | **13** | genetic structure search and its evaluation | yes |
# | **14** | custom networks and disclosure risk | yes |
# | **15** | evaluating a synthetic table: marginals, queries, utility, risk | yes |
# | **16** | auditing: catching a broken algorithm | yes |
# | **17** | personal budgets: who gets which guarantee | yes |
# | **18** | all of them side by side; choosing k and ε | yes |
# | **19** | your own data | yes |
#
# In a hurry? 00 → 01 → 02 teaches the privacy, 03 → 04 the algorithm. After these each paper stands alone: 05 → 06 → 07 HPPrivBayes, 08 → 09 → 10
# HMPrivBayes, 11 PrivABN, 13 → 14 the genetic search.
#
# ## Summary
#
# Dropping names doesn't hide people, and exact totals don't either. Noise with a budget does, within a factor $e^\varepsilon$. A synthesizer
# spends that budget on a network and its small tables; the ledger says what was spent.
#
# **Next:** [01, DP mechanisms](01_dp_mechanisms.ipynb): where the noise comes from, and how large it must be.
