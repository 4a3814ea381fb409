# %% [markdown]
# # 16 · Auditing: catching a broken algorithm
#
# | | |
# |---|---|
# | **Time** | about {{minutes}} minutes |
# | **Before this** | 01 DP mechanisms, 02 composition and the ledger; 07 or 11 helps |
# | **You will be able to** | measure a lower bound of ε by playing against a mechanism, say what such a bound proves and what it doesn't, find a defect without statistics where that is possible, and let an auditor examine code of your own |
# | **Paper** | M. Annamalai, G. Ganev, E. De Cristofaro, *"What do you want from theory alone?"*, USENIX Security 2024; C. Clopper, E. Pearson 1934; I. Mironov, *On Significance of the Least Significant Bits*, CCS 2012 |
# | **ε spent** | 0: all tables on this page are made up |

# %% [markdown]
# ## A game to start with
#
# Here are two tables. In the first, one person is alone with parent value 1, and has $x_1=1$. In the second that one record says $x_1=0$; all 21,573
# others are the same. A referee tosses a coin and takes one of the tables. PrivABN publishes one of its conditionals, at a claimed ε of 0.05. You see the noisy number. Which table was it? At ε = 0.05 the best player is right in 51 of 100 games.

# %%
import numpy as np
import pandas as pd

from pdsynth import audit
from pdsynth.audit.estimator import lower_limit, upper_limit
from pdsynth.course import panels
from pdsynth.course.exercises import lesson_16 as ex
from pdsynth.course.guess import guess

first, second = audit.samples("privabn-conditional-noise", 2000, epsilon=0.05, seed=1)
threshold = 2**19  # the middle of the scale: P*[x1 = 1] above one half?

# %%
def games():
    return 50 * ((first > threshold).mean() + (second <= threshold).mean())

guess("You say 'first table' if the number is above the middle. In how many of 100 games are you right?", games, unit="of 100")

# %% [markdown]
# Nobody who believes in ε = 0.05 can explain that. The player needs no proof, no source code and no luck: only the right to play often.
#
# ## A toy that you can check by hand
#
# Randomised response: tell the truth with probability 3/4, else lie. The answers of a *yes* and of a *no* differ by a factor of 3 at most, so ε = ln 3 = 1.10.
# Play it a thousand times in each world, and count how often the answer is *yes*.

# %%
rng = np.random.default_rng(5)
yes, no = (rng.random(1000) < 0.75).sum(), (rng.random(1000) < 0.25).sum()
print(f"{yes} and {no} of 1,000: ln({yes}/{no}) = {np.log(yes / no):.2f}")

# %% [markdown]
# The quotient of two counts is an estimate, and half of all estimates are too large. An accusation needs a number of which we are *sure*: the smallest probability
# that goes with the first count, over the largest that goes with the second. Clopper and Pearson give both, exactly, for any number of runs:

# %%
low, high = lower_limit(yes, 1000, 0.025), upper_limit(no, 1000, 0.025)
print(f"P(yes | yes) ≥ {low:.3f}, P(yes | no) ≤ {high:.3f}: ε ≥ {np.log(low / high):.2f} with 95 % confidence; truth {np.log(3):.2f}")

# %% [markdown]
# ## The idea, in symbols
#
# $$\varepsilon_{\text{bound}}=\ln\frac{\text{lowest plausible }\Pr[\mathcal M(D)\in E]}{\text{highest plausible }\Pr[\mathcal M(D')\in E]},\qquad E=\{\phi\ge\text{threshold}\}$$
#
# * $D, D'$ are neighbours, chosen to be the **worst case** for the step. Average people hide well; the definition speaks of every pair.
# * The statistic $\phi$ squeezes whatever is published into one integer. The better it is, the larger the bound; a poor one is unfair to nobody, it just finds less.
# * Half of the runs choose the threshold, the other half measures. Choosing and measuring on the same runs finds leaks in noise.
# * The verdict is *violated* or *not refuted*. There is no third one: a bound below the claim is a failed attack, not a proof.
#
# ## The library's line
#
# `audit.catalogue()` holds the steps of all papers of this course, broken as printed and repaired; `audit.run` plays.

# %%
audit.run("hpprivbayes-raw-weights", runs=4000, seed=2)

# %%
audit.run("strict-value-weights", runs=4000, seed=2)

# %% [markdown]
# The same step, weights read from the raw table and weights that are public. One person who takes a rare value turns a noise scale, and the noise that
# you see tells which scale it had. *Ceiling* is what a perfect attack would show with so many runs: the bound can't be larger, whatever leaks.
#
# ## Without statistics: exact worlds
#
# Where a step only *selects*, all its outputs can be listed, and no dice are needed. A micro-world of five people and three attributes: what is the probability
# of every network, before and after one of them moves?

# %%
from fractions import Fraction

from pdsynth.audit.worlds import World, table, worst

people = World(((0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 0)))
lost, who, other = worst(people, "PrivBayes, score R", Fraction(1))
print(f"worst neighbour: person {who + 1} becomes {other.rows[who]}; loss {lost:.3f} of ε = 1")
table(people.law("PrivBayes, score R", Fraction(1)), other.law("PrivBayes, score R", Fraction(1))).astype(float).round(4)

# %% [markdown]
# Nothing is left to doubt: the numbers behind this table are fractions, and each law sums to exactly 1. And now the thesis' order by raw average mutual information:

# %%
lost, who, other = worst(people, "raw order (HPPrivBayes as printed)", Fraction(1))
table(*(w.law("raw order (HPPrivBayes as printed)", Fraction(1)) for w in (people, other))).astype(float).round(4)

# %% [markdown]
# Zero against something: the **support** differs, and no ε covers a zero. `panels.worlds.panel()` in a new cell lets you move the person yourself:
#
# ![Laws of PrivBayes' networks before and after one person moves, with the band of e to the ε](pictures/16_micro_worlds.svg)
#
# ## The panel: watch the bound climb
#
# Choose a step, what it claims, and how often you play. First the bound against the number of runs, then what you see in the two worlds; the dashed line is the event.
#
# **What to notice**
# * *datasynthesizer-double-spending*: not refuted at 1,000 runs, refuted at 10,000. Patience is an attack. Lower **ε** to 0.3: the defect is the same factor of 2, but now it
#   drowns, and at 10,000 runs the audit keeps silent. The ledger below doesn't.
# * *hpprivbayes-shared-row-noise*: the bound lies on the ceiling and climbs with it. That is how "infinite" looks.
# * *strict-…*: the bound may climb for ever, it stays below the line.
# * *datasynthesizer-one-record-more*: neighbours that add a record instead of replacing it. The same code then keeps ε: the relation is part of the claim.

# %%
from pdsynth.course import panels

panels.auditing.panel()

# %% [markdown]
# ![The bound of DataSynthesizer's double spending passes the claimed ε after some thousand runs](pictures/16_auditing.svg)
#
# *The panel's first position, for readers without a kernel.*
#
# ## Somebody else's code
#
# `audit.black_box` plays against any function. A start-up publishes bootstrap samples ("every row is drawn at random, so nobody knows who is in it") and claims ε = 1:

# %%
everybody, without = np.array([0] * 99 + [1]), np.zeros(100, dtype=int)

def bootstrap(column):
    return np.random.default_rng().choice(column, len(column))

audit.black_box(bootstrap, (everybody, without), lambda fake: int(fake.sum()), claimed=1, runs=2000, name="bootstrap", theory=np.inf)

# %% [markdown]
# ## The last bits
#
# A Laplace histogram is ε-DP on paper. In double precision, $0+z$ and $1+z$ lie on different grids of numbers, and an audit that looks at the last bits sees the grid. It would accuse
# a correct algorithm. Of the *textbook sampler* (the logarithm of a random double, also in the thesis' code) it is right. An attacker can look at last bits, too:

# %%
print(audit.exhibit(seed=1))
audit.run("textbook-laplace-on-doubles", runs=4000, seed=2)

# %% [markdown]
# So statistics are rounded before they are judged, and this library's noise is made of whole numbers. For a release, `noise="opendp"` draws the same laws from OpenDP's
# hardened samplers.
#
# ## Your turn
#
# **1 · Predict.** A mechanism publishes the raw table. You play 20,000 times in each world, and win every time. What is the best bound that you can report?

# %%
best = None  # your number
# solution
best = 7.9

# %%
ex.q1.check(best)

# %% [markdown]
# **2 · Code.** `bound(hits, misses, runs)`: the ε of which you are 95 % sure, from counts of one event in `runs` runs of each world. You have `lower_limit(hits, runs, alpha)` and
# `upper_limit(misses, runs, alpha)`.

# %%
def bound(hits, misses, runs):
    ...
# solution
def bound(hits, misses, runs):
    return np.log(lower_limit(hits, runs, 0.025) / upper_limit(misses, runs, 0.025))

# %%
ex.q2.check(bound)

# %% [markdown]
# **3 · Find the bugs.** A colleague's noisy table. The auditor (`pdsynth.audit.zoo.check`) tries it on pairs of neighbouring tables and names the rule that it breaks, with a witness. Repair it
# until nothing is found. (The zoo itself, 27 defects, most of them of papers and public code, is in `pdsynth/audit/bugs.py`.)

# %%
from pdsynth.audit.bugs import count
from pdsynth.core.noise import laplace_mechanism


def private_table(codes, sizes, epsilon, noise):
    counts = count(codes, sizes)
    noisy = laplace_mechanism(counts, 1 / epsilon, noise.child("table"))
    return np.where(counts > 0, noisy, 0)
# solution
from pdsynth.audit.bugs import count
from pdsynth.core.noise import laplace_mechanism


def private_table(codes, sizes, epsilon, noise):
    counts = count(codes, sizes)
    return laplace_mechanism(counts, 2 / epsilon, noise.child("table"))

# %%
ex.q3.check(private_table)

# %% [markdown]
# **4 · Attack.** A colleague cuts the noise of a count off at ±3, "so that nobody gets absurd numbers", and still claims ε = 1. Without her the count is 10, with her 11. Write
# `event(released)`, true or false, that refutes the claim: it plays 2,000 rounds in each world, and the bound that your event earns (exercise 2) must be above 1. (The best event
# misses that less than once in a billion.)

# %%
def cut_off(count, rng):
    stay = 1 - np.exp(-1)  # discrete Laplace noise of scale 1: two geometric draws
    return count + np.clip(rng.geometric(stay) - rng.geometric(stay), -3, 3)

# %%
def event(released):
    ...
# solution
def event(released):
    return released == 14

# %%
ex.q4.check(event)

# %% [markdown]
# Stuck? `ex.q1.hint()`, then `ex.q1.hint(2)`, at last `ex.q1.solution()`; the same for the others.
#
# ## What the papers claim, what an audit measures, what the ledger says
#
# `python -m pdsynth audit --all` plays the whole catalogue and fails if a broken step gets away or a sound one is accused. Five of its lines:

# %%
names = ["privabn-candidates", "hpprivbayes-order", "hmprivbayes-risk-entropy", "hmprivbayes-dpsc", "hmprivbayes-dpsc-small-share"]
rows = [audit.run(name, runs=4000, seed=3).row() for name in names]
pd.DataFrame(rows)[["case", "claimed", "theory", "bound", "ceiling", "verdict", "method"]].round(3)

# %% [markdown]
# The last two are the same step of HMPrivBayes, which overspends by a large factor. At a share of ε = 2 the audit shows it. At the share that the paper gives it, the noise is too large: no number of runs that you could pay for would
# show it. The ledger divides two fractions and knows. Use both: the ledger trusts the code to be what it says, the audit doesn't.
#
# And whole algorithms? Exact replay finds the pair of tables with the largest loss. Strict algorithms of this library are fitted many times on either table of it, at four ε.
# It takes too long for your notebook (`python figures/make.py courtroom`):
#
# ![Bounds of audits of whole strict fits as shares of the claimed ε; none exceeds it](pictures/courtroom_fig1.svg)
#
# No mark lies beyond the line. But the gap isn't safety: where many answers change a little each, and at small ε, even thousands of fits are few. So every audit prints the smallest
# violation that it would have seen, or that it sees none of this kind. And `audit.replay(synthesizer, frame, neighbour, schema)` needs no luck: it forces the answers of one table's fit on the other's, and computes
# what each step loses, exactly.
#
# ## What is still not private
#
# * **Not refuted is not private.** Somebody else's $\phi$ may be better than yours; the worst pair may be one that nobody thought of.
# * **An audit of the wrong thing.** Tables were audited, not the machine: logs, timing, error messages and the sample that a colleague mailed are outside the game.
# * **The right to play often.** These games are played on made-up tables. On real ones each run would spend ε, and be an attack.
#
# ## Summary
#
# A ledger *recomputes* ε from the noise that the code says it draws; an audit *attacks* what comes out. An audit plays a distinguishing game on the worst pair of tables and reports an ε of which it is sure. It needs separate halves, exact limits and whole numbers. Where outputs can be listed,
# laws, supports and scales decide without dice. A bound above the claim refutes; a bound below it says nothing.
#
# **Next:** [15, is the table any good?](15_evaluating_a_synthetic_table.ipynb)
