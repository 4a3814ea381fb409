"""Figures as data: what they show, in which colours, and that nothing is told by colour alone."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from pdsynth import HPPrivBayes, Network, plots
from pdsynth.plots import DARK, PALETTE

DIAMOND = Network((("a", ()), ("b", ("a",)), ("c", ("a",)), ("d", ("b", "c"))))
STAR = Network((("hub", ()), *((f"leaf-{i}", ("hub",)) for i in range(13))))


def test_the_palette_is_okabe_and_itos_and_means_the_same_everywhere():
    assert PALETTE == {
        "real": "#767676",
        "none": "#0072B2",
        "private": "#E69F00",
        "attack": "#D55E00",
    }
    assert set(DARK) <= set(PALETTE.values())


def contrast(colour, ground):
    def luminance(c):
        parts = [int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        lin = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * lin[0] + 0.7152 * lin[1] + 0.0722 * lin[2]

    high, low = sorted((luminance(colour), luminance(ground)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["real", "none", "private", "attack"])
def test_colours_are_seen_on_a_dark_page(name):
    """WCAG asks for 3:1; orange on white is the known exception, so marks have shapes."""
    dark = DARK.get(PALETTE[name], PALETTE[name])
    assert contrast(dark, "#111111") >= 4.5
    assert contrast(PALETTE[name], "#FFFFFF") >= (2 if name == "private" else 3)


def test_a_figure_is_transparent_and_small():
    plot = plots.figure(title="T", x="records", y="bits")
    assert plot.layout.paper_bgcolor == plot.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert (plot.layout.xaxis.title.text, plot.layout.yaxis.title.text) == ("records", "bits")
    assert "Noto Sans CJK SC" in plot.layout.font.family
    assert len(plot.to_json()) < 2_000


def test_heatmap_shows_the_matrix_with_its_unit_and_an_empty_diagonal():
    plot = plots.heatmap(np.array([[9.0, 0.5], [0.5, 9.0]]), ["a", "b"], unit="bit", top=1.0)
    (trace,) = plot.data
    assert trace.z[0][1] == 0.5
    assert math.isnan(trace.z[0][0])
    assert (trace.zmin, trace.zmax, trace.colorbar.title.text) == (0, 1, "bit")


def test_bars_and_curve_show_their_numbers():
    assert list(plots.bars({"a": 1, "b": 2}).data[0].y) == [1, 2]
    frame = pd.DataFrame(
        {"ε": [1, 2, 1, 2], "avd": [0.4, 0.3, 0.2, 0.1], "se": [0.01] * 4, "who": list("ppqq")}
    )
    first, second = plots.curve(frame, x="ε", y="avd", by="who", error="se").data
    assert list(first.y) == [0.4, 0.3]
    assert list(first.error_y.array) == [0.01, 0.01]
    assert (first.line.dash, first.marker.symbol) != (second.line.dash, second.marker.symbol)


@pytest.mark.parametrize(
    "network", [DIAMOND, STAR, Network((("alone", ()),))], ids=["diamond", "star", "one"]
)
def test_parents_stand_above_their_children_and_no_boxes_overlap(network):
    place = plots.network_layout(network)
    assert set(place) == set(network.order)
    for parent, child in network.edges:
        assert place[parent][1] > place[child][1]
    rows = {}
    for x, y in place.values():
        rows.setdefault(y, []).append(x)
    for xs in rows.values():
        assert len(xs) <= 6
        assert all(b - a >= 0.999 for a, b in zip(sorted(xs), sorted(xs)[1:], strict=False))


def test_network_figure_names_every_attribute_group_and_edge():
    strengths = {edge: i / 4 for i, edge in enumerate(DIAMOND.edges)}
    plot = plots.network_figure(
        DIAMOND, strengths=strengths, groups={"A": ["a", "b"], "B": ["c", "d"]}, unit="bit"
    )
    assert {note.text for note in plot.layout.annotations} == {"● a", "● b", "■ c", "■ d"}
    assert {t.name for t in plot.data if t.name} == {"group A", "group B"}
    told = [text for trace in plot.data if trace.text for text in trace.text]
    assert "b → d: 0.5 bit" in told
    assert len(told) == len(DIAMOND.edges)
    assert len({t.line.width for t in plot.data if t.mode == "lines+markers"}) > 1


def test_network_figure_takes_groups_either_way_and_none():
    by_name, by_group = {"a": "A", "b": "A", "c": "B", "d": "B"}, {"A": ["a", "b"], "B": ["c", "d"]}
    first, second = (plots.network_figure(DIAMOND, groups=g).to_json() for g in (by_name, by_group))
    assert first == second
    assert {note.text for note in plots.network_figure(DIAMOND).layout.annotations} == set("abcd")


@pytest.mark.parametrize("guarantee", ["strict", "published"])
def test_ledger_figure_shows_unaccounted_accesses_in_red(guarantee, cmc):
    fitted = HPPrivBayes(
        1.0, k=1, sensitive=cmc.sensitive, guarantee=guarantee, random_state=1
    ).fit(cmc.frame, schema=cmc.schema)
    plot = plots.ledger_figure(fitted.ledger_)
    red = [t for t in plot.data if t.marker.color == PALETTE["attack"]]
    claimed = next(t for t in plot.data if t.name == "claimed")
    assert sum(claimed.y) == pytest.approx(1.0)
    if guarantee == "strict":
        assert not red
        assert "1 true" in plot.layout.title.text
    else:
        assert sum(text == "∞" for text in red[0].text) == len(
            {e.step for e in fitted.ledger_.unaccounted}
        )
        assert "∞ true" in plot.layout.title.text
        json.loads(plot.to_json())


def test_tab_completion_shows_figures_and_nothing_that_is_imported():
    assert dir(plots) == plots.__all__
    assert not {"np", "pd", "go", "re", "math", "Network"} & set(plots.__all__)
