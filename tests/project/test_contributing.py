"""CONTRIBUTING's changes are true: its code runs, keeps the contract, and is as small as it
says."""

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from contract_cases import binary, mixed
from privacy_tools import largest_change
from scipy import stats

import pdsynth as pds
from pdsynth.algorithms import personal, ppba, privbayes
from pdsynth.answers.laws import discrete_laplace_pmf
from pdsynth.core import measures, noise
from pdsynth.core import rules as ledger_rules


@pytest.fixture(scope="module")
def blocks(root):
    """The code of each section of CONTRIBUTING.md."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {
        s.splitlines()[0]: re.findall(r"^```python\n(.*?)^```", s, re.MULTILINE | re.DOTALL)
        for s in sections
    }


def made(code, module, **more):
    """What a block defines, in the names of the module it would stand in."""
    space = {**vars(module), **more}
    exec(code, space)
    return space[re.search(r"^(?:class|def) (\w+)", code, re.MULTILINE).group(1)]


def law_of_noisy_max(scores, scale):
    """How often each of some scores is the first of the largest after noise of a scale."""
    reach = np.arange(-80, 81)
    law = discrete_laplace_pmf(reach, scale)

    def beats(value, i, j):
        """The probability that score j with noise stays below a value of score i."""
        return law[reach + scores[j] < value + (i < j)].sum()

    others = [[j for j in range(len(scores)) if j != i] for i in range(len(scores))]
    return np.array(
        [
            sum(
                p * math.prod(beats(z + u, i, j) for j in others[i])
                for z, p in zip(reach, law, strict=True)
            )
            for i, u in enumerate(scores)
        ]
    )


def test_a_new_mechanism_is_at_most_20_lines_and_has_its_law(blocks):
    (code,) = blocks["A new mechanism"]
    assert code.count("\n") <= 20
    room = Path(noise.__file__).read_text(encoding="utf-8")
    assert room.count("\n") + code.count("\n") + 2 <= 600, "no module is longer"
    noisy_max = made(code, noise)
    scores, sensitivity, epsilon = np.array([5, 3, 3, 0]), 2, Fraction(3, 2)
    source = noise.ExactNoise(1)
    ask = noise.Quantity(scores, "u"), noise.Quantity(sensitivity, "u"), epsilon
    found = np.bincount([noisy_max(*ask, source) for _ in range(4000)], minlength=4)
    law, half = (law_of_noisy_max(scores, scale) for scale in (8 / 3, 4 / 3))
    assert stats.chisquare(found, law / law.sum() * 4000).pvalue > 1e-6
    assert stats.chisquare(found, half / half.sum() * 4000).pvalue < 1e-6, "failing twin"
    near = scores + [-2, 2, 2, 2]
    worst = np.log(law / law_of_noisy_max(near, 8 / 3)).max()
    assert worst <= 1.5 < np.log(half / law_of_noisy_max(near, 4 / 3)).max(), "failing twin"
    with pytest.raises(pds.PrivacyError, match="different units"):
        noisy_max(noise.Quantity(scores, "bit"), ask[1], epsilon, source)


@pytest.fixture
def guessed(blocks, monkeypatch):
    """The page's score, registered as its line would register it."""
    function, line, _ = blocks["A structure with a new score"]
    assert function.count("\n") <= 10 and line.count("\n") == 1
    of = made(function, measures)
    score = eval(line.strip().removesuffix(","), vars(measures) | {"guessed": of})
    monkeypatch.setitem(measures.SCORES, score.name, score)
    monkeypatch.setitem(ledger_rules.LEMMAS, score.lemma, score.sensitivity)
    return score


def test_a_new_score_moves_as_far_as_its_line_says(guessed):
    """What the row in test_every_sensitivity.py asks, on fewer tables."""
    assert largest_change(guessed.of, 5, (2, 2)) == guessed.sensitivity(5, 2, 2) == 2
    assert largest_change(guessed.of, 4, (2, 3)) == 2
    assert largest_change(guessed.of, 5, (2, 2)) > 1, "failing twin: a sensitivity of 1"


def test_a_structure_with_a_new_score_fits_and_closes_the_ledger(blocks, guessed):
    *_, code = blocks["A structure with a new score"]
    assert code.count("\n") <= 10
    frame, schema = mixed()
    structure = made(code, privbayes)(k=1)
    fitted = pds.Synthesizer(20, structure=structure).fit(frame, schema)
    assert fitted.ledger_.epsilon == 20 and fitted.ledger_.check() == []
    chosen = [e for e in fitted.ledger_.entries if e.lemma == "lemma:guessed"]
    assert {(e.sensitivity, e.score_unit) for e in chosen} == {(2, "records")}


def test_a_score_s_lemma_is_known_to_the_ledger_by_its_registry():
    assert {score.lemma for score in measures.SCORES.values()} <= {*ledger_rules.LEMMAS}


@pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
@pytest.mark.parametrize("table", [binary, mixed])
def test_a_new_synthesizer_is_at_most_15_lines_and_keeps_the_contract(blocks, guarantee, table):
    (code,) = blocks["A new synthesizer"]
    assert code.count("\n") <= 15
    cls = made(code, ppba, RiskEntropy=personal.RiskEntropy)
    frame, schema = table()
    fitted = cls(3, k=1, guarantee=guarantee).fit(frame, schema)
    assert fitted.clone().get_params() == fitted.get_params()
    assert fitted.ledger_.epsilon == (3 if guarantee == "strict" else math.inf)
    assert fitted.ledger_.check() == [] or guarantee != "strict"
    assert list(fitted.sample(7).columns) == list(schema.names)
    with pytest.raises(pds.BudgetError, match="k = 99"):
        cls(3, k=99).fit(frame, schema)


def test_a_new_slider_is_one_line_and_the_one_that_is_tested(blocks, root):
    """tests/course/panels/test_a_new_slider.py moves the control that the page shows."""
    (code,) = blocks["A new slider"]
    name, call = re.fullmatch(r"\s*(\w+)=(slider\(.*\)),\n", code).groups()
    test = root / "tests" / "course" / "panels" / "test_a_new_slider.py"
    assert f'{{"{name}": {call}}}' in " ".join(test.read_text(encoding="utf-8").split())


def test_the_hooks_are_those_that_the_tests_know(root):
    """tests/algorithms/test_hooks.py overrides each hook that the page lists."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.search(r"may override these hooks.*?(?=`fit`)", text, re.DOTALL).group()
    tested = (root / "tests" / "algorithms" / "test_hooks.py").read_text(encoding="utf-8")
    hooks = set(re.findall(r"`(_\w+)`", listed))
    assert hooks == set(re.findall(r'"(_\w+)": lambda self', tested))
