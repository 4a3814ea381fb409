# %% [markdown]
# # 20 · The world outside: (ε, δ), Gaussian noise, zCDP, local privacy
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 01 mechanisms, 02 composition; 16 auditing helps |
# | **You will be able to** | say what δ permits, compute Gaussian noise for (ε, δ), add up budgets in zCDP, compare them with pure ε and with local privacy, and say why this course stops where it does |
# | **Paper** | S. Warner, JASA 1965; C. Dwork et al., *Our Data, Ourselves*, EUROCRYPT 2006; M. Bun and T. Steinke, TCC 2016; B. Balle and Y.-X. Wang, ICML 2018; C. Canonne, G. Kamath and T. Steinke, *The Discrete Gaussian for Differential Privacy*, 2020 |
# | **ε spent** | 0 on people: Adult is a public teaching table, and most of this page needs no table at all |

# %% [markdown]
# ## An attack to start with
#
# Most of the world promises less than this course: **(ε, δ)-differential privacy**. For neighbours $D$, $D'$ and any event $E$,
#
# $$\Pr[\mathcal M(D)\in E]\;\le\;e^{\varepsilon}\,\Pr[\mathcal M(D')\in E]+\delta.$$
#
# δ is a small chance that anything may happen. How small is small? Here is an algorithm with ε = 0. It goes through the table. For each person it throws a
# die that shows 1 with probability δ, and then prints the person's whole record, name and all. Nobody is printed with more than probability δ, so the promise holds.
# Take 45,222 people and δ = 1/45,222, "one in the whole table".

# %%
import math

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_20 as ex
from pdsynth.course.guess import guess

people, rng = 45_222, np.random.default_rng(20)

# %%
def name_and_shame():
    printed = rng.random((400, people)) < 1 / people  # 400 releases
    somebody = 100 * printed.any(axis=1).mean()
    table = {f"δ = {delta:.0e}": 100 * -math.expm1(people * math.log1p(-delta)) for delta in (1 / people, 1e-6, 1e-9)}
    return somebody, pd.Series(table, name="of 100 releases name somebody").round(4).to_frame()

guess("In how many of 100 such releases is somebody's whole record printed?", name_and_shame, unit="of 100", digits=2)

# %% [markdown]
# A δ near one over the number of people allows a disaster in most releases. So δ must be *far* below that: $10^{-9}$ is usual. It is not a second ε. Pure ε has $\delta=0$: no disaster,
# ever.
#
# ## A toy that you can check by hand
#
# Why would anybody want δ? Publish a hundred counts of the same people. One replaced record may move each of them by 1. Write Δ for how far all answers move together.
# Laplace noise must cover the *sum* of the moves, $\Delta=100$. Gaussian noise must cover their *Euclidean length*, $\Delta=\sqrt{1^2+\dots+1^2}=10$.

# %%
moves = np.ones(100)
print("in sum:", np.abs(moves).sum(), " Euclidean:", np.linalg.norm(moves))

# %% [markdown]
# The bell has thin tails, so no ε bounds its ratios everywhere. Far out, one world is more likely by any factor you like. δ forgives what lies out there.
#
# ## The idea, in symbols
#
# **Gaussian mechanism.** Add noise with standard deviation σ to each answer. With $\Phi$, the standard normal distribution function, it is (ε, δ)-private exactly if
# (Balle and Wang, 2018)
#
# $$\Phi\Big(\frac{\Delta}{2\sigma}-\frac{\varepsilon\sigma}{\Delta}\Big)-e^{\varepsilon}\,\Phi\Big(-\frac{\Delta}{2\sigma}-\frac{\varepsilon\sigma}{\Delta}\Big)\le\delta.$$

# %%
outside = panels.outside  # the formulas of this page, each a few lines with its source

def noise():
    laplace, gauss = math.sqrt(2) * 100, 10 * outside.gaussian_sigma(1.0, 1e-9)
    table = pd.Series({"Laplace, pure ε = 1": laplace, "Gaussian, ε = 1, δ = 1e-9": gauss}, name="standard deviation, people")
    return laplace / gauss, table.round(1).to_frame()

guess("A hundred counts, ε = 1 in all, δ = 1e-9. How many times as large is Laplace noise as Gaussian?", noise, unit="times", digits=2)

# %% [markdown]
# And for one histogram, which moves two cells only? There the sum is 2 and the length $\sqrt2$. Now Gaussian noise is the larger one, and δ comes on top:

# %%
pd.Series({"Laplace, pure ε = 1": math.sqrt(2) * 2, "Gaussian, δ = 1e-9": math.sqrt(2) * outside.gaussian_sigma(1.0, 1e-9)}, name="one histogram").round(2).to_frame()

# %% [markdown]
# **zCDP.** Adding up (ε, δ) is awkward. *Zero-concentrated* differential privacy (Bun and Steinke, 2016) has one number ρ that simply adds up. Gaussian noise costs
# $\rho=\Delta^2/2\sigma^2$, and a pure ε costs at most $\varepsilon^2/2$. At the end ρ is turned into (ε, δ), once:
#
# $$\varepsilon=\min_{\lambda>1}\;\rho\lambda+\frac{\ln\frac1{\lambda\delta}+(\lambda-1)\ln(1-\frac1\lambda)}{\lambda-1}.$$
#
# This is the conversion of Canonne, Kamath and Steinke (2020), as the library's ledger computes it; an older and larger bound is $\rho+2\sqrt{\rho\ln(1/\delta)}$.

# %%
rows = {rho: {"older bound": rho + 2 * math.sqrt(rho * math.log(1e9)), "CKS 2020": outside.zcdp_epsilon(rho, 1e-9)} for rho in (0.001, 0.01, 0.1, 1.0, 2.56)}
pd.DataFrame(rows).T.rename_axis("ρ").round(3)

# %% [markdown]
# The last ρ is in use: the 2020 US census spent ρ = 2.56 on the persons of its redistricting data, an ε of about 17. Large ε in public life are not rare.
#
# **Local privacy.** All of this trusts a curator. *Randomised response* (Warner, 1965) trusts nobody: each person says the truth with probability $e^{\varepsilon}/(1+e^{\varepsilon})$, and else
# lies, on their own device. No raw record is ever collected. How many people earn more than 50K, at ε = 1?

# %%
adult = pds.datasets.load_adult(complete=True)
rich = (adult.frame["salary"] == ">50K").to_numpy()

def local(epsilon=1.0):
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    said = np.where(rng.random((200, len(rich))) < truth, rich, ~rich).sum(axis=1)
    estimates = (said - len(rich) * (1 - truth)) / (2 * truth - 1)
    table = pd.Series({"truth": rich.sum(), "spread, measured": estimates.std(), "spread, formula": outside.response_deviation(epsilon, len(rich)),
                       "spread of a curator's Laplace noise": math.sqrt(2) / epsilon})
    return table.iloc[1], table.round(1).to_frame("people")

guess("By how many people is the estimate typically off?", local, unit="people", digits=2)

# %% [markdown]
# The spread grows with the root of the number of people, while a curator's doesn't grow at all. That is the price of trusting nobody. Browsers and phones can pay it, since they
# have millions of users. A table of fifteen columns and a few thousand rows can't.
#
# ## The panel: which promise needs which noise
#
# First the noise of each count, by how many counts are asked of the same people. The dots stand at **ℓ**, the number of counts. Then the δ that goes with each
# bound on the loss: pure ε needs none from ε on, the bell needs some everywhere.
#
# **What to notice**
# * One count: Laplace needs less noise than Gaussian, and promises more. Raise **ℓ** until the lines cross.
# * Lower **δ** (move **zeros of δ** up): Gaussian noise grows slowly, since only the logarithm of δ counts.
# * Gaussian noise calibrated exactly, and through zCDP: almost one line. The detour costs little and adds up easily.
# * One count, and **ε** raised to 4: the local line falls fastest. Local privacy lives on large ε.

# %%
from pdsynth.course import panels

panels.outside.panel()

# %% [markdown]
# ![Noise of each count by the number of counts under four promises, and the δ that each bound on the loss needs](pictures/20_the_world_outside.svg)
#
# *The panel's first position, for readers without a kernel.*
#
# ## Your turn
#
# **1 · Predict.** A hundred counts of the same people; neighbours replace one record, which may move every count by 1. How long, in Euclidean length, is the largest change?

# %%
length = None  # your number
# solution
length = 10

# %%
ex.q1.check(length)

# %% [markdown]
# **2 · Code.** Write `epsilon_of(rho, delta)`: the older conversion, $\rho+2\sqrt{\rho\ln(1/\delta)}$.

# %%
def epsilon_of(rho, delta):
    ...
# solution
def epsilon_of(rho, delta):
    return rho + 2 * np.sqrt(rho * np.log(1 / delta))

# %%
ex.q2.check(epsilon_of)

# %% [markdown]
# **3 · Find the bugs.** Fourteen histograms of the same people, and a label that says ρ. A record may be replaced. How many times ρ is really spent?

# %%
def release(tables, rho, rng):
    sigma = math.sqrt(1 / (2 * rho))  # "sensitivity 1"
    return [table + rng.normal(scale=sigma, size=table.shape) for table in tables]

# %%
factor = None  # your number
# solution
factor = 14 * 2

# %%
ex.q3.check(factor)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.
#
# ## What others claim, what our ledger says
#
# The ledger of a run in pure ε adds fractions of ε. It has no line for Gaussian noise, and its rules refuse a mechanism that they don't know. That is a choice, with a price and a reason.
#
# One method can do both. `ConsistentBayes(1, delta=1e-9)` takes the same steps with *discrete* Gaussian noise. Its ledger counts ρ in exact fractions, converts once, and says in every
# verdict that it isn't pure. A mixed account is refused: ε and ρ never stand in one sum.

# %%
from fractions import Fraction

book = pds.Ledger(Fraction(1), "strict")
book.write("mechanism", "fourteen histograms", mechanism="gaussian", inputs=("raw:D",), sensitivity=Fraction(2), scale=Fraction(28), epsilon=Fraction(1, 14), claimed=Fraction(1, 14))
book.check()

# %%
runs = {"pure, ε = 1": pds.ConsistentBayes(1), "(ε, δ) = (1, 1e-9)": pds.ConsistentBayes(1, delta=1e-9)}
for run in runs.values():
    run.fit(adult.frame, adult.schema)

def compare_promises():
    tables = {name: run.sample() for name, run in runs.items()}
    distances = {name: pds.evaluate.marginal_distances(adult.frame, table, adult.schema, 2).mean() for name, table in tables.items()}
    pure, gauss = distances.values()
    return pure / gauss, pd.Series(distances, name="mean distance of pairs").round(4).to_frame()

guess("Adult at ε = 1: how many times as far from the real pairs is the table in pure ε?", compare_promises, unit="times", digits=2)

# %% [markdown]
# What a δ would buy, the plan says before anybody spends anything. Where it buys little, the plan names pure ε, which promises more.

# %%
print(pds.plan(adult.schema, len(adult.frame), 1.0, delta=1e-9))

# %% [markdown]
# And what was paid for it. In this ledger's `discrete_gaussian` lines *sensitivity* is $\Delta^2$ (2 for a table, two cells of which move by 1) and *scale* is $\sigma^2$, so each costs ρ = sensitivity ÷ (2 · scale).
# A choice's *scale* is the ε of its exponent, and it costs $\rho=\varepsilon^2/8$.

# %%
runs["(ε, δ) = (1, 1e-9)"].ledger_

# %% [markdown]
# | | this course: pure ε | many others: (ε, δ), zCDP |
# |---|---|---|
# | promise | no event, ever, beyond $e^\varepsilon$ | beyond it with probability δ |
# | account | exact fractions of ε | exact fractions of ρ, if one takes care, and one conversion |
# | few answers, histograms | less noise | more |
# | hundreds of answers | noise grows with their number | with its root |
# | who | the papers of this course that claim privacy | OpenDP's MST, the US census, learning with private gradients |
#
# Where the papers of this course claim privacy, they claim pure ε. To test their claims one must stay where they stand. Whoever starts afresh, with a table of many columns, should look at both sides. On Adult at ε = 1,
# `ConsistentBayes` in pure ε is nearer than OpenDP's MST with a δ, which neither needs (the main picture of `figures/README.md`). With hundreds of small answers, Gaussian noise wins.
#
# ## What is still not private
#
# * **δ, once it happens.** It says how likely the disaster is, not how large. Gaussian noise fails gracefully, name-and-shame doesn't; both are (ε, δ).
# * **A comparison of two ε.** ε = 1 with δ = $10^{-5}$ and ε = 1 with δ = 0 are two promises. So are ε for a replaced and for an added record, for a row and for a person. Compare like with like.
# * **Local answers, many times.** A phone that answers every day at ε = 1 spends 30 a month. Read the small print for "per day".
# * **Doubles.** Gaussian noise from a textbook sampler leaks through its last bits, as Laplace does (lesson 16). That is what the *discrete* Gaussian is for.
#
# ## Summary
#
# δ is a chance of failure, and must lie far below one over the number of people. It buys Gaussian noise, which follows the Euclidean length of a change, and so wins where many answers are asked. zCDP is the account
# in which such noise adds up. Local privacy needs no curator, and pays with the root of the number of people. This course stays with pure ε: its papers promise privacy in it, a single histogram has less noise by it, and an exact sum can be checked by anybody. Whoever asks for dozens of tables, as `ConsistentBayes` does, pays for it in distance.
#
# **Next:** back to the [map](00_start_here.ipynb), to [21, your ε is your own](21_your_epsilon_is_your_own.ipynb), or to [your own data](19_your_own_data.ipynb).
