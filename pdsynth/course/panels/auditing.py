"""The courtroom of lesson 16: the lower bound of an audit climbs past the claim, or doesn't."""

import math

import numpy as np

from ... import audit
from ...audit.case import Case, format_epsilon
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import OVERLAY, Board
from .panel import live_panel
from .table import remember

STEPS = (
    "datasynthesizer-double-spending",
    "hpprivbayes-raw-weights",
    "hpprivbayes-count-of-tables",
    "hpprivbayes-shared-row-noise",
    "hmprivbayes-clusters",
    "privabn-conditional-noise",
    "strict-joint-tables",
    "strict-value-weights",
    "datasynthesizer-one-record-more",
)
FEWEST, SEED, BARS = 200, 16, 40
Samples = tuple[np.ndarray, np.ndarray]


@remember
def samples_of(step: str, epsilon: float, runs: int) -> Samples:
    """Statistics of both made-up tables, from a fixed stream: int64 (runs,) each."""
    return audit.samples(step, runs, epsilon=epsilon, seed=SEED)


def draw_climb(plot: Board, case: Case, samples: Samples) -> None:
    """Bound, ceiling and claim against the number of runs."""
    runs = len(samples[0])
    sizes = np.unique(np.geomspace(min(FEWEST, runs), runs, 14).astype(int))
    bounds = [max(audit.lower_bound(*(x[:size] for x in samples)).epsilon, 0) for size in sizes]
    claimed = float(case.claimed)
    plot.line(
        sizes,
        bounds,
        "attack" if bounds[-1] > claimed else "private",
        width=2.5,
        mode="lines+markers",
        name="lost, at least (95 %)",
    )
    plot.line(
        sizes,
        [audit.ceiling(int(n)) for n in sizes],
        "real",
        dash="dot",
        width=1.5,
        name="a perfect attack would show",
    )
    plot.line(sizes, [claimed] * len(sizes), "look", dash="dash", width=2, name="claimed ε")
    proved, height = format_epsilon(bounds[-1]), max(bounds) + 0.35
    if abs(height - claimed) < 0.35:  # apart from the dashed line
        height = claimed + 0.35
    plot.note(f"proved: <b>{proved}</b>", math.log10(runs), height, 1,
              "attack" if bounds[-1] > claimed else "private", 16, xanchor="right")  # fmt: skip
    plot.layout["meta"]["more"] = {"control": "runs", "by": 1, "label": "1,000 more"}


def draw_worlds(plot: Board, samples: Samples, bound: audit.Bound) -> None:
    """What the adversary sees: a bar for each value, or for as many next to each other as needed.

    The dashed line stands between the last value of the event and the first one outside it.
    """
    seen = np.unique(np.concatenate(samples))
    edges, places = np.append(seen, seen[-1] + 1), seen.astype(float)
    if len(seen) > BARS:
        wide = math.ceil((seen[-1] - seen[0] + 1) / BARS)
        edges = np.arange(seen[0], seen[-1] + 1 + wide, wide)
        places = edges[:-1] + (wide - 1) / 2
    for name, world, colour, shape in zip(
        ("D", "D'"), samples, ("real", "look"), ("", "/"), strict=True
    ):
        plot.bars(
            places,
            np.histogram(world, edges)[0] / len(world),
            colour,
            2,
            name=f"world {name}",
            opacity=0.65,
            pattern={"shape": shape, **OVERLAY},
        )
    outside = seen[bound.sign * seen < bound.sign * bound.threshold]
    next_one = outside[np.argmax(bound.sign * outside)] if len(outside) else bound.threshold
    at = float(bound.threshold + next_one) / 2
    plot.mark((at, at), (0, 1), "attack", 2, yref="y2 domain")


@live_panel(
    spends=False,  # the tables are made up
    tries=(
        Try(
            "claim less",
            {"epsilon": 0.3},
            "of {now.claimed:g} the attack proves {now.lost:.3g}: {now.verdict}.",
            lambda was, now: now.verdict == audit.NOT_REFUTED,
        ),
        Try(
            "few runs",
            {"runs": 1},
            "1,000 runs prove {now.lost:.3g}, 10,000 {was.lost:.3g}; even a perfect attack would "
            "show no more than {now.ceiling:.2f}.",
            lambda was, now: now.lost < was.lost and now.ceiling < was.ceiling,
        ),
        Try(
            "a step that is right",
            {"step": "strict-joint-tables"},
            "at least {now.lost:.3g} of the claimed {now.claimed:g}: {now.verdict}.",
            lambda was, now: now.verdict == audit.NOT_REFUTED,
        ),
    ),
    step=choice("step", STEPS),
    runs=slider("runs", 10, 1, 40, 1, unit="thousand", tooltip="runs of each world"),
    epsilon=slider("ε", 1.0, 0.1, 3.0, 0.1, tooltip="ε, what the step claims"),
)
def view(step: str, epsilon: float, runs: int) -> View:
    """One audit; ``runs`` in thousands."""
    case, samples = audit.case(step, epsilon), samples_of(step, float(epsilon), runs * 1000)
    bound, count = audit.lower_bound(*samples), len(samples[0])
    lost = max(bound.epsilon, 0.0)
    verdict = audit.VIOLATED if lost > epsilon else audit.NOT_REFUTED
    plot = Board("auditing", f"{step}: ε = {epsilon:g}, {count:,} runs")
    draw_climb(plot, case, samples)
    draw_worlds(plot, samples, bound)
    ceiling = audit.ceiling(count)
    facts = {"lost": lost, "claimed": epsilon, "verdict": verdict, "ceiling": ceiling}
    status = (
        f"{count:,} runs prove a loss of {format_epsilon(lost)}; {epsilon:g} was claimed. "
        f"{verdict.capitalize()}: claimed ε = {epsilon:g}, lost at least {format_epsilon(lost)} "
        f"with 95 % confidence. In theory {format_epsilon(case.theory(case.claimed))}; "
        f"a perfect attack would show {format_epsilon(ceiling)}."
    )
    words = (
        f"<p><b>What is tested.</b> {case.about} ({case.source}).<br><b>Pair of tables.</b> "
        f"{case.tables}<br><b>Event.</b> {bound.event}</p>"
        f"<p><b>The ledger says.</b> {case.ledger().verdict()}</p>"
    )
    return View(plot.figure, status, [words], facts=facts)


panel = view.panel
