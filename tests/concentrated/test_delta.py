"""``delta=``: the ledger in ρ, exact replay, refusals, sessions, files."""

import itertools
import json
import math
import subprocess
import sys
import warnings
from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest
from privacy_tools import Silent, as_measured, records_of

import pdsynth as pds
from pdsynth import __main__ as command
from pdsynth.algorithms.consistent_policy import fair_weight
from pdsynth.audit.tape import Explorer, Player, Tape, compare
from pdsynth.concentrated import (
    ConcentratedCurator,
    ConcentratedLedger,
    ConcentratedUnit,
    DiscreteGaussian,
    epsilon_of,
    open_ledger,
    renyi_losses,
    rho_of,
)
from pdsynth.concentrated.curator import round_root
from pdsynth.core import (
    BudgetError,
    Entry,
    ExactNoise,
    PrivacyError,
    SchemaError,
    TableBudget,
    Unit,
)
from pdsynth.files.release import make_card

NINE = Q(1, 10**9)
RHO = rho_of(Q(1), NINE)


def made(n=400, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (n, 4))
    codes[:, 1] = np.where(rng.random(n) < 0.8, codes[:, 0], codes[:, 1])
    frame = pd.DataFrame(codes, columns=list("abcd"))
    return frame, pds.Schema(tuple(pds.Attribute.categorical(c, range(3)) for c in frame))


FRAME, SCHEMA = made()
OTHER = FRAME.copy()
OTHER.iloc[0] = [(x + 1) % 3 for x in FRAME.iloc[0]]
KINDS = {
    "rounds": {},
    "forest": {"rounds": 0},
    "three rounds": {"rounds": 3, "share_one_way": 0.2},
    "a sensitive attribute": {"sensitive": "d"},
    "a forced pair": {"restriction": pds.Restriction(forced=[("a", "b")])},
    "membership": {"relation": "add_remove"},
}


def fitted(epsilon=1, delta=1e-9, frame=FRAME, **options):
    return pds.ConsistentBayes(epsilon, delta=delta, **options).fit(frame, SCHEMA)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


# --- the ledger ----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("epsilon", [0.2, 3, 40])
def test_the_ledger_closes_exactly_and_converts_once(options, epsilon):
    synthesizer = fitted(epsilon, **options)
    ledger = synthesizer.ledger_
    assert ledger.check() == [] and synthesizer.model_.check() == []
    assert ledger.finite == ledger.claimed == rho_of(Q(str(epsilon)), NINE)
    assert ledger.epsilon == Q(str(epsilon)) == synthesizer.spent_ and ledger.delta == NINE
    assert sum(e.epsilon for e in ledger.entries) == ledger.claimed
    assert {e.mechanism for e in ledger.entries if e.kind == "mechanism"} <= {
        "discrete_gaussian",
        "exponential",
        "forfeited",
    }
    assert all(
        e.epsilon == e.sensitivity / (2 * e.scale)
        for e in ledger.entries
        if e.mechanism == "discrete_gaussian"
    )
    assert synthesizer.model_.private


def test_the_question_for_the_strongest_tie_of_a_large_table_has_noise_in_records_squared():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 4, (60_000, 12)), columns=list("abcdefghijkl"))
    schema = pds.Schema(tuple(pds.Attribute.categorical(c, range(4)) for c in frame))
    fitted = pds.ConsistentBayes(0.1, delta=1e-9, random_state=0).fit(frame, schema)
    (asked,) = [e for e in fitted.ledger_.entries if e.step == "strength of the strongest tie 1"]
    assert asked.scale > 2**52 and fitted.ledger_.epsilon <= Q(1, 10)


def test_every_face_says_that_it_is_not_pure():
    synthesizer = fitted()
    said = "(ε, δ) = (1, 1e-9), not pure"
    shown = synthesizer.ledger_.verdict(), str(synthesizer.ledger_), str(synthesizer.model_)
    assert all(said in text for text in shown)
    assert "not pure" in repr(synthesizer) and "(ε, δ)" in repr(synthesizer)
    assert said in synthesizer._repr_html_() and said in synthesizer.ledger_._repr_html_()
    assert repr(synthesizer.ledger_) == str(synthesizer.ledger_), "as every ledger shows itself"
    assert not any("Pure" in text for text in shown)
    seeded = fitted(random_state=1)
    assert said in seeded.ledger_.verdict() and seeded.ledger_.verdict().startswith("NOT PRIVATE")
    assert "not pure" not in repr(pds.ConsistentBayes(1)) and "delta" not in repr(
        pds.ConsistentBayes(1)
    )


def test_the_unit_is_worked_out_by_hand():
    """Two cells move by one each: Δ² = 2, σ² = 1/ρ; one cell: σ² = 1/2ρ."""
    unit, hidden = ConcentratedUnit(), ConcentratedUnit("add_remove")
    for rho in (Q(1, 100), Q(3, 7)):
        assert unit.scale(rho) == 1 / rho and hidden.scale(rho) == 1 / (2 * rho)
        assert unit.cost(unit.scale(rho), 9) == rho == hidden.cost(hidden.scale(rho), 9)
    assert unit.scale(Q(1, 100), tables=4) == 400
    assert unit.mean_noise(Q(1, 100)) == pytest.approx(10 * math.sqrt(2 / math.pi))
    assert fair_weight(1000, unit.power) == 100 and fair_weight(100, Unit().power) == 10
    # Laplace noise as large: d tables at ε/d each have mean size 2d/ε
    pure = unit.as_pure(Q(1, 100), 4)
    assert 2 * 4 / pure == pytest.approx(unit.mean_noise(Q(1, 400)))
    assert unit.as_pure(Q(1, 100)) == pytest.approx(math.sqrt(math.pi / 100))


def line(**fields):
    return Entry("s01", "mechanism", "table(a)", inputs=("raw:D",), **fields)


RIGHT_TABLE = {
    "mechanism": "discrete_gaussian",
    "sensitivity": Q(2),
    "scale": Q(100),
    "epsilon": Q(1, 100),
    "claimed": Q(1, 100),
    "lemma": "lemma:squared_counts",
}
RIGHT_CHOICE = {
    "mechanism": "exponential",
    "sensitivity": Q(2),
    "scale": Q(1, 5),
    "epsilon": Q(1, 200),
    "claimed": Q(1, 200),
    "lemma": "lemma:residual",
    "domain_sizes": (2, 2),
    "n_records": 9,
}
WRONG = {
    "σ for σ²": (RIGHT_TABLE, {"scale": Q(10)}, "L3"),
    "a sensitivity that isn't squared counts'": (RIGHT_TABLE, {"sensitivity": Q(1)}, "L3"),
    "a sensitivity of one record less": (
        RIGHT_TABLE,
        {"sensitivity": Q(1), "scale": Q(50)},
        "L3",
    ),
    "no variance": (RIGHT_TABLE, {"scale": None}, "L3"),
    "a lemma of pure ε": (RIGHT_TABLE, {"lemma": "lemma:joint_counts"}, "L3"),
    "Laplace": (RIGHT_TABLE, {"mechanism": "discrete_laplace"}, "L1"),
    "a choice at ε²/16": (RIGHT_CHOICE, {"epsilon": Q(1, 400)}, "L4"),
    "a choice at ε²/2": (RIGHT_CHOICE, {"epsilon": Q(1, 50)}, "L4"),
    "a choice whose score moves by more": (RIGHT_CHOICE, {"sensitivity": Q(1)}, "L4"),
    "a choice without exponent": (RIGHT_CHOICE, {"scale": None}, "L4"),
    "a choice without lemma": (RIGHT_CHOICE, {"lemma": ""}, "L4"),
}


def test_right_lines_pass():
    for right in (RIGHT_TABLE, RIGHT_CHOICE):
        ledger = open_ledger(Q(1), NINE)
        ledger._entries.append(line(**right))
        assert ledger.check() == []


@pytest.mark.parametrize(("right", "change", "code"), WRONG.values(), ids=WRONG)
def test_twin_wrong_lines_are_found(right, change, code):
    ledger = open_ledger(Q(1), NINE)
    ledger._entries.append(line(**right | change))
    assert code in {found[:2] for found in ledger.check()} <= {code, "L8"}


def test_an_overdraft_and_a_mechanism_that_is_not_worked_out_are_refused():
    ledger = open_ledger(Q(1), NINE)
    with pytest.raises(BudgetError, match="overdraft"):
        ledger.write("mechanism", "x", mechanism="forfeited", epsilon=RHO + NINE, claimed=RHO)
    for mechanism in ("discrete_laplace", "permute_and_flip", ""):
        with pytest.raises(PrivacyError, match="in ρ"):
            ledger.write("mechanism", "x", mechanism=mechanism, epsilon=Q(0))
    assert ledger.entries == ()


def test_attributes_are_converted_once_and_together():
    ledger = fitted(4, sensitive="d").ledger_
    mine = [e for e in ledger.entries if "d" in e.attributes]
    found = ledger.attribute_epsilon()
    assert found["d"] == epsilon_of(sum(e.epsilon for e in mine), NINE) < 4
    assert found.attrs["delta"] == NINE
    assert ledger.attribute_epsilon(["a", "b", "c", "d"]).iloc[0] <= 4
    table = ledger.value_epsilon("d")
    assert table.attrs["delta"] == NINE
    three = ledger.value_epsilon("d", [0, 1, 2])
    assert three.loc[0, 0] == 0 and three.loc[0, 1] == found["d"]


def test_a_replacement_costs_four_times_an_addition():
    ledger = fitted(4, relation="add_remove").ledger_
    mine = sum(e.epsilon for e in ledger.entries if "a" in e.attributes)
    assert ledger.attribute_epsilon()["a"] == epsilon_of(4 * mine, NINE)
    assert ledger.value_epsilon("a", [0, 1, 2]).loc[0, 1] == epsilon_of(4 * mine, NINE)


# --- the door ------------------------------------------------------------------------------------


def door(rho=RHO, relation="replace_one", rows=((0, 0), (1, 1), (2, 0)), noise=None):
    ledger = open_ledger(Q(1), NINE, relation)
    ledger.claimed = rho
    return ConcentratedCurator(records_of(rows, (3, 2)), ledger, noise or ExactNoise())


def test_what_is_not_worked_out_is_refused_before_anything_is_read():
    curator = door()
    refused = {
        "weights": lambda: curator.table((0,), TableBudget(RHO, (Q(1), Q(1, 2), Q(1))), step="t"),
    }
    for ask in refused.values():
        with pytest.raises(PrivacyError):
            ask()
    assert curator.ledger.entries == ()


@pytest.mark.parametrize("square", [Q(1, 10**12), Q(1, 7), Q(8) * RHO, Q(5), Q(10**9, 3)])
def test_exponents_are_rounded_down_and_hardly(square):
    root = round_root(square)
    assert root**2 <= square < root**2 * (1 + Q(1, 2**17))
    assert root.denominator & (root.denominator - 1) == 0  # short


def test_a_measured_table_weighs_what_its_variance_says():
    counts, scale, entry = door().table((0, 1), TableBudget(Q(1, 1000)), step="t")
    assert counts.shape == (3, 2) and counts.dtype == np.int64 and entry == "s01"
    assert float(2 * scale**2) == pytest.approx(1000, rel=1e-4)


# --- replay, and everything enumerated -----------------------------------------------------------


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("epsilon", [1, 12])
def test_no_step_loses_more_than_its_line_says(options, epsilon):
    run = pds.ConsistentBayes(epsilon, delta=1e-9, **options)
    found = pds.audit.replay(as_measured(run), FRAME, OTHER, SCHEMA, walks=4)
    assert found.ok and found.sign == "ρ" and found.log_ratio <= float(found.claimed)
    assert found.moved > 0


def test_one_record_more_is_covered():
    run = pds.ConsistentBayes(12, delta=1e-9, relation="add_remove")
    found = pds.audit.replay(as_measured(run), FRAME, FRAME.iloc[1:], SCHEMA, walks=4)
    assert found.ok and found.log_ratio > 0.5 * float(found.claimed)


class RootForSquare(ConcentratedCurator):
    """Wrong: σ where σ² belongs."""

    def table(self, columns, budget, *, step):
        measured = super().table(columns, budget, step=step)
        law = DiscreteGaussian(round_root(1 / budget.epsilon))
        counts = self._noise.child(step).add_law(self._records.table(tuple(columns)), law)
        return measured._replace(counts=counts)


class OneCell(ConcentratedCurator):
    """Wrong: Δ² = 1 though a replaced record moves two cells; line and noise agree."""

    def _charge(self, *said, **fields):
        if fields.get("lemma") == "lemma:squared_counts":
            fields["epsilon"] = fields["epsilon"] / 2
            fields["sensitivity"] = fields["sensitivity"] / 2
        return super()._charge(*said, **fields)


class WholeExponent(ConcentratedCurator):
    """Wrong: ε²/8 is charged, and the exponent is that of ε²/2."""

    def _price_choice(self, epsilon):
        exponent, paid = super()._price_choice(epsilon)
        return 2 * exponent, paid


BUGS = {"σ for σ²": RootForSquare, "Δ² of one cell": OneCell, "ε²/2 for ε²/8": WholeExponent}


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS)
def test_twin_planted_bugs_are_seen_by_replay(bug, monkeypatch):
    monkeypatch.setattr("pdsynth.concentrated.ConcentratedCurator", bug)
    run = pds.ConsistentBayes(12, delta=1e-9, share_one_way=0.2)
    assert not pds.audit.replay(as_measured(run), FRAME, OTHER, SCHEMA, walks=4).ok


ALL = [*itertools.product(range(2), range(2))]


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_every_pair_of_small_tables_loses_at_most_each_step_of_rho(relation):
    """All tables of three records over 2 × 2: a table, a choice with STOP, an association."""

    def ask(curator):
        expected = np.array([[1, 1], [1, 0]])
        curator.table((0, 1), TableBudget(Q(1, 10)), step="t")
        curator.choose_table(
            [(0, 1), (0,)],
            [expected, np.array([2, 1])],
            np.array([1, 0]),
            Q(1, 10),
            step="c",
            source="",
        )
        if relation == "replace_one":
            curator.mean_association([(0, 1)], Q(1, 10), step="m", source="")
            curator.strongest_association(
                [(0, 1)], Q(1, 10), step="x", source="", offsets=np.array([-1])
            )

    def opened(rows, noise):
        ledger = open_ledger(Q(9), NINE, relation)
        curator = ConcentratedCurator(records_of(rows, (2, 2)), ledger, noise)
        curator._n = 3
        return curator

    worst = [Q(0)] * 4
    for rows in itertools.combinations_with_replacement(ALL, 3):
        for extra in ALL:
            near = (*rows[1:], extra) if relation == "replace_one" else (*rows, extra)
            recorder = Explorer(0, 0)
            one = opened(rows, Tape(recorder))
            ask(one)
            player = Player(recorder.asked)
            ask(opened(near, Tape(player)))
            losses = [compare(*pair, renyi_losses) for pair in player.pairs]
            for at, (loss, entry) in enumerate(zip(losses, one.ledger.entries, strict=True)):
                lost = max(loss.forward, loss.backward)
                assert lost <= float(entry.epsilon) * (1 + 1e-9)
                worst[at] = max(worst[at], lost)
    assert worst[0] == Q(1, 10)  # attained
    assert worst[1] > 0.05


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0, -1, 1, 2, "x", math.nan, 0.5, 1 / 400, 1e-4, [1e-9]])
def test_bad_delta_is_refused_before_anything_is_spent(delta):
    session, run = pds.Session(1, delta=1e-9), pds.ConsistentBayes(1, delta=delta)
    with pytest.raises(BudgetError, match="delta"):
        run.fit(FRAME, SCHEMA, session=session)
    assert session.charges == () and run.spent_ == 0


def test_delta_stays_below_one_over_n():
    pds.ConsistentBayes(1, delta=9e-7).prepare(SCHEMA, 10**6)
    with pytest.raises(BudgetError, match="1/n"):
        pds.ConsistentBayes(1, delta=1e-6).prepare(SCHEMA, 10**6)
    hidden = pds.ConsistentBayes(1, delta=1e-6, relation="add_remove")
    hidden.prepare(SCHEMA, 10**6)  # n is secret: what is refused can't depend on it


REFUSED = {
    "published": {"guarantee": "published"},
    "none": {"guarantee": "none"},
    "two records of a person": {"records_per_person": 2},
    "groups alone": {
        "personal": pds.parts.SensitivityGroups({"A": ["a"]}, rare_values="same_noise")
    },
    "weights of values": {
        "personal": pds.parts.SensitivityGroups(groups={"A": ["a"], "B": ["b", "c", "d"]})
    },
}


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
def test_what_is_not_built_is_refused_in_a_sentence(options):
    """Of groups alone it was said that they have noise by value."""
    words = "r and the weights of personal= are ratios of ε" if "personal" in options else "delta"
    with pytest.raises(BudgetError, match=words):
        pds.ConsistentBayes(1, delta=1e-9, **options).fit(FRAME, SCHEMA)


@pytest.mark.parametrize(
    "name", ["GeneticBayes", "HMPrivBayes", "HPPrivBayes", "PPBA", "PrivABN", "PrivBayes"]
)
def test_other_synthesizers_refuse(name):
    with pytest.raises(BudgetError, match="built for ConsistentBayes"):
        getattr(pds, name)(1, delta=1e-9).fit(FRAME, SCHEMA)


def test_parts_by_hand_take_it():
    for part in (pds.parts.ResidualForest(), pds.parts.ResidualRounds()):
        run = pds.Synthesizer(structure=part, delta=1e-9).fit(FRAME, SCHEMA)
        assert run.ledger_.check() == [] and run.ledger_.sign == "ρ"


def test_a_pure_fit_says_nothing_of_delta():
    pure = pds.ConsistentBayes(1, random_state=0).fit(FRAME, SCHEMA)
    assert "delta" not in pure.model_.to_dict()["ledger"] | pure.model_.parameters
    assert pure.ledger_.sign == "ε" and type(pure.ledger_) is pds.Ledger


PURE = """
import sys
import pandas as pd, pdsynth as pds
frame = pd.DataFrame({"a": [0, 1] * 50, "b": [0, 1] * 50})
schema = pds.Schema(tuple(pds.Attribute.categorical(c, range(2)) for c in frame))
pds.ConsistentBayes(1, DELTA).fit(frame, schema).sample(3)
print(*[name for name in sys.modules if name.startswith("pdsynth.concentrated")])
"""


@pytest.mark.parametrize(("given", "some"), [("delta=None", False), ("delta=1e-9", True)])
def test_a_pure_fit_never_loads_this_house(given, some):
    ran = [sys.executable, "-c", PURE.replace("DELTA", given)]
    found = subprocess.run(ran, capture_output=True, text=True, check=True).stdout.split()
    assert bool(found) is some


# --- sessions ------------------------------------------------------------------------------------


def test_a_session_adds_rho_and_spends_delta_once(tmp_path):
    path = tmp_path / "account"
    session = pds.Session(2, path, delta=1e-9)
    whole = rho_of(Q(2), NINE)
    fitted_with(session, pds.ConsistentBayes(1, delta=1e-9))
    assert session.spent == RHO
    fitted_with(session, pds.ConsistentBayes(Q(1, 2), delta=1e-8))  # its own δ doesn't matter
    fitted_with(session, pds.baselines.Independent(0.1))  # ε²/2
    session.reserve(0.1, "by hand")
    expected = RHO + rho_of(Q(1, 2), Q(1, 10**8)) + 2 * Q(1, 200)
    assert session.spent == expected and session.remaining == whole - expected
    again = pds.Session.open(path)
    assert (again.epsilon, again.delta, again.spent) == (2, NINE, expected)
    assert "(ε, δ) = (2, 1e-9), not pure" in repr(again)
    assert [*again.to_frame()] == ["step", "people", "rho", "when"]
    with pytest.raises(BudgetError, match="overdraft"):
        fitted_with(again, pds.ConsistentBayes(2, delta=1e-9))
    assert again.spent == expected


def fitted_with(session, run):
    return run.fit(FRAME, SCHEMA, session=session)


def test_twin_two_fits_of_one_promise_are_more_than_that_promise():
    """δ spent twice: two fits of (1, 1e-9) are neither (1, 1e-9) nor (2, 1e-9) for nothing."""
    session = pds.Session(1, delta=1e-9)
    fitted_with(session, pds.ConsistentBayes(1, delta=1e-9))
    with pytest.raises(BudgetError, match="overdraft"):
        fitted_with(session, pds.ConsistentBayes(1, delta=1e-9))
    assert 1 < epsilon_of(2 * RHO, NINE) < 2


def test_membership_is_charged_for_a_replacement():
    session = pds.Session(4, delta=1e-9)
    fitted_with(session, pds.ConsistentBayes(1, delta=1e-9, relation="add_remove"))
    assert session.spent == 4 * RHO
    fitted_with(session, pds.ConsistentBayes(0.1, relation="add_remove"))
    assert session.spent == 4 * RHO + Q(1, 5) ** 2 / 2


def test_a_pure_account_takes_no_delta_and_kinds_are_not_mixed_up(tmp_path):
    with pytest.raises(BudgetError, match="pure"):
        fitted_with(pds.Session(9), pds.ConsistentBayes(1, delta=1e-9))
    path = tmp_path / "account"
    pds.Session(1, path, delta=1e-9).reserve(0.01, "x")
    for other in (None, 1e-8):
        with pytest.raises(BudgetError, match="its own δ"):
            pds.Session(1, path, delta=other)
    pure = tmp_path / "pure"
    pds.Session(1, pure).reserve(0.01, "x")
    with pytest.raises(BudgetError, match="its own δ"):
        pds.Session(1, pure, delta=1e-9)
    assert json.loads(path.read_bytes().split(b"\n")[0])["format"] != "pdsynth-session-2"


# --- files ---------------------------------------------------------------------------------------


def test_a_model_file_comes_back_and_a_forged_one_does_not(tmp_path):
    model = fitted(3).model_
    model.to_json(tmp_path / "model.json")
    again = pds.Model.from_json(tmp_path / "model.json")
    assert again.verdict() == model.verdict() and again.private
    assert isinstance(again.ledger, ConcentratedLedger)
    assert again.ledger.to_dict() == model.ledger.to_dict()
    data = json.loads((tmp_path / "model.json").read_text())
    for change in ({"delta": "1/1000000000000"}, {"promised": "1"}, {"claimed": "1"}):
        with pytest.raises(SchemaError):
            pds.Model.from_dict(data | {"ledger": data["ledger"] | change})
    gone = {k: v for k, v in data["ledger"].items() if k not in ("delta", "promised")}
    with pytest.raises(SchemaError):  # ρ read as ε
        pds.Model.from_dict(data | {"ledger": gone})


def test_the_card_says_it():
    card = str(make_card(fitted(3).model_, title="t", table="synthetic.csv", rows=10))
    assert "(ε, δ) = (3, 1e-9): **not pure**" in card and "| ρ |" in card
    assert "pure ε-differential privacy" not in card


def test_a_silent_source_is_refused():
    with pytest.raises(BudgetError, match="draws no Gaussian"):
        door(noise=Silent()).table((0,), TableBudget(RHO), step="t")


def test_changed_budgets_change_the_law():
    ledger = fitted(3).ledger_
    broken = replace(ledger.entries[-1], epsilon=ledger.entries[-1].epsilon + 1)
    ledger._entries[-1] = broken
    assert any(found.startswith("L8") for found in ledger.check())
    assert ledger.verdict().startswith("OVERSPENT: claimed ρ")


def test_the_command_writes_a_release_with_delta_and_its_account(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("data.csv", index=False)
    SCHEMA.write("schema.toml")
    words = "release data.csv schema.toml --epsilon 1 --session account".split()
    new = "--delta 1e-9 --session-epsilon 2 --session-delta 1e-9 --out one".split()
    assert command.main([*words, *new]) == 0
    assert pds.Session.open("account").spent == RHO
    model = pds.Model.from_json("one/model.json")
    assert model.ledger.delta == NINE and model.algorithm == "ConsistentBayes" and model.private
    assert "left: 0.0411" in (tmp_path / "one" / "card.md").read_text()
    again = "--delta 1e-9 --out two --epsilon 2".split()
    assert command.main([*words, *again]) == 1 and "overdraft" in capsys.readouterr().err
    assert command.main([*words, *"--delta 1e-9 --method PPBA --out two".split()]) == 1
    assert "built for ConsistentBayes" in capsys.readouterr().err
    assert command.main([*words, *"--set delta=1e-9 --out two".split()]) == 2
    assert not (tmp_path / "two").exists() and len(pds.Session.open("account").charges) == 1
