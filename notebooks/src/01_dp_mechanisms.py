# %% [markdown]
# # 01 · DP mechanisms: noise with a promise
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 00 start here |
# | **You will be able to** | find the sensitivity of a question, choose the noise for it, pick a winner privately, and recognise noise that doesn't protect |
# | **Paper** | thesis section 2, Definitions 1–5; C. Dwork et al., TCC 2006; F. McSherry and K. Talwar, FOCS 2007; C. Canonne, G. Kamath and T. Steinke, 2020 |
# | **ε spent** | 0 on people: Adult is a public teaching table. Each release below *would* cost what the text says |

# %% [markdown]
# ## An attack to start with
#
# A statistics office answers any question about how many of its people earn more than 50K, exactly. You know everything about person 0
# except the pay. Two innocent questions are enough: *how many of all?* and *how many of all but the first row?*

# %%
from fractions import Fraction

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.answers.laws import discrete_laplace_pmf
from pdsynth.core.noise import ExactNoise, Quantity, exponential_mechanism, laplace_mechanism
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_01 as ex
from pdsynth.course.guess import guess

complete = pds.datasets.load_adult(complete=True)
rich = complete.frame["salary"] == ">50K"
print(f"all {rich.sum():,}, all but one {rich[1:].sum():,}: person 0 earns {'more' if rich.sum() > rich[1:].sum() else 'at most'} 50K")

# %% [markdown]
# No name, no row, no small group was published. How much noise does it take, and of which shape?
#
# ## A toy that you can check by hand
#
# Two tables of three people, $D$ with 2 yes and its **neighbour** $D'$, in which one record is replaced, with 1 yes. We publish the
# count plus noise, a whole number. Each step away from zero is half as likely: $\Pr[0]=\tfrac13$, $\Pr[1]=\Pr[-1]=\tfrac16$, $\Pr[2]=\Pr[-2]=\tfrac1{12}$, …
#
# Which outputs are likelier under $D$, which under $D'$, and by what factor?

# %%
def pmf(z):
    return Fraction(1, 3) / 2 ** abs(z)

def factors():
    outputs = range(-1, 5)
    toy = pd.DataFrame({"under D": [pmf(s - 2) for s in outputs], "under D'": [pmf(s - 1) for s in outputs]}, index=outputs)
    toy["ratio"] = toy["under D"] / toy["under D'"]
    return toy["ratio"].max(), toy.rename_axis("output").T

guess("By what factor can an output be likelier under D than under D'?", factors, unit="times")

# %% [markdown]
# Look along the last row of the answer. Whatever comes out, it shifts the odds between $D$ and $D'$ by the same factor, one way or the other. That factor
# is $e^\varepsilon$: the release is ε-differentially private with this ε, and with no smaller one.
#
# ## The idea, in the paper's symbols
#
# The promise of lesson 00, word for word: a mechanism $\mathcal M$ is ε-differentially private if for all neighbours and every event $E$, a set of outputs,
#
# $$\Pr[\mathcal M(D)\in E]\;\le\;e^{\varepsilon}\,\Pr[\mathcal M(D')\in E].$$
#
# **Neighbours** differ in one record that is *replaced*; the number of records is public (thesis, Definition 1). The **sensitivity** of a
# question is the most by which its answer can move between neighbours, all moves added up. The answer to "how many said yes?" moves by 1 at most. A
# **histogram** holds many counts: every record stands in one of its cells.

# %%
def moved():
    before = pd.Series(["teacher", "teacher", "farmer"])
    after = pd.Series(["teacher", "doctor", "farmer"])
    both = pd.DataFrame({"D": before.value_counts(), "D'": after.value_counts()}).fillna(0).astype(int)
    return (both["D"] - both["D'"]).abs().sum(), both.T

guess("What is the sensitivity of a histogram of occupation?", moved, unit="people in all")

# %% [markdown]
# However many cells there are, a replaced record leaves one and enters another. In symbols (Definition 2): $\Delta f=\max\lVert f(D)-f(D')\rVert_1$ for a question
# $f$, the maximum taken over all neighbours.
#
# **Laplace mechanism** (Definition 3): publish the answer $f(D)$ plus Laplace noise of the scale $\Delta f/\varepsilon$.

# %%
guess("Which scale does the noise of that histogram need at ε = ½?", lambda: moved()[0] / 0.5, unit="people, the scale")

# %% [markdown]
# Call the scale $b$. For counts we use the *discrete* Laplace law: the whole number $z$ has the probability
# $\tanh\!\big(\tfrac1{2b}\big)\,e^{-|z|/b}$. The toy's noise is this law too. Every step away from zero costs it half, so $e^{-1/b}=\tfrac12$:

# %%
def fit_toy():
    b = 1 / np.log(2)
    return b, pd.DataFrame({"toy": [float(pmf(z)) for z in range(4)], "discrete Laplace": discrete_laplace_pmf(np.arange(4), b)}).T

guess("Which scale has the toy's noise?", fit_toy, unit="people")

# %% [markdown]
# Why whole numbers? The textbook recipe turns a random double into Laplace noise; its rounding leaves gaps, and which outputs are reachable
# depends on the true count (Mironov, 2012). Integer noise drawn with integer arithmetic has no gaps to look through.
#
# **Exponential mechanism** (Definition 5): to choose a *thing* $o$ by a score $u(D,o)$, draw it with probability $\propto e^{\varepsilon u(D,o)/2\Delta u}$.
# The 2 is there because a replaced record may raise one score *and* lower all others, the normaliser included.
#
# ## The library's few lines
#
# A noisy histogram of occupation at ε = ½. The scale is a fraction, so that the ledger can add up exactly.

# %%
counts = complete.frame["occupation"].value_counts().reindex(complete.schema["occupation"].values, fill_value=0)
scale = Fraction(2) / Fraction(1, 2)
noisy = laplace_mechanism(counts.to_numpy(), scale, ExactNoise())
pd.DataFrame({"real": counts, "released": noisy, "error": noisy - counts}).T

# %% [markdown]
# And the commonest occupation among the first 200 people, chosen privately at ε = ½. Scores and sensitivity carry their unit; if
# the two differ, the mechanism refuses.

# %%
few = complete.frame["occupation"].head(200).value_counts().reindex(counts.index, fill_value=0)
scores, one_person = Quantity(few.to_numpy(), "people"), Quantity(1, "people")
chosen = [few.index[exponential_mechanism(scores, one_person, Fraction(1, 2), ExactNoise())] for _ in range(8)]
print("really:", few.idxmax(), "| chosen in 8 runs:", pd.Series(chosen).value_counts().to_dict())
try:
    exponential_mechanism(Quantity(few.to_numpy(), "bits"), Quantity(1, "nats"), Fraction(1, 2), ExactNoise())
except pds.PrivacyError as refusal:
    print(refusal)

# %% [markdown]
# ## The panel: two worlds and a band
#
# First the law of the noisy count of the commonest value, then the chance of each value to be *named* the commonest. Both show the
# real table D (grey) and its neighbour D′ (orange), in which one person moved from the first value to the second. The band is what ε allows.
#
# **What to notice**
# * With noise × 1 the orange diamonds of the count sit exactly on the edge of the band: the discrete Laplace law wastes nothing.
# * Move **noise** below 1: red crosses. The same picture, the same ε on the label, and no longer the promise.
# * Raise **people asked**: the choice becomes almost certain at the same ε, because the gap between the counts grows and the sensitivity
#   doesn't. Privacy gets cheaper with more people.
# * Lower **ε** to 0.1: the two worlds become one, and the right answer is no longer likely.

# %%
from pdsynth.course import panels

panels.mechanisms.panel()

# %% [markdown]
# ![Both mechanisms on two neighbouring tables at ε = 1](pictures/01_dp_mechanisms.svg)
#
# *The panel's first position, for readers without a kernel. Probabilities below one in ten thousand are not shown.*
#
# ## Your turn
#
# **1 · Predict.** A joint histogram of age × sex × occupation, all cells, at ε = 1/4. Which scale does each cell's noise need, in people?

# %%
cell_scale = None  # your number
# solution
cell_scale = 2 / Fraction(1, 4)

# %%
ex.q1.check(cell_scale)

# %% [markdown]
# **2 · Code.** Write `choose(scores, sensitivity, epsilon)`: the probabilities of the exponential mechanism as an array. Scores may be in the
# thousands, so subtract the largest before you exponentiate.

# %%
def choose(scores, sensitivity, epsilon):
    ...
# solution
def choose(scores, sensitivity, epsilon):
    scores = np.asarray(scores, dtype=float)
    weights = np.exp(epsilon * (scores - scores.max()) / (2 * sensitivity))
    return weights / weights.sum()

# %%
ex.q2.check(choose)

# %% [markdown]
# **3 · Find the bug.** From a public tool. A histogram of *shares* $c/n$ has sensitivity $2/n$, so its noise scale is right in the paper that the
# tool implements. It is wrong here. How large is the true ε for $n=1000$ and a claim of 0.4?

# %%
def noisy_counts(counts, epsilon, rng):
    n = counts.sum()
    return counts + rng.laplace(scale=2 / (n * epsilon), size=counts.shape)

# %%
true_epsilon = None  # your number
# solution
true_epsilon = 2 / (2 / (1000 * 0.4))

# %%
ex.q3.check(true_epsilon)

# %% [markdown]
# **4 · Attack.** Also real. To be reproducible, this one seeds its generator before each table. It has published the histogram of the people in
# town and that of the people at work, at the same ε and seed. Write `exact(town, work)`: from both releases, what an attacker computes exactly,
# value by value: how many more are in town than at work.

# %%
def table_noise(counts, epsilon, seed):
    rng = np.random.default_rng(seed)
    return counts + rng.laplace(scale=2 / epsilon, size=len(counts))

# %%
def exact(town, work):
    ...
# solution
def exact(town, work):
    return town - work

# %%
ex.q4.check(exact)

# %% [markdown]
# **5 · Attack.** Of the others `others` said yes; Eve said yes or no, as a coin fell. You see `released`, the total with discrete Laplace
# noise of scale 1, so ε = 1. Write `attack(released, others)`, which says 1 (yes) or 0 (no). It plays 2,000 rounds. No attack can win more than
# $e^\varepsilon/(1+e^\varepsilon)=73.1\,\%$ of them on average, and the best one does. (It needs 1,366 wins here; the best attack misses that once in a million.)

# %%
def attack(released, others):
    ...
# solution
def attack(released, others):
    return int(released > others)

# %%
ex.q5.check(attack)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.
#
# ## What the paper claims, what the ledger says
#
# Definitions 1–3 and 5 are right as printed. Below Definition 4, the variance of Laplace noise of scale $b$ is printed as $2b$ (with λ for $b$). It is $2b^2$:
# at the scale 4 of our histogram the typical error is twice as large as the print says. Sampling settles it:

# %%
draws = ExactNoise().discrete_laplace(np.array(Fraction(4)), (50_000,))
pd.Series({"printed, 2b": 2 * 4, "true, 2b²": 2 * 4**2, "measured": draws.var().round(1)}, name="variance at b = 4").to_frame().T

# %% [markdown]
# In this library nobody *says* what a release costs: the ledger recomputes it from sensitivity and scale. Here is the entry of a careless
# programmer who used scale 2 for a histogram and charged ½:

# %%
book = pds.Ledger(Fraction(1), "published")
cost = {"sensitivity": Fraction(2), "scale": Fraction(2), "epsilon": Fraction(1, 2), "claimed": Fraction(1, 2)}
book.write("mechanism", "histogram of occupation", mechanism="discrete_laplace", inputs=("raw:D",), attributes=("occupation",), **cost)
book.check()

# %% [markdown]
# ## What is still not private
#
# * **The promise is per release.** Ask again and the attacker averages the noise away. Lesson 02 keeps count.
# * **Groups.** Two people who answer alike are protected with 2ε only, a family of five with 5ε.
# * **A sensitivity that was guessed.** Every promise here rests on $\Delta f$ being a *maximum over all* neighbouring tables, not over those you tried.
# * **The set of things to choose from.** If an occupation is a candidate only because somebody in the table has it, its appearance is a leak before
#   any noise is drawn. That is why both cells of this lesson count the *declared* values, the empty ones included.
#
# ## Summary
#
# Find the sensitivity, divide by ε, draw fresh integer noise of that scale for every declared cell; choose winners by $e^{\varepsilon u/2\Delta u}$ with score and
# sensitivity in one unit. The ratio of two neighbouring laws tells whether a promise holds, and the panel draws it.
#
# **Next:** [02, composition and the ledger](02_composition_and_ledger.ipynb): what several releases cost together.
