"""``reconcile=Agree()`` is post-processing: no question, no answer and no ledger line changes."""

import json
from fractions import Fraction as Q

import numpy as np
import pytest
from contract_cases import CASES, TABLES, make

from pdsynth.audit.tape import Explorer, Tape, plain
from pdsynth.core import recipe
from pdsynth.core.agreement import Agree, noisy_table
from pdsynth.core.budgets import AsMeasured
from pdsynth.core.errors import BudgetError
from pdsynth.core.structure import Measurement
from pdsynth.core.unit import TableBudget

OWN = {"PriView"}  # its views agree in its own way
# their tables overlap: always Agree()
MUST = {"ConsistentBayes", "ConsistentBayes rounds", "ConsistentBayes forest"}

pytestmark = pytest.mark.filterwarnings("ignore")


class Fresh(Tape):
    """Forced answers, and a ledger that takes them for fresh noise."""

    reproducible = False


def run(name, kind, reconcile):
    """All questions of a strict fit with their forced answers, its ledger's bytes, its tables."""
    frame, schema = TABLES[kind]()
    recorder = Explorer(2, 5)
    synthesizer = make(name, schema, k=2, epsilon=2, reconcile=reconcile)
    fitted = synthesizer.fit(frame, schema, noise=Fresh(recorder))
    ledger = json.dumps(fitted.ledger_.to_dict(), sort_keys=True)
    return plain(recorder.asked), ledger, fitted


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", sorted({*CASES} - OWN))
def test_agreement_leaves_every_answer_and_the_ledger_byte_for_byte(name, kind):
    asked, ledger, fitted = run(name, kind, None if name in MUST else AsMeasured())
    again, other, agreed = run(name, kind, Agree())
    assert again == asked and other == ledger
    assert agreed.network_ == fitted.network_
    assert agreed.ledger_.check() == [] and agreed.ledger_.epsilon == 2


@pytest.mark.parametrize("name", sorted({*CASES} - OWN - MUST))
def test_and_it_does_something(name):
    """A switch that is ignored would pass the test above."""
    plain_fit, agreed = (run(name, "mixed", part)[-1] for part in (AsMeasured(), Agree()))
    pairs = zip(plain_fit.model_.tables, agreed.model_.tables, strict=True)
    assert not all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("name", ["PrivABN", "PrivSCBN"])
def test_noisy_conditionals_are_no_counts_and_stay(name):
    frame, schema = TABLES["binary"]()
    one, two = (
        make(name, schema, epsilon=20, guarantee="published", reconcile=part, random_state=3).fit(
            frame, schema
        )
        for part in (AsMeasured(), Agree())
    )
    pairs = zip(one.model_.tables, two.model_.tables, strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs)


def test_who_agrees_in_another_way_refuses():
    for name, part in [(name, Agree()) for name in OWN] + [(name, AsMeasured()) for name in MUST]:
        frame, schema = TABLES["binary"]()
        with pytest.raises(BudgetError, match="agree"):
            make(name, schema, reconcile=part).fit(frame, schema)


def test_twin_an_agreement_that_asks_again_is_stopped(monkeypatch):
    """A table is measured once more before all are made to agree."""
    seen, honest = [], Agree.reconcile

    class Watched(recipe.Curator):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            seen.append(self)

    def greedy(part, found, network, facts):
        seen[-1].table((0,), TableBudget(Q(1)), step="again")
        return honest(part, found, network, facts)

    monkeypatch.setattr(recipe, "Curator", Watched)
    monkeypatch.setattr(Agree, "reconcile", greedy)
    with pytest.raises(BudgetError, match="overdraft"):
        run("PrivBayes", "binary", Agree())


def test_a_table_counts_with_the_inverse_of_its_variance():
    """1/scale²: twice the noise, a quarter of the weight; also where each row has its own."""
    columns, counts = {"a": 1, "b": 0}, np.arange(6).reshape(2, 3)
    once, twice = (
        noisy_table(Measurement(("a", "b"), counts, Q(scale)), columns) for scale in (3, 6)
    )
    assert once.columns == (0, 1) and once.counts.tolist() == counts.T.tolist()
    assert once.weight == pytest.approx(1 / 9) and once.weight == pytest.approx(4 * twice.weight)
    rows = noisy_table(Measurement(("a", "b"), counts, (Q(1), Q(2))), columns)
    assert rows.weight.tolist() == [[1, 1 / 4]] * 3
