# %% [markdown]
# # 17 · Personal budgets: who gets which guarantee
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 02 composition and the ledger, 14 custom networks, 15 evaluating; 07 HPPrivBayes helps |
# | **You will be able to** | read off what one attribute or one value loses, tell a promise from an observation, choose a sensitive attribute's ε before the run, and say what the others pay for it |
# | **Paper** | C. Deng, thesis 2025, section 3.2; S. Ma et al. 2021 (PPBA, abstract); M. Hittmeir, R. Mayer, A. Ekelhart, *Efficient Bayesian Network Construction for Increased Privacy on Synthetic Data*, IEEE Big Data 2022 |
# | **ε spent** | 0 on people: Adult is a public teaching table. Each fit below *would* cost what its ledger says |

# %% [markdown]
# ## A question to start with
#
# Several of this course's papers promise *personalised* privacy: sensitive attributes get more protection. Occupation is sensitive. HPPrivBayes is told so; PrivBayes isn't. Both are strict, both
# spend ε = 1 on a whole record. HPPrivBayes (lesson 07) measures which columns go with occupation. Those are group A, and their tables get less ε than the others', group B. Who protects occupation better?

# %%
import warnings
from fractions import Fraction

import pandas as pd

import pdsynth as pds
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_17 as ex
from pdsynth.course.guess import guess

adult = pds.datasets.load_adult(coding="thesis")

# %%
def fit(seed):
    told = pds.HPPrivBayes(1.0, sensitive="occupation", random_state=seed).fit(adult.frame, schema=adult.schema)
    plain = pds.PrivBayes(1.0, random_state=seed).fit(adult.frame, schema=adult.schema)
    return {"HPPrivBayes": told, "PrivBayes": plain}

def lost():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="these attributes were to have more noise")  # one fit's is read below
        losses = [{name: float(run.ledger_.attribute_epsilon()["occupation"]) for name, run in fit(seed).items()} for seed in range(5)]
    table = pd.DataFrame(losses).T.assign(mean=lambda t: t.mean(axis=1)).round(3)
    swing = table.drop(columns="mean").loc["HPPrivBayes"]
    return swing.max() / swing.min(), table

guess("Five runs of HPPrivBayes: its largest loss of occupation is how many times its smallest?", lost, unit="times", digits=2)

# %% [markdown]
# These numbers are the ε of a change in occupation *alone*: two records that agree in everything else, in five runs. HPPrivBayes may lose less on average. But its number swings
# with the network that was drawn: nobody could have promised it. And what did the others pay? PrivBayes with a smaller ε for all loses less, too.
#
# ## A toy that you can check by hand
#
# Three tables: P(sex), P(job | sex), P(age | job), and each costs 1/3. If only my age changes, one table moves: I lose 1/3. If only my job changes, two tables move.

# %%
chain = pds.Network((("sex", ()), ("job", ("sex",)), ("age", ("job",))))
toy = pds.Schema((pds.Attribute.categorical("sex", ["f", "m"]), pds.Attribute.categorical("job", ["a", "b", "c"]), pds.Attribute.categorical("age", ["y", "o"])))
rows = pd.DataFrame({"sex": list("fmfm") * 50, "job": list("abca") * 50, "age": list("yyoo") * 50})
ledger = pds.Synthesizer(1.0, structure=chain).fit(rows, schema=toy).ledger_
loss = ledger.attribute_epsilon()
print(loss.attrs["known"], {name: str(value) for name, value in loss.items()})

# %% [markdown]
# The loss of an attribute is the sum over the ledger's entries whose answer depends on it. The last word, *before the run*, is there because I drew this network: nobody asked the
# records which table age should stand in.
#
# ## The idea, in the papers' symbols
#
# Write $\varepsilon(X)$ for the loss of attribute $X$. Sketches and selections read (nearly) everything, and a table reads its child and its parents:
#
# $$\varepsilon(X)=\underbrace{\varepsilon_0+\varepsilon_1}_{\text{if }X\text{ is asked about}}+\sum_{j:\,X\in\{X_j\}\cup\Pi_j}\varepsilon_2^{(j)}$$
#
# The papers' levers all turn the last sum. The thesis' **r** gives group A's tables less noise or more (strict: r times the ε of a table of B), and its **θ** decides who is in group
# A. PPBA's **q** ranks tables. HMPrivBayes weighs them by risk. None of them touches the first part, and none of them knows beforehand in how many tables $X$ will stand. Look at the bill:

# %%
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    told = fit(4)["HPPrivBayes"]
print("Warning:", *(w.message for w in said if "more noise" in str(w.message)))
bill = told.ledger_.to_frame()
mine = bill[bill["attributes"].str.contains("occupation")]
kind = mine["step"].str.replace(r"\(.*|parents of.*", "", regex=True).replace("", "parent sets")
mine["epsilon"].astype(float).groupby(kind).agg(["count", "sum"]).round(4)

# %% [markdown]
# The warning is about the lines of the tables alone. Those whom it names are parents in tables that have more ε, so they lose there at least what equal budgets would take.
#
# Whoever asks the records who is sensitive asks about the sensitive one, too. A secret is protected by *not being asked about*.
#
# Was it the right ones who were protected? Only those who may see the records can say. *Meant* is the ε of an attribute's own table, *lost* what the attribute loses with all else:

# %%
pds.evaluate.protection(told, adult.frame)

# %% [markdown]
# ## The library's lines
#
# **Policy in place of questions.** A custom network (lesson 14) puts the secret into one table and into no selection. Its loss is a number that you choose, before a single record is read:

# %%
parts = pds.parts
policy = parts.Greedy(restriction=pds.Restriction(target="education", sensitive="occupation"))
personal = parts.SensitivityGroups(groups={"A": ["occupation"]}, rare_values="same_noise")
groups = parts.Groups(r=0.65, personal=personal)
custom = pds.Synthesizer(1.0, structure=policy, budget=groups).fit(adult.frame, schema=adult.schema)
loss = custom.ledger_.attribute_epsilon()
print(loss.attrs["known"], "|", loss["occupation"], "of", custom.ledger_.epsilon)

# %% [markdown]
# The tables have 0.7 of ε, and the secret's one table has r/(r+13) = 1/21 of it: 1/30. The whole record is still protected with ε = 1; occupation alone with 1/30.
#
# **Alone** is the word to stumble over. Work class goes with occupation: farmers mostly work for themselves. If both change together, the tables of both move:

# %%
for together in (["occupation"], ["workclass"], ["occupation", "workclass"]):
    print(custom.ledger_.attribute_epsilon(together).astype(float).round(3).to_dict())

# %% [markdown]
# The last number bounds what is learnt about occupation *through* work class. A restriction is worth as much as the set of attributes that you put behind it: name the copies, too
# (`Restriction(target, sensitive=("occupation", "workclass"))`).
#
# **Values.** Not all values of an attribute need the same. If group B's weights are *public*, every row of a table has its own public noise, and a record's guarantee depends on the value
# that it has:

# %%
races = adult.schema["race"].labels
weights = {"race": [1 if name == "White" else 0.25 for name in races]}
network = pds.Network(tuple((name, ()) for name in adult.schema.names))
personal = parts.SensitivityGroups(groups={"A": ["occupation"]}, weights=weights, rare_values="same_noise")
by_value = parts.Groups(personal=personal)
careful = pds.Synthesizer(1.0, structure=network, budget=by_value).fit(adult.frame, schema=adult.schema)
moves = careful.ledger_.value_epsilon("race", races)
print(moves.attrs["known"])
moves.astype(float).round(4)

# %% [markdown]
# Row to column: how much it shows whether a record had the one value or the other. Between two rare values little, to or from *White* more. Weights that are computed from the records (thesis, Algorithm 6) give the same table, but only ex post. Under *published* they give nothing at all:
# the scales themselves tell the frequencies.
#
# ## The panel: the frontier
#
# The first chart has occupation's loss against the error on all *other* pairs. The green line is what you get without any personal lever: PrivBayes with less ε for everybody, its tables made to agree
# as HPPrivBayes' are. A personal method earns its name *below* that line. A filled dot is known before the run. Turn the page (›) for what each attribute loses, with occupation in orange.
#
# **What to notice**
# * *HPPrivBayes*: turn **r**. The point hardly moves to the left: in this network occupation stands in half of A's tables and in half of B's, and sketches and selections stay.
# * *HPPrivBayes, groups by policy*: no sketch for the groups, no weights. It reaches the line.
# * *PPBA*: **q** ranks tables by weight, whoever is in them.
# * *custom network, two groups*: **r** to 0.01. Occupation loses a two-thousandth of ε, and the rest doesn't notice. The price stands under *Details*: pairs *with* occupation.

# %%
from pdsynth.course import panels

panels.personal.panel()

# %% [markdown]
# ![Losses of all attributes under HPPrivBayes, and its point above PrivBayes' line](pictures/17_personal_budgets.svg)
#
# *The panel's first position, for readers without a kernel.*
#
# One run is one point. Twenty repeats of every lever, with intervals, are in `figures/frontier/README.md` (`python figures/make.py frontier`):
#
# ![Frontier of all methods: loss of occupation against error on the rest and on the pairs with it](pictures/frontier_fig1.svg)
#
# ## Your turn
#
# **1 · Predict.** A hospital must promise, in writing and before it touches the records, that *diagnosis alone* loses at most ε = 0.05. Which of these give it such a promise?
# Answer with a set of letters.
#
# * **a** A restriction by public policy: diagnosis in one table and in no selection, and that table costs 0.05.
# * **b** A large r.
# * **c** θ above every mutual information of diagnosis.
# * **d** `attribute_epsilon()`, read after the fit.
# * **e** ε = 0.05 for the whole release.
# * **f** Ten fits, of which the one whose ledger says less than 0.05 is published.

# %%
levers = None  # for example {"b", "c"}
# solution
levers = {"a", "e"}

# %%
ex.q1.check(levers)

# %% [markdown]
# **2 · Code.** `loss(tables, name)`: `tables` is a list of (names, cost), the first name being the child.

# %%
def loss(tables, name):
    ...
# solution
def loss(tables, name):
    return sum((cost for names, cost in tables if name in names), Fraction(0))

# %%
ex.q2.check(loss)

# %% [markdown]
# **3 · Find the bug.** "Rows of rare illnesses have noise of scale 24, rows of common ones 6. So a patient with a rare illness loses 2/24." What does such a patient lose in this table if the
# illness might as well have been a common one?

# %%
row = None  # a number
# solution
row = 1 / 24 + 1 / 6

# %%
ex.q3.check(row)

# %% [markdown]
# **4 · Write.** The hospital's board asks for the paragraph that patients will read (40 to 130 words): what does the promise say about *your diagnosis* at 0.05, and what doesn't
# it say? A list checks that nothing is left out; whether it makes sense you judge by the rubric that comes then. Ours shows itself when yours is written: `ex.q4.solution(letter)`.

# %%
letter = None  # your text in quotes
# solution
letter = str(ex.q4.solution("word " * 40)).removeprefix("Solution. ")  # the model answer

# %%
ex.q4.check(letter)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.
#
# ## What the papers claim, what the ledger says
#
# The thesis says that group A, the more sensitive attributes, gets stronger protection by a smaller r. For A's *own* tables that is so. Over twenty repeats
# the loss of occupation fell with r, from 0.54 (r = 3) to 0.41 (r = 1/6). One network may undo it, as the panel's first does. At the same loss PrivBayes with less ε for all serves the rest as well. PPBA's q shows no reliable effect on occupation at all: it ranks tables, not secrets. Hittmeir et al.
# claim no differential privacy. Yet their custom network is the one idea of the three that gives a secret a guarantee of its own. Here it is a
# twentieth of ε. PrivBayes with so little ε that occupation loses the same is much farther on the rest.

# %%
said = pds.Synthesizer(1.0, structure=policy).fit(adult.frame, schema=adult.schema).ledger_.attribute_epsilon()
raw = pds.HPPrivBayes(1.0, k=2, sensitive="occupation", guarantee="published").fit(adult.frame, schema=adult.schema).ledger_.attribute_epsilon()
pd.DataFrame({"custom network, strict": said, "HPPrivBayes as printed": raw}).loc[["occupation", "education", "sex"]].astype(float)

# %% [markdown]
# ## What is still not private
#
# * **The small ε is for a change in one attribute alone.** Whoever replaces a whole record sees all entries change, and loses ε. Two secrets of the same person add up.
# * **Copies.** Marital status says most of what relationship says: a diagnosis may lose 0.02, and the drug that tells it 0.99. A restriction protects the name that you wrote down, not what it
#   means; `attribute_epsilon([...])` adds up what goes together.
# * **Ex post is no promise.** A loss that was read off a network may be small because the network happened to be kind. Before the run only the total was promised, and whoever would stop unless
#   the number is small has chosen by the outcome.
# * **Unequal guarantees are visible.** That a value has less noise is public. Giving a group less protection is a decision about people, not about tables.
# * This page fixes `random_state`, so that you see what the text describes: its strict fits say NOT PRIVATE: reproducible. A release draws fresh noise.
#
# ## Summary
#
# An attribute loses what is spent on the questions that it takes part in. Levers on table budgets move a part of that; a public structure decides all of it, before the run. Values can have guarantees of
# their own where weights are public. The frontier is the honest picture: what the secret loses, what the others pay.
#
# **Next:** [18, all of them side by side](18_side_by_side.ipynb).
