"""Several holders: a curator's fit, what each step loses, and what colluding holders learn."""

import math
from fractions import Fraction as Q
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from share_tools import polya_law

import pdsynth as pds
from pdsynth import audit
from pdsynth.answers.bootstrap import play
from pdsynth.answers.laws import half_width
from pdsynth.audit import tape
from pdsynth.audit.estimator import lower_bound
from pdsynth.core import (
    BudgetError,
    Codes,
    ExactNoise,
    Ledger,
    PrivacyError,
    Records,
    SchemaError,
)
from pdsynth.files.card import make_card
from pdsynth.holders import collusion, fit, losses, together
from pdsynth.holders.collusion import loss_of_choice, loss_of_sum
from pdsynth.holders.shares import SharedNoise

SIZES = (2, 3, 2, 2)
SCHEMA = pds.Schema(
    tuple(pds.Attribute.categorical(f"x{j}", range(size)) for j, size in enumerate(SIZES))
)
FITS = {
    "HPPrivBayes": lambda **o: pds.HPPrivBayes(1, sensitive="x0", k=1, **o),
    "HMPrivBayes": lambda **o: pds.HMPrivBayes(1, k=1, l=1, **o),
    "ConsistentBayes": lambda **o: pds.ConsistentBayes(1, rounds=2, **o),
    "Independent": lambda **o: pds.baselines.Independent(1, **o),
    "added": lambda **o: pds.ConsistentBayes(1, rounds=2, relation="add_remove", **o),
}


def table(n=40, seed=0):
    """A made-up table whose columns go together."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 2, n)
    columns = [np.where(rng.random(n) < 0.8, base, rng.integers(0, size, n)) for size in SIZES]
    return pd.DataFrame(np.stack(columns, axis=1), columns=list(SCHEMA.names))


def parted(frame, holders=3):
    """Parts of a table, the last one empty where there are more holders than records."""
    return [frame.iloc[i::holders] for i in range(holders)]


# --- counts ---------------------------------------------------------------------------------------


@given(st.integers(1, 6), st.integers(0, 50))
def test_sums_over_holders_are_the_counts_of_all(holders, seed):
    frame = table(12, seed)
    codes = np.asfortranarray(SCHEMA.encode(frame))
    whole, records = Records(codes, SCHEMA), together(parted(frame, holders), SCHEMA)
    assert records.n == whole.n
    for columns in [(0,), (1, 0), (3, 1, 2)]:
        assert records.table(columns).tolist() == whole.table(columns).tolist()
    sets = np.array([[0, 2], [2, 3]])
    for (_, mine), (_, theirs) in zip(
        records.counter.cells(sets), Codes(codes, SCHEMA.sizes).cells(sets), strict=True
    ):
        assert mine.tolist() == theirs.tolist()
    assert records.binary().table((1, 2)).tolist() == whole.binary().table((1, 2)).tolist()


@pytest.mark.parametrize("name", FITS)
def test_the_same_noise_gives_the_same_model(name):
    """Where the records are makes no difference to a fit."""
    frame = table()
    one = FITS[name]().fit(frame, SCHEMA, noise=ExactNoise(4))
    other = FITS[name]().fit(together(parted(frame), SCHEMA), noise=ExactNoise(4))
    assert one.model_.to_dict() == other.model_.to_dict()


# --- the ledger -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FITS)
def test_the_ledger_closes_and_names_laws_that_have_shares(name):
    fitted = fit(FITS[name](random_state=1), parted(table()), SCHEMA)
    ledger = fitted.ledger_
    assert ledger.epsilon == 1 and [line[:3] for line in ledger.check()] == ["L10"]  # seeded
    kinds = {entry.mechanism for entry in ledger.entries if entry.kind == "mechanism"}
    assert kinds <= {"discrete_laplace", "permute_and_flip", "forfeited"}
    again = fit(FITS[name](random_state=1), parted(table()), SCHEMA)
    assert again.model_.to_dict() == fitted.model_.to_dict()


def test_unseeded_shares_are_private():
    fitted = fit(FITS["HPPrivBayes"](), parted(table()), SCHEMA)
    assert fitted.ledger_.private and not fitted.ledger_.reproducible
    assert len(fitted.sample()) == 40


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"guarantee": "published"}, "strict"),
        ({"guarantee": "none"}, "strict"),
        ({"noise": "opendp"}, "no shares"),
        ({"noise": "common"}, "no shares"),
    ],
)
def test_what_has_no_shares_is_refused(options, word):
    with pytest.raises(BudgetError, match=word):
        fit(FITS["HPPrivBayes"](**options), parted(table()), SCHEMA)


def test_delta_is_refused_before_anything_is_drawn():
    with pytest.raises(BudgetError, match="pure ε"):
        fit(FITS["ConsistentBayes"](delta=1e-9), parted(table()), SCHEMA)
    source, records = SharedNoise(3, seed=1), together(parted(table()), SCHEMA)
    synthesizer = FITS["ConsistentBayes"](delta=1e-9)  # by the synthesizer's own door
    with pytest.raises(PrivacyError, match="leave delta"):
        synthesizer.fit(records, noise=source)


def test_one_holder_and_a_wrong_table_are_refused():
    with pytest.raises(BudgetError, match="at least 2"):
        fit(FITS["HPPrivBayes"](), [table()], SCHEMA)
    with pytest.raises(BudgetError, match="honest must be"):
        fit(FITS["HPPrivBayes"](), parted(table()), SCHEMA, honest=4)
    wrong = [*parted(table(), 2), table().assign(x1=9)]
    with pytest.raises(SchemaError, match="holder 3"):
        fit(FITS["HPPrivBayes"](), wrong, SCHEMA)
    with pytest.raises(SchemaError, match="a DataFrame for each holder"):
        fit(FITS["HPPrivBayes"](), table(), SCHEMA)
    with pytest.raises(BudgetError, match="one ε for all persons"):
        fit(FITS["HPPrivBayes"](), parted(table()), SCHEMA, person_epsilon="own")


def test_what_is_no_synthesizer_no_list_or_no_ledger_is_refused():
    for wrong in (3, pds.PrivBayes):
        with pytest.raises(BudgetError, match="no synthesizer"):
            fit(wrong, parted(table()), SCHEMA)
    with pytest.raises(SchemaError, match="it is empty"):
        together([], SCHEMA)
    with pytest.raises(PrivacyError, match="takes the ledger_"):
        losses(FITS["Independent"]())


def test_noise_shared_by_others_is_refused():
    """The ledger would say 3 honest of 3, and intervals would be too narrow for this noise."""
    with pytest.raises(BudgetError, match="1 of them honest, but this fit has 3, 3"):
        fit(FITS["Independent"](), parted(table()), SCHEMA, noise=SharedNoise(3, 1))
    fitted = fit(FITS["Independent"](), parted(table()), SCHEMA, noise=SharedNoise(3), honest=3)
    assert fitted.ledger_.holders == (3, 3)


@pytest.mark.parametrize("honest", [None, 1, 2])
def test_the_noise_is_shared_by_as_many_as_the_ledger_says(honest):
    """A fit that drew shares for more honest holders had less noise than they are promised."""
    seeded = {"synthesizer": FITS["Independent"](random_state=5), "tables": parted(table())}
    tables = fit(**seeded, schema=SCHEMA, honest=honest).model_.tables
    for number in (1, 2, 3):
        noise = SharedNoise(3, number, 5)
        same = fit(**seeded, schema=SCHEMA, honest=number, noise=noise).model_.tables
        equal = all(map(np.array_equal, tables, same))
        assert equal == (number == (honest or 3))


@pytest.mark.parametrize("honest", [None, 1])
def test_a_bootstrap_of_holders_has_their_noise(honest):
    """One curator's noise is less, and its intervals would be too short."""
    model = fit(pds.ConsistentBayes(1), parted(table()), SCHEMA, honest=honest).model_
    fits = [again for _, again in play(model, 2, 0)]
    assert [again.ledger.holders for again in fits] == [model.ledger.holders] * 2


def test_a_warning_names_the_line_that_fitted():
    with pytest.warns(UserWarning, match="under noise of") as told:
        fit(pds.PrivBayes(0.01, k=3), parted(table()), SCHEMA)
    assert {one.filename for one in told} == {__file__}
    place = {"fit": fit, "method": pds.PrivBayes(0.01, k=3), "mine": parted(table())}
    with pytest.warns(UserWarning, match="under noise of"):  # a place without a module's name
        exec("fit(method, mine, schema)", place | {"schema": SCHEMA})


@pytest.mark.parametrize(("honest", "more"), [(3, ""), (2, "1.27"), (1, "1.88")])
def test_a_warning_says_how_much_more_noise_spare_shares_make(honest, more):
    with pytest.warns(UserWarning, match="under noise of scale") as told:
        fit(pds.PrivBayes(0.01, k=3), parted(table()), SCHEMA, honest=honest)
    (words,) = {str(one.message) for one in told}
    assert words.endswith(f"(all shares of noise together: {more} times as much)" * bool(more))
    assert bool(more) or "shares" not in words


# --- replay ---------------------------------------------------------------------------------------


class ByHolders:
    """A synthesizer whose fit parts the table among holders: what a replay calls."""

    guarantee, records_per_person, epsilon = "strict", 1, 1

    def __init__(self, make, part=parted):
        self.make, self.part = make, part

    def clone(self):
        return self

    def fit(self, frame, schema, noise):
        return fit(self.make(), self.part(frame), schema, noise=noise)


@pytest.fixture
def shared_laws(monkeypatch):
    """The tape stands for a source with the laws that have shares."""
    monkeypatch.setattr(tape.Tape, "permutes", True)
    monkeypatch.setattr(tape.Tape, "zero_sum", False)


def neighbour_of(frame, record=(1, 2, 1, 0)):
    """The same table with one record replaced."""
    changed = frame.copy()
    changed.iloc[0] = record
    return changed


@pytest.mark.usefixtures("shared_laws")
@pytest.mark.parametrize("name", FITS)
def test_replay_holds(name):
    frame = table(14)
    other = frame.iloc[1:] if name == "added" else neighbour_of(frame)
    found = audit.replay(ByHolders(FITS[name]), frame, other, SCHEMA, walks=4)
    assert found.ok and found.moved, found
    assert float(found.log_ratio) <= 1 + 1e-9


@pytest.mark.usefixtures("shared_laws")
def test_replay_finds_a_holder_that_counts_twice():
    """The failing twin: one holder's table comes in twice, and so does each of its records."""

    def doubled(frame):
        return [*parted(frame, 2), parted(frame, 2)[0]]

    class Doubled(ByHolders):
        def fit(self, frame, schema, noise):
            records = together(self.part(frame), schema)
            return self.make().fit(records, noise=noise)

    frame = table(14)
    found = audit.replay(
        Doubled(FITS["Independent"], doubled), frame, neighbour_of(frame), SCHEMA, walks=2
    )
    assert not found.ok and math.isclose(found.log_ratio, 2 * 0.5, rel_tol=1e-9)


# --- audits of what is really drawn ---------------------------------------------------------------


def views(holders, honest, known, runs=20_000, epsilon=Q(1), seed=3):
    """A count that is 0 or 1 with all shares, as those see it who know some of them."""
    scale, out = 1 / epsilon, []
    for world in (0, 1):
        noise = SharedNoise(holders, honest, [seed, world])
        shares = noise.shares(np.array(scale, dtype=object), (runs,))
        out.append(world + shares[known:].sum(axis=0))
    return out


def test_an_audit_of_the_sum_finds_no_more_than_was_claimed():
    found = lower_bound(*views(3, None, 0))
    assert 0.75 < found.epsilon <= 1


def test_an_audit_with_a_share_known_refutes_the_claim():
    """The failing twin: one of two takes its share off, and the rest has less noise than that."""
    found = lower_bound(*views(2, None, 1))
    assert 1 < found.epsilon <= loss_of_sum(Q(1), Q(1, 2))


def test_shares_for_fewer_honest_holders_keep_the_claim():
    assert lower_bound(*views(2, 1, 1)).epsilon <= 1


# --- what colluding holders learn -----------------------------------------------------------------


def law_of_rest(scale, shape, size=3000):
    """P(D = z), z = 0 … 60: the difference of two Pólya numbers, by summing."""
    q = math.exp(-1 / scale)
    w = polya_law(shape, q, size)
    return np.array([w[: size - z] @ w[z:] for z in range(61)])


@pytest.mark.parametrize("scale", [Q(1), Q(5), Q(40)])
@pytest.mark.parametrize("shape", [Q(1, 20), Q(1, 2), Q(4, 5), Q(19, 20)])
@pytest.mark.parametrize("moved", [1, 3])
def test_the_loss_of_a_sum_is_the_largest_ratio(scale, shape, moved):
    p = law_of_rest(scale, shape)
    z = np.arange(-60, 61 - moved)
    largest = np.log(p[abs(z)] / p[abs(z + moved)]).max()
    assert loss_of_sum(scale, shape, moved) == pytest.approx(largest, rel=1e-5)
    assert loss_of_sum(scale, shape, moved) >= largest


def test_the_whole_noise_loses_what_it_should():
    for scale, moved in product((Q(1, 3), Q(20)), (1, 7)):
        assert loss_of_sum(scale, Q(1), moved) == float(moved / scale)
        p = law_of_rest(scale, Q(1), 4000)
        if scale > 1:
            assert np.log(p[0] / p[moved]) == pytest.approx(float(moved / scale))
    assert loss_of_choice(Q(2), Q(5), Q(1)) == 2


def test_half_of_the_holders_are_too_many():
    """With half of the shares known a larger scale hardly helps, beyond half it doesn't at all."""
    half = [loss_of_sum(Q(10**k), Q(1, 2)) for k in (1, 3, 6)]
    most = [loss_of_sum(Q(10**k), Q(1, 4)) for k in (1, 3, 6)]
    assert half[0] > half[1] > half[2] > 0.1
    assert most[0] > most[1] > most[2] > 1 and most[1] - most[2] < 0.03
    few = [loss_of_sum(Q(10**k), Q(9, 10)) for k in (1, 3)]
    assert few[1] < few[0] / 10


def choice_law(scores, shape, rate, size=120):
    """P(i wins) of two candidates with Pólya noise, ties at random."""
    q = math.exp(-rate)
    p = polya_law(shape, q, size)
    a, b = np.meshgrid(np.arange(size) + scores[0], np.arange(size) + scores[1], indexing="ij")
    first = ((a > b) + 0.5 * (a == b)) * np.outer(p, p)
    return np.array([first.sum(), 1 - first.sum()])


@pytest.mark.parametrize("shape", [Q(1, 4), Q(1, 2), Q(9, 10), Q(1)])
def test_a_choice_loses_at_most_its_bound(shape):
    epsilon, sensitivity = Q(1), Q(2)
    rate, worst = float(epsilon / (2 * sensitivity)), 0.0
    for gap, x, y in product(range(-8, 9, 2), (-2, 0, 2), (-2, 0, 2)):
        one, other = choice_law((0, gap), shape, rate), choice_law((x, gap + y), shape, rate)
        worst = max(worst, float(np.abs(np.log(one / other)).max()))
    bound = loss_of_choice(epsilon, sensitivity, shape)
    assert 0.6 * bound < worst <= bound * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [1, 20, 40, 2000, 10**7])
def test_losses_at_a_large_epsilon(epsilon):
    """With q small P(k) = C(k − 1/2, k) qᵏ up to 1e-8 of it: 1/2 at k = 1 and 3/8 at k = 2.

    What is beyond a gap was 1 − a sum that rounds to 1: 36.7 at ε = 40, or an error.
    """
    for found, weight in (
        (loss_of_choice(Q(epsilon), Q(1), Q(1, 2)), 3 / 8),
        (loss_of_sum(Q(2, epsilon), Q(1, 2), 2), 3 / 8),
        (loss_of_sum(Q(1, epsilon), Q(1, 2)), 1 / 2),
    ):
        assert found >= epsilon
        if epsilon > 30:
            assert found == pytest.approx(epsilon - math.log(weight), rel=1e-5)


@pytest.mark.parametrize("shape", [Q(1, 10), Q(1, 2), Q(999, 1000)])
def test_a_choice_loses_what_is_beyond_its_gap(shape):
    """Summed with many digits, on both sides of where the way of adding up changes."""
    for epsilon, sensitivity in product((Q(1, 10), Q(2), Q(30), Q(50)), (1, 30)):
        q, rest, whole, weight = math.exp(-float(epsilon / (2 * sensitivity))), 0.0, 0.0, 1.0
        for k in range(40 * sensitivity * math.ceil(2 / epsilon) + 4 * sensitivity):
            whole += weight * q**k
            rest += weight * q**k if k >= 2 * sensitivity else 0
            weight *= (k + float(shape)) / (k + 1)
        found = loss_of_choice(epsilon, Q(sensitivity), shape)
        assert found >= math.log(whole / rest) - 1e-12
        assert found == pytest.approx(math.log(whole / rest), rel=1e-5)


@pytest.mark.parametrize("name", ["HPPrivBayes", "HMPrivBayes", "ConsistentBayes"])
def test_losses_of_a_whole_fit(name):
    fitted = fit(FITS[name](random_state=1), parted(table(), 4), SCHEMA)
    found = losses(fitted.ledger_)
    assert found.index.tolist() == [0, 1, 2, 3] and found[0] == pytest.approx(1)
    assert found.is_monotonic_increasing and found[1] > 1
    safe = losses(fit(FITS[name](random_state=1), parted(table(), 4), SCHEMA, honest=2).ledger_)
    assert safe[2] == pytest.approx(1) and safe[3] > 1


def test_a_ledger_says_that_its_noise_was_shared_whoever_asked_for_it():
    """In a fit of one table the card said "in one place", and 90 % intervals held 43 %."""
    source, frame = SharedNoise(10, 1, seed=1), table()
    fitted = FITS["Independent"]().fit(frame, SCHEMA, noise=source)
    assert fitted.ledger_.holders == (10, 1)
    alike = fit(FITS["Independent"](), parted(frame, 10), SCHEMA, honest=1, noise=source)
    assert losses(fitted.ledger_).to_dict() == losses(alike.ledger_).to_dict()
    name = SCHEMA.names[0]
    wide, narrow = (
        made.model_.marginal(name, interval=0.9).eval("high - low").median()
        for made in (fitted, FITS["Independent"]().fit(frame, SCHEMA))
    )
    assert wide > 2 * narrow


def test_whoever_is_no_holder_learns_the_epsilon_of_the_ledger_and_no_rounding_of_it():
    """Ten tenths are 1; in floats they were 0.9999999999999999."""
    ledger = Ledger(Q(1), holders=(2, 1))
    for _ in range(10):
        ledger.write("mechanism", "unused", mechanism="forfeited", epsilon=Q(1, 10))
    assert losses(ledger).tolist() == [1, 1]
    assert sum(float(e.epsilon) for e in ledger.entries) < ledger.epsilon


def test_losses_follow_the_scales_of_values():
    fitted = fit(
        pds.HPPrivBayes(1, sensitive="x0", k=1, random_state=1), parted(table(), 4), SCHEMA
    )
    lines = [e for e in fitted.ledger_.entries if isinstance(e.scale, tuple)]
    assert lines
    for line in lines:
        most = sorted((loss_of_sum(b, Q(1, 2)) for b in line.scale), reverse=True)
        due = 2 * most[0] if line.columns > 1 else most[0] + most[1]
        assert collusion._loss(line, Q(1, 2), 1) == pytest.approx(due)


@pytest.mark.parametrize("name", ["HPPrivBayes", "HMPrivBayes"])
def test_a_sketch_tells_colluders_what_each_of_its_numbers_can(name):
    """Many numbers that move by a little lose more than one that moves by all of it."""
    made = {"HPPrivBayes": FITS["HPPrivBayes"], "HMPrivBayes": lambda: pds.HMPrivBayes(9, k=2)}
    ledger = fit(made[name](), parted(table(400), 4), SCHEMA).ledger_
    lines = [e for e in ledger.entries if e.lemma == "lemma:residuals"]
    assert lines
    for line, shape in product(lines, (Q(1, 4), Q(3, 4))):
        pairs, times = line.domain_sizes
        d = len(line.attributes)
        moves = [2] * pairs if times == 1 else [2 * (d - 1)] * d  # a column stands in d − 1 pairs
        assert sum(moves) == line.sensitivity
        due = sum(loss_of_sum(line.scale, shape, move) for move in moves)
        assert collusion._loss(line, shape, 1) >= due * (1 - 1e-5)


def reached(steps, scale, shape):
    """The loss of independent numbers that move by some steps, by the laws written out."""
    law = polya_differences(shape, math.exp(-1 / float(scale)))
    middle = len(law) // 2
    here, there = law[middle], [law[middle + step] for step in steps]
    return sum(math.log(here / p) for p in there)


def polya_differences(shape, q, size=400):
    p = polya_law(shape, q, size)  # up to many scales
    return np.convolve(p, p[::-1])


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_losses_of_a_person_with_many_records(relation, m):
    """Its records leave m cells, and enter m others where they are replaced."""
    made = pds.baselines.Independent(1, relation=relation, records_per_person=m)
    schema = pds.Schema(tuple(pds.Attribute.categorical(x, list(range(8))) for x in "xy"))
    frame = pd.DataFrame({"x": np.arange(40) % 8, "y": np.arange(40) // 5})
    ledger = fit(made, parted(frame, 5), schema).ledger_
    tables = [e for e in ledger.entries if isinstance(e.scale, Q) and e.attributes]
    others = [e for e in ledger.entries if e not in tables]
    moves = (2 if relation == "replace_one" else 1) * m
    assert len(tables) == 2 and losses(ledger)[0] == pytest.approx(1)
    for colluding in (1, 4):
        shape = Q(5 - colluding, 5)
        due = [reached([1] * moves, e.scale, shape) for e in tables]
        assert all(d >= reached([moves], e.scale, shape) for d, e in zip(due, tables, strict=True))
        rest = m * sum(collusion._loss(e, shape, m) for e in others)
        assert losses(ledger)[colluding] == pytest.approx(sum(due) + rest, rel=1e-4)


def test_a_choice_of_a_person_with_many_records_is_as_many_choices():
    one, many = (
        fit(pds.PrivBayes(m, k=1, records_per_person=m), parted(table(), 4), SCHEMA).ledger_
        for m in (1, 3)
    )
    choices = [[e for e in x.entries if e.scale is None] for x in (one, many)]
    assert choices[0]
    for a, b in zip(*choices, strict=True):
        assert 3 * a.epsilon == b.epsilon and 3 * a.sensitivity == b.sensitivity
        lost = [collusion._loss(e, Q(1, 4), m) for e, m in ((a, 1), (b, 3))]
        assert lost[0] == pytest.approx(lost[1])


@pytest.mark.parametrize(("honest", "shape"), [(1, Q(5)), (2, Q(5, 2)), (5, Q(1))])
@pytest.mark.parametrize("cells", [1, 3])
def test_intervals_know_that_more_noise_was_added(honest, shape, cells):
    law = polya_differences(shape, math.exp(-1 / 4))
    summed = law
    for _ in range(cells - 1):
        summed = np.convolve(summed, law)
    middle = len(summed) // 2
    inside = [summed[middle - t : middle + t + 1].sum() for t in range(200)]
    due = next(t for t, chance in enumerate(inside) if chance >= 0.9)
    assert half_width("discrete_laplace", Q(4), cells, 8, 0.9, shape) == due
    assert shape > 1 or half_width("discrete_laplace", Q(4), cells, 8, 0.9) == due


def test_a_release_of_holders_says_so(tmp_path):
    """Ledger, file, intervals and card know how many there were."""
    session, parts = pds.Session(2), parted(table(), 5)
    made = fit(pds.baselines.Independent(1), parts, SCHEMA, honest=2, session=session)
    assert session.spent == 1 and made.ledger_.holders == (5, 2)
    again = pds.Model.from_dict(made.model_.to_dict())
    assert again.ledger.holders == (5, 2)
    alone = pds.Model.from_dict(made.model_.to_dict())
    alone.ledger.holders = None
    names = [SCHEMA.names[0]]
    wide, narrow = (m.marginal(names, interval=0.9) for m in (again, alone))
    assert ((wide["high"] - wide["low"]) >= (narrow["high"] - narrow["low"])).all()
    assert (wide["high"] - wide["low"]).sum() > (narrow["high"] - narrow["low"]).sum()
    card = pds.datasets.write_release(made.model_, tmp_path / "r", session=session) / "card.md"
    text = card.read_text("utf-8")
    most = losses(made.ledger_).iloc[-1]
    assert "By 5 holders" in text and "At least 2 of them" in text
    assert f"up to ε = {math.ceil(most * 1000) / 1000:g}" in text and "central model" not in text
    broken = made.model_.to_dict()
    for wrong in ([2, 5], [5, 0], [5], ["5", "2"], [True, True]):
        broken["ledger"]["holders"] = wrong
        with pytest.raises(SchemaError):
            pds.Model.from_dict(broken)


@pytest.mark.parametrize("number", [2, 5])
def test_a_card_says_what_one_holder_learns_that_keeps_all_to_itself(number):
    """It knows its own noise: "holds if each keeps what it knows to itself" left that out."""
    made = fit(pds.baselines.Independent(1), parted(table(), number), SCHEMA)
    text = make_card(made.model_, title="t", table="t.csv", rows=3).markdown
    alone, most = (math.ceil(e * 1000) / 1000 for e in losses(made.ledger_).iloc[[1, -1]])
    assert "holds against whoever is none of them, if each" in text and alone > 1
    said = f"One of them, who takes its own noise off, could learn up to ε = {alone:g} about a"
    assert said in text and (
        f"together what they know, could learn up to ε = {most:g} about" in text
    ) == (number > 2)
    safe = fit(pds.baselines.Independent(1), parted(table(), number), SCHEMA, honest=1)
    text = make_card(safe.model_, title="t", table="t.csv", rows=3).markdown
    assert "At least 1 of them keeps what it knows to itself: what is said here holds" in text


def test_holders_choose_no_private_bins():
    private = pds.Attribute.numeric("x0", 0, 99, bins="private", number=4, integer=True)
    schema = pds.Schema((private, *SCHEMA.attributes[1:]))
    with pytest.raises(SchemaError, match="declare their edges"):
        fit(pds.baselines.Independent(1), parted(table(), 3), schema)


def test_a_fit_that_fails_midway_says_what_colluders_learnt(monkeypatch):
    made = FITS["HPPrivBayes"]()
    with monkeypatch.context() as broken:
        broken.setattr("pdsynth.core.recipe.close", lambda curator: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fit(made, parted(table(), 3), SCHEMA, honest=2)
    (ledger,) = made.unfinished_
    assert ledger.holders == (3, 2)
    made.fit(table(), SCHEMA)
    assert losses(ledger).to_dict() == losses(made.unfinished_[0]).to_dict()
    assert made.ledger_.holders is None


def test_losses_of_a_curators_ledger_are_refused():
    for options in ({}, {"guarantee": "published"}, {"relation": "add_remove"}):
        made = pds.baselines.Independent(1, **options)
        with pytest.raises(PrivacyError, match="never shared by holders"):
            losses(made.fit(table(), SCHEMA).ledger_)
