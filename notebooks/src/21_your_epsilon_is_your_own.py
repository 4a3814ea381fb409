# %% [markdown]
# # 21 · Your ε is your own: persons with different budgets
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 02 composition and the ledger, 17 personal budgets; 16 auditing helps |
# | **You will be able to** | say what a budget of one's own promises, count a record as often as its ε pays for, see whom such counts forget, take the bias off with the level as a column, and check the promise of one person exactly |
# | **Paper** | Z. Jorgensen, T. Yu and G. Cormode, *Conservative or Liberal? Personalized Differential Privacy*, ICDE 2015; C. Deng, thesis 2025, whose abstract asks for it |
# | **ε spent** | 0 on people: Adult is a public teaching table, and the preferences are made up. Each fit below *would* cost each person what she allowed |

# %% [markdown]
# ## A question to start with
#
# The thesis' abstract has a wish: "various privacy requirements for different tuples". A tuple is a person's record. None of the papers of this course fulfils the wish: lesson 17 gave budgets to
# *attributes*, and everybody had the same ones.
#
# So let us ask everybody. Three levels are offered: ε = 0.1, 0.5 or 1. Half of the people are careful, and people who finished college are more careful than others.

# %%
import math
import warnings

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.course.exercises import lesson_21 as ex
from pdsynth.course.guess import guess

LEVELS, rng = [0.1, 0.5, 1.0], np.random.default_rng(21)
adult = pds.datasets.load_adult(coding="thesis")
columns = ["age", "education-num", "marital-status", "occupation", "sex"]
schema = pds.Schema(tuple(adult.schema[name] for name in columns))
college = (adult.frame["education-num"] >= 12).to_numpy()
own = np.where(college, rng.choice(LEVELS, len(college), p=[0.8, 0.17, 0.03]), rng.choice(LEVELS, len(college), p=[0.4, 0.45, 0.15]))
frame = adult.frame[columns].assign(own=pd.Categorical(own, categories=LEVELS))

# %% [markdown]
# A publisher who wants to please everybody takes the mean of all ε, and spends it on everybody.

# %%
def cheated():
    table = pd.Series(own).value_counts(normalize=True).sort_index().rename("share of the people").to_frame()
    return own.mean() / 0.1, table.rename_axis("ε").round(3)

guess("The publisher spends the mean ε. How many times what they allowed do the most careful lose?", cheated, unit="times", digits=3)

# %% [markdown]
# A mean cheats everybody who stands below it. The *least* ε cheats nobody, and it wastes what the generous offered. Is there something between?
#
# ## A toy that you can check by hand
#
# Four people say yes to a question. Their ε are 0.1, 0.1, 0.5 and 1. Count each of them as often as 0.1 goes into her ε: that is once, once, five times, ten times. Then add Laplace noise
# of scale 10, enough for ε = 0.1 where one count comes or goes.

# %%
epsilons = np.array([0.1, 0.1, 0.5, 1.0])
copies = np.round(epsilons / 0.1).astype(int)
pd.DataFrame({"ε": epsilons, "counts": copies, "count without her": copies.sum() - copies, "her loss": copies / 10})

# %% [markdown]
# If the last person leaves, the count falls by 10. Noise of scale 10 becomes less or more likely by a factor of $e^{10/10}=e^1$ at most. Her loss is 1, which is what she allowed. Each of the others
# loses what she allowed, too, and all of it from *one* noisy count.
#
# ## The idea, in the paper's symbols
#
# Every record $i$ has a public $\varepsilon_i$. **Personalised differential privacy** (Jorgensen, Yu and Cormode, 2015) compares the table $D$ with $D'$, the same table without record $i$:
#
# $$\Pr[\mathcal M(D)\in E]\;\le\;e^{\varepsilon_i}\,\Pr[\mathcal M(D')\in E],\qquad\text{and the same with }D\text{ and }D'\text{ exchanged.}$$
#
# Each person reads this line with her own number. It is about adding or removing her record; to replace it is to remove one and to add one.
#
# **Copies.** *Group privacy* says: if one copy of a record loses $\varepsilon$, ten copies that come and go together lose at most $10\,\varepsilon$. So choose a **unit** of which every level is a
# whole multiple, let record $i$ count $\varepsilon_i/\text{unit}$ times, and ask every question with noise for one unit. No row is ever copied: the counts have weights. Every step that asks for counts
# alone works as before: tables, scores, the choice of a network.
#
# Whose weights are these? They follow from the public preferences and from nothing else. A weight that looked at the record would be a question that nobody paid for.
#
# ## Whom do weighted counts forget?
#
# Look at the weighted counts without any noise. Of 100 people in the table 29 finished college.

# %%
def weighted():
    weights = own / 0.1
    table = pd.Series({"people": 100 * college.mean(), "weighted people": 100 * (weights * college).sum() / weights.sum()}, name="of 100 finished college")
    return table.iloc[1], table.round(1).to_frame()

guess("Count each person as often as her copies. How many of 100 finished college now?", weighted, unit="of 100", digits=3)

# %% [markdown]
# Weights speak for those who give more. Those who finished college are more careful, so college counts for much less than it should. No noise did this, and no larger table helps: it is a **bias**.
#
# **The level is a column.** Put each person's level into the table as one more public column. The method ties it to whatever goes with it, as it ties any two columns. Then the model knows how
# many weighted graduates stand at each level. Divide the counts of each level by its copies, and the weights are gone.
#
# ## The library's line

# %%
ours = pds.ConsistentBayes(1, relation="add_remove").fit(frame, schema, person_epsilon="own")
print(ours.ledger_.verdict())
ours.ledger_.person_epsilon().map(str).to_frame("a record of this level loses at most")

# %% [markdown]
# `person_epsilon` is the name of a column, a Series, or a rule by one attribute: `{"ward": {"A": 0.1, "B": 1}}`. The 1 in front is the most that anybody may lose. A column must be categorical:
# its categories are the levels that were *offered*, also where nobody took one. Levels that merely occur would tell that their one taker is in the table.
#
# `Independent` knows single columns only. It has no ties, so it can't find the one between level and college:

# %%
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    alone = pds.baselines.Independent(1, relation="add_remove").fit(frame, schema, person_epsilon="own")
print(said[-1].message)
warnings.filterwarnings("ignore", message="no table ties the levels")
least = pds.ConsistentBayes(0.1, relation="add_remove").fit(frame[columns], schema)

def look(name, fitted):
    rows = fitted.sample(len(frame))
    return {"method": name, "of 100 finished college": 100 * (rows["education-num"] >= 12).mean(),
            "distance of pairs": pds.evaluate.marginal_distance(frame[columns], rows, schema, 2)}

bias = [look("the level as a column", ours), look("no ties: Independent", alone), look("everybody at the least", least)]
pd.DataFrame(bias).set_index("method").round(3)

# %% [markdown]
# ## The peer: a sample
#
# Jorgensen, Yu and Cormode do it another way. Record $i$ stays in the table with probability
#
# $$\min\Big(1,\;\frac{e^{\varepsilon_i}-1}{e^{\text{threshold}}-1}\Big),$$
#
# and whoever stays is protected with ε = threshold. A coin that is thrown in secret protects, too: an attacker doesn't know whether you are among the records that were read.

# %%
def stays():
    table = pd.Series({level: 1000 * np.expm1(level) / np.expm1(1.0) for level in LEVELS}, name="of 1,000 stay").rename_axis("ε")
    return table.iloc[0], table.round(1).to_frame()

guess("The threshold is 1. Of 1,000 people with ε = 0.1, how many stay?", stays, unit="of 1,000", digits=3)

# %%
kept = rng.random(len(own)) < np.expm1(own) / np.expm1(1.0)
sample = pds.ConsistentBayes(1, relation="add_remove").fit(frame.loc[kept, columns], schema)
print(f"{kept.sum():,} of {len(kept):,} records were read")
pd.DataFrame([*bias, look("a sample, threshold 1", sample)]).set_index("method").round(3)

# %% [markdown]
# A sample leaves records out, and what is left leans towards the generous, as weights do. It has one advantage: any mechanism may follow it, also one that does more than count.
#
# ## Checked for one person of each level
#
# `pds.audit.replay` (lesson 16) runs a fit twice, with and without one record, and computes the loss of every step exactly. Here one person of each level leaves a table of twelve.

# %%
toy = pds.Schema((pds.Attribute.categorical("smoker", ["no", "yes"]), pds.Attribute.categorical("ward", [1, 2, 3])))
rows = pd.DataFrame({"smoker": ["no", "yes"] * 6, "ward": [1, 2, 3, 3] * 3, "own": pd.Categorical(LEVELS * 4, categories=LEVELS)})
methods = {"Independent": pds.baselines.Independent(1, relation="add_remove"), "ConsistentBayes": pds.ConsistentBayes(1, relation="add_remove")}
lost = {name: [pds.audit.replay(method, rows, rows.drop(index=i), toy, walks=3, person_epsilon="own").log_ratio for i in range(3)] for name, method in methods.items()}
pd.DataFrame(lost, index=pd.Index(LEVELS, name="promised")).round(4)

# %% [markdown]
# Nobody loses more than she allowed. Two fits cost twice, and an account counts each level for itself. It holds a *replaced* record, one that goes and one that comes, so each fit is charged twice:

# %%
session = pds.Session(4)
pds.ConsistentBayes(1, relation="add_remove").fit(rows, toy, person_epsilon="own", session=session)
session.to_frame()[["people", "epsilon"]]

# %% [markdown]
# ## The panel: who is missing?
#
# Ten thousand people of Adult, five columns. The first chart says how many finished college: of the people (grey), and of the rows of each method. Turn the page (›) for all schools and for the distances. Of the controls, **mix** says how many per cent chose ε = .1, .5 and 1. **tie** says how strongly being careful goes
# with education: 0 not at all. **method** says what is done with the preferences; the sample's threshold is ½ here.
#
# **What to notice**
# * It opens with copies alone. College is nearly halved, and the bars of the last chart say that everybody at the least is nearer.
# * Choose *copies, level as a column*: its bar is as long as the grey one.
# * Move **tie** to 0: all that use the preferences are nearer than everybody at the least, and the column costs a little.
# * Move **tie** to 2 and choose *sample*: it forgets the same people.
# * Change **mix** to 20 / 40 / 40: the more people give, the more everybody at the least wastes.

# %%
from pdsynth.course import panels

panels.persons.panel()

# %% [markdown]
# ![Share of people and of synthetic rows by school, and the distance of four methods](pictures/21_your_epsilon_is_your_own.svg)
#
# *The panel's first position, for readers without a kernel.*
#
# ## Your turn
#
# **1 · Predict.** The levels are 1/4, 2/5 and 1. The unit is the largest number of which each is a whole multiple. How often does a person with ε = 1 count?

# %%
times = None  # your number
# solution
times = 20

# %%
ex.q1.check(times)

# %% [markdown]
# **2 · Code.** Write `copies_of(levels)`: levels are a list of `Fraction`s, and the result says how often a record of each level counts. All counts are whole, and as small as can be.

# %%
def copies_of(levels):
    ...
# solution
def copies_of(levels):
    common = math.lcm(*(level.denominator for level in levels))
    whole = [int(level * common) for level in levels]
    return [number // math.gcd(*whole) for number in whole]

# %%
ex.q2.check(copies_of)

# %% [markdown]
# **3 · Find the bug.** Levels 0.1, 0.25 and 1, and a publisher who "rounds to whole copies". The noise is right for one copy at ε = 0.1. What does a person who allowed 0.25 lose?

# %%
def weights(own):
    return np.ceil(own / 0.1)

# %%
loss = None  # your number
# solution
loss = 0.3

# %%
ex.q3.check(loss)

# %% [markdown]
# **4 · Judge.** Which of these keep everybody's promise? Answer with a set of letters, such as `{"a", "b"}`.
#
# * **a** ε follows the ward, by a rule that was published before anybody looked: `{"ward": {…}}`.
# * **b** The publisher looks at the incomes, and then gives the rich ε = 0.1.
# * **c** Each level gets a fit of its own, with its own ε, on the records of its level alone. All models are published.
# * **d** People who said nothing count with the mean of the others' ε.
# * **e** People who said nothing are left out.
# * **f** A record counts twice where its cell is rare, "so that it isn't lost in the noise".

# %%
kept_by = None  # your set
# solution
kept_by = {"a", "c", "e"}

# %%
ex.q4.check(kept_by)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.
#
# ## What others claim, what our ledger says
#
# | | whose budget | what it promises | what it costs the table |
# |---|---|---|---|
# | the thesis' wish | persons' | "various privacy requirements for different tuples" | not built |
# | the thesis' method (lessons 06, 07) | attributes' | read off the run (lesson 17) | groups, weights, an order |
# | sample (Jorgensen and others) | persons' | each at most her own ε | records left out, a bias |
# | copies | persons' | each at most her own ε | a bias |
# | copies, the level as a column | persons' | each at most her own ε | one column more |
#
# The ledger writes every cost for the largest level. A person of another level pays the same part of each line as of her ε. All lines together are exact fractions, and the account closes for each level.
#
# ## What is still not private
#
# * **The preference itself.** It is public. If the ill choose 0.1, then choosing 0.1 tells. Offer few levels, and let them mean nothing else.
# * **A level that was chosen after looking.** If a person chooses ε because of what others' records say, or a publisher chooses it for her because of her own, nothing here covers it.
# * **The levels offered.** They fix unit and noise, so they must be public before the fit. One person's 0.017 would change the noise for all.
# * **The bias that is left.** The column works as far as the tie is found. In a small table, or among many columns, the tie drowns in noise; then use everybody at the least.
# * **Being generous adds up.** Each further fit costs each person her ε again.
#
# ## Summary
#
# Everybody may have an ε of her own: adding or removing her record moves the law of what is published by at most $e^{\varepsilon_i}$. Copies do it with one noise for all, since a record counts as often as
# its ε pays for. Weighted counts forget the careful. The level as a column remembers them, and the ledger says what each level loses. What a preference tells is another question.
#
# **Next:** back to the [map](00_start_here.ipynb), or to [your own data](19_your_own_data.ipynb) with a column of preferences.
