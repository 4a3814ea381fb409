"""Ten verdicts judged again from the trials alone: own arithmetic, none of the library's.

Each is judged at 95 % and at 95 % shared among fifty claims (Bonferroni), which is stricter than
Holm's correction over fewer; only where both agree can the page say nothing else.
"""

import csv
import math
from collections import defaultdict
from pathlib import Path
from statistics import mean, variance

import pytest
from scipy.stats import t as student

ROOT = Path(__file__).resolve().parents[2] / "figures"
PAGE = (ROOT / "SCOREBOARD.md").read_text(encoding="utf-8")


def read(name):
    """Values by everything that says which point they belong to, then by repeat."""
    found = defaultdict(dict)
    with (ROOT / f"{name}_trials.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            value, repeat = row.pop("value"), int(row.pop("repeat"))
            row.pop("seed"), row.pop("note")
            row["epsilon"] = f"{float(row['epsilon']):g}"
            if value:
                found[tuple(sorted(row.items()))][repeat] = float(value)
    return found


def pick(trials, **at):
    """The only point with these values."""
    (key,) = (k for k in trials if all(dict(k).get(n) == v for n, v in at.items()))
    return trials[key]


def interval(a, b, level, paired):
    """Mean of a minus mean of b and the half-width: Student's on pairs, or Welch's."""
    if paired:
        gaps = [a[i] - b[i] for i in a.keys() & b.keys()]
        half = student.ppf(1 - level / 2, len(gaps) - 1) * math.sqrt(variance(gaps) / len(gaps))
        return mean(gaps), half
    a, b = list(a.values()), list(b.values())
    va, vb = variance(a) / len(a), variance(b) / len(b)
    if not va + vb:
        return mean(a) - mean(b), 0.0
    freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    return mean(a) - mean(b), student.ppf(1 - level / 2, freedom) * math.sqrt(va + vb)


def most(gaps, strictly):
    """More than half in favour: replicates (strictly: and none against); see the page's rules."""
    favour, against = sum(g > h for g, h in gaps), sum(g < -h for g, h in gaps)
    if favour * 2 > len(gaps) and not (strictly and against):
        return "replicates"
    if against >= favour > 0 or not favour and against * 2 > len(gaps):
        return "does not"
    return "partly" if favour > against else "our intervals too wide"


def inside(gaps, bar):
    """Two one-sided tests at every point."""
    near = [abs(g) + h <= bar for g, h in gaps]
    far = [abs(g) - h > bar for g, h in gaps]
    if all(near):
        return "replicates"
    return "does not" if any(far) and not any(near) else "partly" if any(near) else "our intervals"


def hp(figure, level, sign, paired=False, reading="", **at):
    trials = read(f"hpprivbayes/{'readings/' if reading else ''}fig{figure}{reading}")
    same = {"guarantee": "published", "k": "4", **at}
    return [
        tuple(
            sign * x if i == 0 else x
            for i, x in enumerate(
                interval(
                    pick(trials, method="HPPrivBayes", epsilon=e, **same),
                    pick(trials, method="PrivBayes", epsilon=e, **same),
                    level,
                    paired,
                )
            )
        )
        for e in ("0.2", "0.4", "0.6", "0.8", "1")
    ]


def more_accurate(level):
    return most(hp(4, level, 1, paired=True, metric="accuracy"), True)


def below_the_original(level):
    trials = read("hpprivbayes/fig4")
    real = pick(trials, method="real data")
    methods = ("PrivBayes", "HPPrivBayes")
    points = [
        pick(trials, method=m, guarantee="published", k="4", epsilon=e)
        for m in methods
        for e in ("0.2", "0.4", "0.6", "0.8", "1")
    ]
    return most([interval(real, p, level, True) for p in points], True)


def hm_bits(rival):
    def judge(level):
        trials = read("hmprivbayes/readings/fig5_bits")
        k = {"PrivBayes": "auto"}.get(rival, "")
        gaps = [
            interval(
                pick(trials, method=rival, k=k, metric=m, epsilon=e),
                pick(trials, method="HMPrivBayes", metric=m, epsilon=e),
                level,
                False,
            )
            for m in ("2-way distance", "3-way distance")
            for e in ("0.05", "0.1", "0.2", "0.4", "0.8", "1")
        ]
        return most(gaps, False)

    return judge


def misclassified(level):
    trials = read("hmprivbayes/fig5")
    rivals = {"PrivSCBN": "3", "PrivBayes": "auto", "JTree": ""}
    gaps = [
        interval(
            pick(trials, method=m, k=k, epsilon=e, **at),
            pick(trials, method="HMPrivBayes", k="3", epsilon=e, **at),
            level,
            True,
        )
        for m, k in rivals.items()
        for d in ("Adult", "Big5")
        for at in [{"metric": "misclassification", "guarantee": "published", "dataset": d}]
        for e in ("0.05", "0.1", "0.2", "0.4", "0.8", "1")
    ]
    return most(gaps, False)


def leaks_less(level):
    trials = read("hmprivbayes/fig4")
    gaps = [
        interval(
            pick(trials, metric="GCAP", method=m, guarantee="published", k=k, rows=n),
            pick(trials, metric="GCAP", method="HMPrivBayes", guarantee="published", rows=n),
            level,
            False,
        )
        for m, k in (("PrivSCBN", "3"), ("PrivBayes", "auto"))
        for n in ("20000", "40000", "60000", "80000", "100000")
    ]
    return most(gaps, True)


def near_no_noise(level):
    trials = read("privabn/fig1")
    points = [dict(k) for k in trials if ("method", "PrivABN") in k and ("metric", "L2") in k]
    gaps = []
    for p in points:
        if p["guarantee"] == "published" and float(p["epsilon"]) == 0.05:
            free = {"method": "PrivABN", "guarantee": "none", "metric": "L2"}
            free |= {"dataset": p["dataset"], "alpha": p["alpha"]}
            gap, half = interval(pick(trials, **p), pick(trials, **free), level, False)
            gaps.append((max(gap, 0.0), half))
    return inside(gaps, 0.01)


def cmc(a, b, ks, level):
    trials = read("genetic/table5")
    at = {"metric": "Avg", "guarantee": "none"}
    pairs = [(pick(trials, method=a, k=k, **at), b, k) for k in ks]
    return [
        tuple(
            100 * x
            for x in interval(
                one, pick(trials, method=b, k="" if b == "original" else k, **at), level, True
            )
        )
        for one, b, k in pairs
    ]


def greedy_above_original(level):
    return most(cmc("DS", "original", ["3"], level), True)


def risk_falls(level):
    trials = read("genetic/table10")
    at = {"metric": "Avg", "guarantee": "none", "k": "4"}
    return most(
        [interval(pick(trials, method="GA", **at), pick(trials, method="DSc", **at), level, False)],
        True,
    )


def weights_help(level):
    trials = read("ablations/table1")
    at = {"metric": "2-way distance", "guarantee": "published", "epsilon": "1"}
    gaps = [
        interval(
            pick(trials, change="flat values", k=k, **at),
            pick(trials, change="as printed", k=k, **at),
            level,
            False,
        )
        for k in ("1", "4")
    ]
    return most(gaps, True)


def like_jtree(level):
    trials = read("privabn/fig3")
    rival = {"method": "JTree", "metric": "L2", "guarantee": "published", "epsilon": "1"}
    points = [dict(key) for key in trials if rival.items() <= dict(key).items()]
    assert len(points) == 3, "one for each α"
    gaps = [
        interval(pick(trials, **p), pick(trials, **p | {"method": "PrivABN"}), level, False)
        for p in points
    ]
    return inside(gaps, 0.01)


CASES = {
    "printed value weights help": weights_help,
    "is not different from the JTree method": like_jtree,
    "the classification accuracy of HPPrivBayes is higher": more_accurate,
    "are significantly reduced compared to the original data": below_the_original,
    "[here: JTree, distances]": hm_bits("JTree"),
    "[here: misclassification]": misclassified,
    "HMPrivBayes' curve lies below": leaks_less,
    "it is very close to the effect of NoPrivABN": near_no_noise,
    "even exceeds the scores on the original dataset": greedy_above_original,
    "the customized synthetization decreases disclosure risks": risk_falls,
}


def printed(words):
    """The verdict on the page beside some of the paper's words."""
    (line,) = (one for one in PAGE.splitlines() if words in one)
    return line.split(" | ")[2].split(" (")[0].split("†")[0]


@pytest.mark.parametrize("words", CASES)
def test_the_page_says_what_the_trials_say(words):
    alone, strict = (CASES[words](level) for level in (0.05, 0.001))
    assert alone == strict == printed(words)


def test_the_own_arithmetic_by_hand():
    """Pairs 1, 2, 3 above their partners: mean 2, sd 1, half-width 4.303 / √3."""
    a, b = {0: 1.0, 1: 3.0, 2: 5.0}, {0: 0.0, 1: 1.0, 2: 2.0}
    gap, half = interval(a, b, 0.05, True)
    assert gap == 2 and half == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert most([(1, 0.5)] * 3, True) == "replicates" and most([(-1, 0.5)], True) == "does not"
    assert inside([(0.1, 0.1)], 0.5) == "replicates" and inside([(2.0, 0.1)], 0.5) == "does not"
