# %% [markdown]
# # 00 · Start here
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | a little Python and pandas; no privacy, no statistics beyond a table of counts |
# | **You will be able to** | make a differentially private table in three lines, read what it cost, and find your way through the series |
# | **Paper** | C. Deng, *High-dimensional Dataset Publishing Methods Satisfying Personalized Differential Privacy Based on Bayesian Network*, 2025, section 1; J. Zhang et al., *PrivBayes*, ACM TODS 2017 |
# | **ε spent** | 0 on people: Adult is a public teaching table. Each fit below *would* cost what its ledger says |

# %% [markdown]
# ## A question: is it enough to drop the names?
#
# You hold a table of 48,842 people from the 1994 US census: age, work, family, pay. A colleague wants it. There are no names in it.
# What could go wrong?

# %%
import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_00 as ex
from pdsynth.course.guess import guess

adult = pds.datasets.load_adult()
adult

# %%
facts = ["age", "sex", "race", "education", "occupation", "marital-status", "hours-per-week"]

def alone(m):
    """How many of 100 people are the only ones with their first m facts."""
    return 100 * (1 - adult.frame.duplicated(facts[:m], keep=False).mean())

def count_alone():
    table = pd.Series({f"{m} facts, up to {facts[m - 1]}": alone(m) for m in (2, 4, 5, 7)}, name="alone, of 100")
    return alone(7), table.round(1).to_frame()

guess("How many of 100 people are the only ones with their seven everyday facts?", count_alone, unit="of 100")

# %% [markdown]
# Whoever knows these seven facts about a neighbour may find the neighbour's row, and read the salary beside it. Names were never the point.
#
# ## A toy that you can check by hand
#
# So publish no rows, only totals? Four people answer a question with yes (1) or no (0). A day later Eve changes her answer:

# %%
monday = pd.Series({"Ann": 1, "Bob": 0, "Cyd": 1, "Eve": 1})
tuesday = monday.copy()
tuesday["Eve"] = 0
print(f"total on Monday {monday.sum()}, on Tuesday {tuesday.sum()}: so Eve said {monday.sum() - tuesday.sum()}")

# %% [markdown]
# Two harmless totals, one secret. Every *exact* number about a group is one subtraction away from a fact about a person. The way out is
# noise: publish the total plus a random whole number. How large should it be? One record that changes moves the total by at most 1. Noise of
# **scale** 2 is typically 2 away from zero: twice as large as anything that Eve can do. Lesson 01 turns this into a rule, scale = change ÷ ε; here ε is ½.
#
# Both totals, each with fresh noise, ten times:

# %%
from pdsynth.core.noise import ExactNoise, laplace_mechanism

noise = ExactNoise()  # drawn from the operating system, so your numbers differ from your neighbour's
tries = {day: laplace_mechanism(np.full(10, answers.sum()), 2, noise) for day, answers in (("Monday", monday), ("Tuesday", tuesday))}
pd.DataFrame(tries).T

# %% [markdown]
# Can you still tell what Eve said? Sometimes you would be right, never for sure. **Differential privacy** makes "never for sure" a number.
#
# ## The idea, in symbols
#
# A randomised algorithm satisfies **ε-differential privacy** (thesis, Definition 1) if for any two tables that differ in one
# record, and for whatever its output may show,
#
# $$\text{probability with one table}\;\le\;e^{\varepsilon}\cdot\text{probability with the other}.$$
#
# Whatever you publish would have been almost as likely had one person's record been another. ε is the **budget**. At ε = 0.1 the
# odds of any guess about one person shift by at most a factor $e^{0.1}$:

# %%
pd.Series({epsilon: np.exp(epsilon) for epsilon in (0.01, 0.1, 1, 4, 10)}, name="largest factor").rename_axis("ε").round(2).to_frame()

# %% [markdown]
# A single count is easy. A table of fifteen attributes has more possible rows than there are people on earth, and noise in each of them would
# drown everything. **PrivBayes** and its heirs publish a few small noisy tables instead, tied together as a *Bayesian network*. A synthetic table is drawn from these.
#
# ## Your first private table, in three lines
#
# `pds.plan` names the method to run. It knows only *public* facts: the schema, the number of records and ε. So it costs nothing.

# %%
plan = pds.plan(adult.schema, len(adult.frame), epsilon=1.0)
synth = plan.synthesizer().fit(adult.frame, schema=adult.schema)
fake = synth.sample()
fake.head()

# %% [markdown]
# The same columns, the same types, as many rows, and none of them was copied from a person. What did it cost? Every answer that the algorithm got from the
# records stands in its **ledger**. This is its story; the whole of it is folded below:

# %%
synth.ledger_

# %% [markdown]
# *Claimed* is what the algorithm says a step costs. *True* is what its noise says: the ledger recomputes it. First came one number: how strongly pairs are tied. Then single columns were
# counted, then pairs and small sets were chosen and counted. The lines add up to ε, exactly.
#
# ## Impossible families
#
# Is the table any good? Here is a test that needs no statistics. A husband or a wife who was *never married*: the real table has none. A synthetic table
# draws family role and marital status from noisy counts, and a smaller ε means more noise.

# %%
def impossible(table):
    """How many of 100 husbands and wives were never married."""
    spouses = table[table["relationship"].isin(["Husband", "Wife"])]
    return 100 * (spouses["marital-status"] == "Never-married").mean()

def families():
    """PrivBayes at three ε, three tables each."""
    made = {}
    for epsilon in (1.0, 0.2, 0.05):
        runs = [pds.PrivBayes(epsilon).fit(adult.frame, schema=adult.schema).sample() for _ in range(3)]
        made[f"ε = {epsilon:g}"] = np.mean([impossible(run) for run in runs])
    table = pd.Series({"real": impossible(adult.frame), **made}, name="impossible, of 100").round(2).to_frame()
    return made["ε = 0.05"], table

guess("At ε = 0.05, how many of 100 synthetic husbands and wives were never married?", families, unit="of 100")

# %% [markdown]
# No error message, no empty cell: each such row looks like any other. Noise doesn't make a table ragged, it makes it wrong where few people are, and blind
# where a tie between two columns is no longer worth its price.
#
# ## The panel: how much does ε matter?
#
# Move **ε** with the arrow keys, then choose another **attribute**. The first chart counts
# impossible families. Turn the page (›): real people (grey) beside synthetic rows (blue, hatched).
# (The panel runs PrivBayes of 2014, with which the papers begin, on the coarser 14-attribute coding of the thesis.)
#
# **What to notice**
# * Set ε to 1 and go down to 0.05. Watch the impossible families first, then the small groups.
# * The number of edges falls with ε. From public facts alone the algorithm knows how large its tables may be.
# * From ε = 2 on little gets better: the extra budget buys larger tables, not cleaner small ones. Lesson 04 has the rule.

# %%
from pdsynth.course import panels

panels.first_table.panel()

# %% [markdown]
# ![Real and synthetic shares of occupation at ε = 0.2](pictures/00_start_here.svg)
#
# *The panel's first position, for readers without a kernel.*
#
# ## Your turn
#
# **1 · Predict.** You fit PrivBayes with ε = 0.8 on Monday, and again with ε = 0.3 on Tuesday, on the same records, and publish both tables.
# How much budget is gone in all?

# %%
spent = None  # your number
# solution
spent = 0.8 + 0.3

# %%
ex.q1.check(spent)

# %% [markdown]
# **2 · Code.** Write `first_table(epsilon)`: fit a strict `PrivBayes` on `adult` and return the pair *(synthetic table, its ledger)*.

# %%
def first_table(epsilon):
    ...
# solution
def first_table(epsilon):
    synth = pds.PrivBayes(epsilon=epsilon).fit(adult.frame, schema=adult.schema)
    return synth.sample(), synth.ledger_

# %%
ex.q2.check(first_table)

# %% [markdown]
# **3 · Attack.** A well-known public tool ships with a default like this one. Nothing crashes, and the noise has the right size. Write
# `undo(released, epsilon)`: from what was published, the exact counts.

# %%
def publish(counts, epsilon, seed=0):
    rng = np.random.default_rng(seed)
    return counts + rng.laplace(scale=2 / epsilon, size=len(counts))

# %%
def undo(released, epsilon):
    ...
# solution
def undo(released, epsilon):
    return released - publish(np.zeros(len(released)), epsilon)

# %%
ex.q3.check(undo)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.
#
# ## What the papers claim, what the ledger says
#
# PrivBayes claims ε, and its ledger agrees. The paper that this series starts from, HPPrivBayes, claims the same (thesis, Theorem 1). The library
# runs every algorithm in two readings: `strict` (the default) truly keeps its promise, `published` does what the paper prints.

# %%
published = pds.HPPrivBayes(epsilon=1.0, k=2, sensitive="occupation", guarantee="published")
published.fit(adult.frame, schema=adult.schema).ledger_

# %% [markdown]
# A claim in a theorem and a sum in a ledger are two things. Finding out where they part, and repairing it, is half of this series.
#
# ## Impossible families, made impossible
#
# That a husband or a wife was married is no secret of these people: it is what the words mean. So it may stand in the schema, as a **rule**.
# The rule reads no record, so it costs no ε. The same fits as above, with one rule:

# %%
rule = pds.Rule.impossible({"relationship": ["Husband", "Wife"], "marital-status": "Never-married"})
ruled = pds.Schema(adult.schema.attributes, rules=[rule])
runs = {f"ε = {epsilon:g}": pds.PrivBayes(epsilon).fit(adult.frame, ruled).sample() for epsilon in (1.0, 0.2, 0.05)}
pd.Series({name: impossible(run) for name, run in runs.items()}, name="impossible, of 100").to_frame()

# %% [markdown]
# Not one in 48,842 rows, at any ε: the model is asked for rows *given* the rule. What no rule says is as noisy as before. And a rule must be
# known without the records: that these records happen to keep it is no reason. `panels.rules.panel()` in a new cell moves ε and the **rule**:
#
# ![Synthetic rows that can't be, of one model without the rule and given the rule](pictures/00_impossible_rows.svg)
#
# ## What is still not private
#
# * **What is true of many.** That people with a doctorate earn more is learnt on purpose, and applies to you whether you are in the table or not.
# * **The schema.** Categories and bounds must be known before looking. A schema inferred from the data is refused by a strict fit.
# * **The second fit.** Every run on the same records adds to the bill. Moving the panel's slider did so each time, on a table that is public anyway.
# * **A large ε.** At ε = 10 the factor $e^\varepsilon$ is in the tens of thousands: a number, hardly a protection.
#
# ## The map
#
# ![What needs what: the core path from 00 to 19, and the case files 05 to 13 beside it](pictures/map.svg)
#
# **The core path** is for everybody. The **case files** take one paper each, and are named after its error: read those that you need.
#
# {{map}}
#
# Minutes are computed, not felt: words at 200 a minute, the measured run time, and an allowance for each thing to do (`python notebooks/course_map.py` has them).
#
# ## Summary
#
# Dropping names doesn't hide people, and exact totals don't either. Noise with a budget does, within a factor $e^\varepsilon$. A synthesizer
# spends that budget on a network and its small tables; the ledger says what was spent.
#
# **Next:** [01, DP mechanisms](01_dp_mechanisms.ipynb): where the noise comes from, and how large it must be.
