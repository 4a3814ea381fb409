"""Exact micro-worlds: whole laws in fractions, the band between neighbours, and what breaks it."""

import math
from fractions import Fraction as Q

import pytest

from pdsynth.audit import worlds
from pdsynth.audit.detectors import law, log_ratio
from pdsynth.audit.detectors import log_ratio as loss
from pdsynth.audit.pairs import curator_of
from pdsynth.audit.worlds import STEPS, World, exp_of_minus, inside, table, worst
from pdsynth.core.errors import BudgetError

HERE = World(((0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 0)))
SOUND = ("PrivBayes, score R", "PrivBayes, score I", "public order, score R")
EPSILON = Q(1)


@pytest.mark.parametrize("gamma", [Q(0), Q(1, 3), Q(1), Q(7, 2), Q(60)])
def test_e_to_the_minus_is_right_to_forty_nine_digits(gamma):
    terms, total, k = Q(1), Q(1), 1
    while terms > Q(1, 10**90):
        terms *= gamma / k
        total += terms
        k += 1
    assert abs(exp_of_minus(gamma) * total - 1) < Q(1, 10**49)


@pytest.mark.parametrize("step", STEPS)
def test_a_law_sums_to_exactly_one_and_agrees_with_floating_point(step):
    exact = HERE.law(step, EPSILON)
    assert sum(exact.values()) == 1 and all(isinstance(p, Q) and p > 0 for p in exact.values())
    floating = law(
        lambda noise: STEPS[step](
            curator_of(HERE.rows, HERE.sizes, noise, Q(9), "published"), noise, EPSILON
        )
    )
    assert {o: float(p) for o, p in exact.items()} == pytest.approx(floating, rel=1e-12)


def test_a_law_by_hand():
    """Three candidates at most: x1 or x2 hangs on x0,
    then the other one on x0 or on its sibling.
    """
    found = World(((0, 0, 0),) * 4).law("PrivBayes, score R", EPSILON)
    assert found == {o: Q(1, 4) for o in found} and len(found) == 4, (
        "a constant table: every K is 0, so all outcomes are alike"
    )
    assert set(found) == {
        "x0 · x1←x0 · x2←x0",
        "x0 · x1←x0 · x2←x1",
        "x0 · x2←x0 · x1←x0",
        "x0 · x2←x0 · x1←x2",
    }


@pytest.mark.parametrize("step", SOUND)
def test_sound_steps_stay_inside_the_band_for_every_person_and_every_move(step):
    here = HERE.law(step, EPSILON)
    found = [(other.law(step, EPSILON), who) for who, other in HERE.neighbours()]
    assert len(found) == 5 * 7 and {who for _, who in found} == set(range(5))
    assert all(inside(here, there, EPSILON) for there, _ in found)
    assert 0.05 < worst(HERE, step, EPSILON)[0] < 1, "not vacuous"


def test_twin_noise_that_is_n_times_too_small_leaves_the_band():
    lost, who, other = worst(HERE, "sensitivity divided by n twice", EPSILON)
    p, q = (
        HERE.law("sensitivity divided by n twice", EPSILON),
        other.law("sensitivity divided by n twice", EPSILON),
    )
    assert 1 < lost < 5 and lost == pytest.approx(
        log_ratio({o: float(x) for o, x in p.items()}, {o: float(x) for o, x in q.items()})
    )
    assert not inside(p, q, EPSILON) and inside(p, q, Q(5))
    assert (
        len(
            {i for i, (a, b) in enumerate(zip(HERE.rows, other.rows, strict=True)) if a != b}
            | {who}
        )
        == 1
    )


def test_twin_a_raw_order_can_be_told_from_its_support():
    lost, _, other = worst(HERE, "raw order (HPPrivBayes as printed)", EPSILON)
    p, q = (w.law("raw order (HPPrivBayes as printed)", EPSILON) for w in (HERE, other))
    assert lost == math.inf == loss(p, q)
    assert not inside(p, q, Q(10**6)), "no ε covers it"
    assert set(table(p, q)["log_ratio"]) >= {math.inf, -math.inf}


def test_the_band_is_compared_as_fractions():
    half = {"a": Q(1, 2), "b": Q(1, 2)}
    edge = exp_of_minus(EPSILON) / 2
    assert inside(half, {"a": edge, "b": 1 - edge}, EPSILON)
    assert not inside(half, {"a": edge * (1 - Q(1, 10**30)), "b": 1 - edge}, EPSILON), (
        "a hair outside, which doubles can't see"
    )
    assert float(edge * (1 - Q(1, 10**30))) == float(edge)


def test_both_laws_side_by_side():
    p, q = {"a": Q(1, 4), "b": Q(3, 4)}, {"a": Q(1, 2), "c": Q(1, 2)}
    both = table(p, q)
    assert list(both.index) == ["b", "a", "c"]
    assert list(both["log_ratio"]) == [math.inf, pytest.approx(-math.log(2)), -math.inf]


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        (((0, 0, 0),) * 7, (2, 2, 2)),
        ((), (2, 2)),
        (((0,),), (2,)),
        (((0, 0, 0, 0),), (2,) * 4),
        (((0, 5),), (2, 2)),
        (((0, 0),), (2, 5)),
    ],
)
def test_worlds_that_are_too_large_or_impossible_are_refused(rows, sizes):
    with pytest.raises(BudgetError):
        World(rows, sizes)


def test_larger_domains_and_a_step_of_one_s_own():
    world = World(((0, 2), (1, 1), (2, 0)), (3, 3))
    assert world.law(lambda door, noise, epsilon: noise.child("coin").below(3), EPSILON) == {
        "0": Q(1, 3),
        "1": Q(1, 3),
        "2": Q(1, 3),
    }
    assert len(world.cells) == 9 and len(list(world.neighbours(1))) == 8
    with pytest.raises(ValueError, match="exponential mechanism only"):
        worlds.ExactLawNoise().select([0, 1], 1, permute=True)
