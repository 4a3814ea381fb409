"""Draws the README's moving picture: ``python notebooks/moving.py [FILE]``.

Its frames are the first chart of lesson 01's panel: ε moves, then half of the noise is left out.
It is one SVG that moves by its own styles. Where motion is not wanted, its first frame stands still.
The default FILE is ``pictures/moving.svg``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import plotly.graph_objects as go

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from pdsynth.course.panels import mechanisms  # noqa: E402
from pdsynth.course.widgets.still import svg  # noqa: E402

WIDTH, HEIGHT, TOP = 800, 490, 92  # pixels of the picture, and of what stands above the chart
CHART = 600  # pixels that the chart is drawn in, before it is stretched to the picture's width
SHOWN, HIGHEST = 10, 0.8  # people on both sides of the real count, and the highest chance on show
SECONDS = 1.5  # that a frame is seen
SLIDER = (300, 600)  # pixels from the left where it starts and ends
EPSILONS = (0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 1.0)  # one frame each, with all of the noise
FRAMES = [*({"epsilon": epsilon} for epsilon in EPSILONS), {"epsilon": 1.0, "share": 0.5}]
MOST = 2.2  # where the slider ends


def first_chart(figure: go.Figure, count: int) -> go.Figure:
    """The panel's first chart alone, without its title, around the real count."""
    alone = go.Figure([t for t in figure.data if t.xaxis in (None, "x")], figure.layout)
    alone.layout.annotations, alone.layout.title.text = [], ""
    alone.layout.xaxis.domain, alone.layout.yaxis.range = (0, 1), (0, HIGHEST)
    alone.layout.xaxis.range = (count - SHOWN - 0.5, count + SHOWN + 0.5)
    return alone.update_layout(height=330, margin={"l": 48, "r": 16, "t": 60, "b": 56})


def frame(place: int, at: dict[str, float]) -> str:
    """One frame: the slider at its place, the panel's first sentence, and the chart."""
    view = mechanisms.view(**at)
    drawn = svg(first_chart(view.figure, view.facts["count"]), width=CHART)
    chart = drawn[drawn.index(">") + 1 : -len("</svg>")]
    epsilon, right = at["epsilon"], "share" not in at
    start, end = SLIDER
    x = start + (end - start) * epsilon / MOST
    noise = "all of the noise" if right else "half of the noise"
    said, ink = view.status.split(". ")[0], "#333" if right else "#B34700"
    return (
        f"<g class='frame' style='animation-delay:{place * SECONDS:g}s'>"
        f"<text x='20' y='33' font-size='18'>ε, privacy budget: {epsilon:g}</text>"
        f"<path d='M{start} 27H{end}' stroke='#999' stroke-width='3'/>"
        f"<circle cx='{x:.1f}' cy='27' r='10' fill='#0072B2'/>"
        f"<text x='780' y='33' text-anchor='end' font-size='18' fill='{ink}'>{noise}</text>"
        f"<text x='20' y='70' font-size='18' font-weight='600' fill='{ink}'>{said}.</text>"
        f"<g transform='translate(20 {TOP}) scale({(WIDTH - 20) / CHART:.3f})'>{chart}</g></g>"
    )


def picture() -> str:
    """All frames, one after another, in one SVG."""
    frames = "".join(frame(place, at) for place, at in enumerate(FRAMES))
    shown = 100 / len(FRAMES)
    style = (
        ".frame{visibility:hidden}.frame:first-of-type{visibility:visible}"
        "@media (prefers-reduced-motion:no-preference){"
        f".frame{{animation:turn {SECONDS * len(FRAMES):g}s step-end infinite}}}}"
        f"@keyframes turn{{0%{{visibility:visible}}{shown:g}%,100%{{visibility:hidden}}}}"
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' "
        f"width='{WIDTH}' font-family='system-ui, sans-serif' font-size='11' color='#333'>"
        f"<style>{style}</style><rect width='100%' height='100%' fill='white'/>{frames}</svg>\n"
    )


if __name__ == "__main__":
    path = Path(sys.argv[1]) if sys.argv[1:] else HERE / "pictures" / "moving.svg"
    path.write_text(picture(), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
