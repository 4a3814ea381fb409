# %% [markdown]
# # 19 · Your own data
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 00 start here, 02 composition and the ledger, 04 PrivBayes; 18 helps to choose |
# | **You will be able to** | write a public schema for a file of yours, say why an inferred one leaks, choose ε, k and a method before you spend, release one folder with its card and know what may leave the house |
# | **Paper** | none alone; domains and bins as in J. Zhang et al., *PrivBayes*, TODS 2017, section 3, against those of Deng's thesis (2025), Table 2 |
# | **ε spent** | 0 on people: the file below is written from Adult, a public teaching table. Each fit *would* cost what its ledger says |

# %% [markdown]
# ## An attack to start with
#
# You hold a CSV file about 32,561 people. You fit nothing yet; you only let the software read off which values occur. Is that harmless?
#
# This page writes the file itself, from Adult. Pretend that it is yours and secret.

# %%
import importlib.util
import tempfile
from pathlib import Path

import pandas as pd

import pdsynth as pds
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_19 as ex
from pdsynth.course.guess import guess

folder = Path(tempfile.mkdtemp())
path = folder / "my_data.csv"
panels.own_data.example().to_csv(path, index=False)

example = pds.datasets.read_csv(path)
explored = pds.Schema.infer(example)
example.head(3)

# %% [markdown]
# Somebody suspects that a colleague from the Netherlands is in it. You show him nothing but the *domain*: here for this table, and for its neighbour, in which that one record says otherwise.

# %%
neighbour = example.assign(**{"native-country": example["native-country"].replace("Holand-Netherlands", "United-States")})

def domains():
    seen = {name: "Holand-Netherlands" in pds.Schema.infer(table)["native-country"].values for name, table in (("mine", example), ("neighbour", neighbour))}
    table = pd.Series(seen | {"largest weight, one person's own number": explored["fnlwgt"].edges[-1]}, name="in the domain").to_frame()
    return "always" if seen["mine"] and not seen["neighbour"] else "never", table

guess("From the list of values alone: how often can he tell whether the colleague is in?", domains,
      options=["never", "a little better than a coin", "always"])

# %% [markdown]
# One bit, no noise: the list of values says that this person is in the table. The upper end of `fnlwgt` even is one person's number. A schema stands in every released model, so a
# strict fit refuses one that was read off the records:

# %%
try:
    pds.PrivBayes(epsilon=1.0).fit(example, schema=explored)
except pds.PrivacyError as refusal:
    print(refusal)

# %% [markdown]
# ## A toy that you can check by hand
#
# Three patients, then three others of whom only one differs. `Schema.infer` reads:

# %%
for ages in ([34, 35, 61], [34, 35, 36]):
    print(pds.Schema.infer(pd.DataFrame({"age": ages, "ill": ["no", "no", "yes"]}))["age"].values)

# %% [markdown]
# Whatever noise comes later, "61" is out.
#
# ## The idea, in symbols
#
# Read a schema off the table $D$, and publish it with a private release $\mathcal M(D)$. If one record of $D'$ differs so that its schema is another one, then
#
# $$\Pr[\text{this schema}\mid D]=1,\qquad \Pr[\text{this schema}\mid D']=0,$$
#
# and no $e^{\varepsilon}$ lies between one and zero. If the schema is fixed *before* anybody looks, it is the same for $D$ and $D'$, and ε is all there is. The guarantee is about one **record**. A person with
# $m$ records is $m$ steps away:
#
# $$\Pr[\mathcal M(D)\in E]\;\le\;e^{m\varepsilon}\,\Pr[\mathcal M(D')\in E].$$
#
# ## Write the schema
#
# Take the questionnaire, the codebook, the law: whatever was there before the first record.
#
# | in your file | what to do | |
# |---|---|---|
# | number | public ends, equal bins | `Attribute.numeric(name, low, high, bins=16, integer=True)` |
# | amount with many zeros | edges of a tariff or a tax table | `Attribute.binned(name, [0, 1, 5000, …])` |
# | code | **all** of the codebook, also what nobody has; or its first signs | `Attribute.categorical(name, […], prefix=3)` |
# | cell that people may skip | declare it | `missing=True` |
# | several answers in a cell | one column each | `column="tools", between=",", holds="R"` |
# | rare value | fold by a public list (country → continent), never by counts | one category less |
# | date, time | year, month, week, weekday, hour or age | `Attribute.numeric("born", 17, 90, date="age", on="2020-01-01")` |
# | open list, other spellings or words for "empty" | say so | `other="elsewhere"`, `mapping={"1": "yes"}`, `na_values=["?"]` |
# | id, name, address, free text | no finite public domain: leave it out | |
# | survey weight, twin column | no fact of the person | leave it out |

# %%
A, book = pds.Attribute, pds.datasets.load_adult().schema  # UCI's documentation; yours is on paper
jobs = [job for job in book["occupation"].values if job != "?"]

schema = pds.Schema((
    A.numeric("age", 17, 90, bins=16, integer=True),
    book["education"],
    book["marital-status"],
    A.categorical("occupation", jobs, missing=True),
    book["sex"],
    A.numeric("hours-per-week", 1, 99, bins=14, integer=True),
    A.binned("capital-gain", [0, 1, 5000, 10000, 20000, 99999], integer=True),
    A.categorical("native-country", ["United-States", "elsewhere"], missing=True),
    book["salary"],
), left_out={"id": "identifier", "fnlwgt": "survey weight"})  # fmt: skip
schema

# %% [markdown]
# Reading *with* the schema takes the declared columns only: id and weight never reach the table. What is still to be folded is folded record by record, so that one person changes one row.

# %%
def folded(frame):
    home = frame["native-country"]
    return frame.assign(**{"native-country": home.where(home.isna() | (home == "United-States"), "elsewhere")})


mine = folded(pds.datasets.read_csv(path, schema))
n = len(mine)
schema.encode(mine).shape

# %% [markdown]
# Files are seldom so tidy. Each of these is refused before anything is spent, and the message says what to do. None of them shows a value of your records; `schema.problems(frame, examples=3)` does, for
# you alone.

# %%
for content in (b"", b"34,f\n61,m\n34,m\n", b"age\n34\n", b"# form B\nage,sex\n34,f\n", b"age,sex\n34\n"):
    try:
        pds.datasets.read_csv(content)
    except pds.SchemaError as refusal:
        print("-", refusal)
try:
    pds.PrivBayes(1.0).fit(mine.assign(age=mine["age"] + 10), schema=schema)
except pds.SchemaError as refusal:
    print("-", refusal)

# %% [markdown]
# A constant column is *not* refused: whether it is constant is a secret of the records.
#
# ### More than one record a person
#
# Visits, orders, measurements: with up to $m$ rows a person, ε a row is $m\varepsilon$ a person. Three ways out, best first. Make **one row a person**: the last visit, or a count, computed on each
# person alone. Or **cap** the rows of a person at a small public $m$ and fit with `records_per_person=m`: all noise is $m$ times larger then, and the ledger says so. Or say openly that
# you protect visits, not people.
#
# ## Before you spend
#
# ε, k and the method follow from n and the schema, so this costs nothing (lesson 18). The plan ends with the method to run and the distance to expect. How much noise is in a table with one parent, against a mean cell? Below ¼ it is useful, above 1 it is noise.

# %%
print(pds.plan(schema, n, epsilon=1.0), "\n")
grid = {e: {rows: pds.plan(schema, rows, e).table["noise ÷ mean cell"][1] for rows in (150, 1500, 15_000, n)} for e in (0.1, 0.5, 1, 2)}
pd.DataFrame(grid).rename_axis("records").rename_axis("ε", axis=1).round(2)

# %% [markdown]
# The way back starts from the distance that is wanted: which ε does it take? Where no ε up to 10 does, the plan says so.
# `panels.way_back.panel()` in a new cell moves both directions.

# %%
print(pds.plan(schema, n, distance=0.1))

# %% [markdown]
# ![The expected distance by ε, with a mark for an ε of one's choice and one for a distance of one's choice](pictures/19_the_way_back.svg)
#
# *Adult's 48,842 people.*
#
# The table's lines of 150 and 1,500 records are the honest answer for many files: **too small**. Then coarsen bins, drop columns, publish single columns (`pds.baselines.Independent`), or don't publish. A larger ε isn't on
# this list.
#
# One more edge has its price, too. What it would bring is read off a *public* table; here, the third of Adult that isn't in your file.

# %%
public = folded(pds.datasets.load_adult().test.replace("?", None)[list(schema.names)])
drawn = pds.Network.from_edges(schema.names, [("age", "marital-status"), ("education", "occupation"), ("occupation", "salary")])
for edge in (("sex", "occupation"), ("native-country", "salary")):
    print(pds.plan(schema, n, 0.7).price(drawn, edge, reference=public), "\n")

# %% [markdown]
# No public edges for a number? Then each fit chooses them for a part of its ε, between 2^14 equal cells at most. A cell that many records share stands alone: no gain lies in 0–6. One line of the ledger a column pays.

# %%
gain = A.numeric("capital-gain", 0, 99_999, bins="private", number=8, integer=True)
own = pds.Schema((gain, book["sex"], book["salary"]))
chosen = pds.ConsistentBayes(1.0).fit(mine[list(own.names)], schema=own)
print(chosen.schema_["capital-gain"].values)
chosen.ledger_

# %% [markdown]
# Live: `panels.private_bins.panel()`.
#
# ![People up to each capital gain: real ones, in equal bins, and in private bins](pictures/19_private_bins.svg)
#
# ## The panel: your file, your declaration
#
# The example stands there; **Your CSV file** loads another (without a header? Fill in **Column names** first). Edit the text, one line a column, and leave the box. The panel reads header and n of the file, nothing else. The charts above the text follow
# from these, your declaration and the sliders.
#
# **What to notice**
# * *native-country* is still open. Write `United-States | elsewhere + missing`, and see it join. Then list ten places instead: the largest useful k falls from 2 to 1, for *all* columns.
# * Move **bins** to 4: every column is useful now. It does for education what doubling ε would do, and nobody pays.
# * **records** = 4: the same promise to a person with four visits. A fit may spend a quarter, and k falls.
# * **domains**, *exploring*: the text is now a draft read off the records, with the countries that many come from. The panel says who will refuse it.
# * Write nonsense, or load a spreadsheet: the message stands below, the last figure stays.
# * Under the figure stands your schema as a **file**, in the form in which it is reviewed and kept. It has one line a column, in quotes, or in braces with more (`other`, `date`, `na_values`). A line of the text
#   may be in braces, too. Comments are yours and stay; `pds.datasets.outline` writes a draft of such a file.

# %%
from pdsynth.course import panels

live = panels.own_data.panel()
live

# %% [markdown]
# ![Noise over mean cell of each column's table, and of a typical table by k, for the example at ε = 1](pictures/19_your_own_data.svg)
#
# *The panel's first position, for readers without a kernel.*
#
# ## The file form, and the door
#
# From here on the lesson goes on with **what stands in the panel**: your file and your declaration, if you loaded one (then run the cells below again). `Schema.read` takes a file only as public once no
# line is open or says `public = false`; `problems` lists all that the records hold and the schema doesn't, at once, as counts.

# %%
schema, mine = live.form.schema(), live.form.records()
schema.write(folder / "schema.toml")
print((folder / "schema.toml").read_text(encoding="utf-8"))
schema = pds.Schema.read(folder / "schema.toml")
n = len(mine)
schema.problems(mine)

# %% [markdown]
# ## Fit, once
#
# No seed, and for a release OpenDP's hardened samplers where they are installed. The session is the account of these people, for all releases: its file stands beside the data, and each fit is
# charged there before noise is drawn (lesson 02).

# %%
noise = "opendp" if importlib.util.find_spec("opendp") else "exact"  # pip install "pdsynth[secure]"
account = pds.Session(2, folder / "account.jsonl")
method = pds.plan(schema, n, epsilon=1.0).synthesizer(noise=noise)  # the recommended one, by public facts alone
synth = method.fit(mine, schema=schema, session=account)
print(account)
synth.ledger_

# %% [markdown]
# Save the model, and look at what you would give away, not at what you remember. The gate is mechanical: every entry must be true.

# %%
synth.model_.to_json(folder / "release.json")
release = pds.Model.from_json(folder / "release.json")
fake = release.sample()  # rows are dealt out in proportion: less chance than rows drawn one by one, for nothing
{"private": release.private, "no broken rule": release.check() == [], "no note": release.ledger.notes == [],
 "domain is public": release.schema.source == "public", "unaccounted": release.ledger.unaccounted == []}  # fmt: skip

# %% [markdown]
# ## The folder and its card
#
# What may leave the house goes into one folder, whole or not at all: table, model, ledger, schema, and a **release card**, one page for whoever must answer for it. Read it as that person: for whom does the
# promise hold, how strong is it, what isn't promised?

# %%
from IPython.display import Markdown

place = folder / f"release-{len(account.charges)}"  # one for each charge
if not place.exists():
    pds.datasets.write_release(synth.model_, place, title="My table", session=account)
print(*sorted(path.name for path in place.iterdir()))
Markdown((place / "card.md").read_text(encoding="utf-8"))

# %% [markdown]
# From a terminal, without Python code: `python -m pdsynth outline data.csv --out schema.toml`, your review, then `plan`,
# `release … --epsilon 1 --out release --session account.jsonl --session-epsilon 2`, and `report`.
#
# Now evaluate, on *your* side of the wall. The report has no noise: it stays in the house. How near is the release, beside single columns at the same ε and
# two halves of the real table?

# %%
page = pds.evaluate.report(mine, fake, schema, epsilon=1.0)
print(*page.verdict, sep="\n")
print("seeded twin:", pds.PrivBayes(1.0, random_state=19).fit(mine, schema=schema).ledger_.verdict())

# %% [markdown]
# | may leave the house | stays |
# |---|---|
# | the folder `release`: table, model, ledger, schema, card | distances, accuracies, plots against the real table |
# | any number of samples from it | every run with a `random_state` or `noise="common"`: others can draw that noise and subtract it |
# | the code, ε, k, the plan, and how ε was chosen | inferred schemas, error messages, this notebook *with its outputs* |
# | what the neighbours are: one record of n | a second fit that was "better": it cost ε again, and choosing it is a look at the records |
#
# ## Your turn
#
# **1 · Predict.** A clinic's table holds visits; nobody has more than 4. A strict fit spends ε = 0.6. What may a *person* lose? And what may a fit spend so that nobody loses more than 1?

# %%
loss, share = None, None
# solution
loss, share = 4 * 0.6, 1 / 4

# %%
ex.q1.check(loss, share)

# %% [markdown]
# **2 · Code.** Its codebook: *visit*, running number · *age*, 0 to 120 whole years · *smoker*, yes or no, may be left empty · *ward*, 1 to 5 · *remark*, free text. Write `clinic()`, which returns the
# public schema: the codebook's values and no others.

# %%
def clinic():
    ...
# solution
def clinic():
    return pds.Schema((
        A.numeric("age", 0, 120, bins=12, integer=True),
        A.categorical("smoker", ["yes", "no"], missing=True),
        A.categorical("ward", range(1, 6)),
    ))  # fmt: skip

# %%
ex.q2.check(clinic)

# %% [markdown]
# **3 · Find the bugs.** The ledger of this release says ε, to the last digit. Which lines leak all the same? Answer with a set of names.
#
# ```python
# def release(frame, epsilon):
#     frame = frame.sample(frac=1)  # "shuffle"
#     frame = frame.drop(columns="id")  # "drop"
#     frame["age"] = frame["age"].clip(0, 120)  # "clip"
#     often = frame["diagnosis"].map(frame["diagnosis"].value_counts()) >= 5
#     frame["diagnosis"] = frame["diagnosis"].where(often, "other")  # "rare"
#     schema = pds.Schema.infer(frame).declare_public()  # "schema"
#     synth = pds.PrivBayes(epsilon, noise="opendp")
#     return synth.fit(frame, schema=schema).model_  # "fit"
# ```

# %%
leaks = None  # for example {"drop", "clip"}
# solution
leaks = {"rare", "schema"}

# %%
ex.q3.check(leaks)

# %% [markdown]
# **4 · Write.** The city has released a synthetic table of its survey at ε = 1. Write the privacy paragraph for the press (60 to 160 words): what was published, what one person's answer can
# change and by how much, what nobody is protected from. A list checks that nothing is left out; whether it makes sense you judge by the rubric that comes then. Ours shows itself when
# yours is written: `ex.q4.solution(paragraph)`.

# %%
paragraph = None  # your text in quotes
# solution
paragraph = str(ex.q4.solution("word " * 60)).removeprefix("Solution. ")  # the model answer

# %%
ex.q4.check(paragraph)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.
#
# ## What the papers claim, what the ledger says
#
# PrivBayes takes domains as given. The thesis bins Adult with k-means *on Adult's own records* and claims ε for what follows. The ledger knows the difference only if nobody lies to it:

# %%
told = pds.PrivBayes(1.0, k=1).fit(mine, schema=pds.Schema.infer(mine).declare_public())
honest = pds.PrivBayes(1.0, k=1, guarantee="published").fit(mine, schema=pds.Schema.infer(mine))
print(told.ledger_.verdict(), honest.ledger_.verdict(), sep="\n")

# %% [markdown]
# `declare_public()` is your signature, not a switch. DataSynthesizer, a well-known tool, reads domains, minima, maxima and missing rates off the records and has no such line; the bug zoo of lesson 16
# catches both.
#
# ## What is still not private
#
# * **n**, the column names and the schema itself. If being in the file is the secret, its name tells.
# * **What is true of many**, and what others' records say of you: no noise hides that smokers are ill more often.
# * **The next release.** A ledger knows one run, a session all that are charged to it, and neither knows the other department's.
# * **Households.** The rows of a family are related; ε speaks of one row, $m\varepsilon$ of $m$ of them.
# * A seeded fit says NOT PRIVATE: reproducible. A `random_state` is for lessons and tests, never for a release; `to_json` refuses such a model unless you allow it by name.
#
# ## Summary: the card
#
# 1. Who is a *person* here, and how many rows has she at most?
# 2. Drop ids, names, texts, weights, twins.
# 3. Write the schema from paper. No `infer`, no count, no look.
# 4. ε from what a person can accept, divided by her rows.
# 5. `pds.plan`: useful? If not, coarsen or stop.
# 6. The method that the plan names, and your policy. Don't try several.
# 7. Fit once: strict, no seed, `noise="opendp"`, charged to the session of these people.
# 8. Gate all true? Write the release, read its card; keep the session's file.
# 9. Evaluate inside. Publish the folder and the code; nothing else.
#
# **Next:** your table. [20, the world outside](20_the_world_outside.ipynb), says where this course stops; the [map](00_start_here.ipynb) leads back to any lesson, and `PROMISE.md` has the privacy promise on one page.
