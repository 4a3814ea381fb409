"""What tests of several panels share: panels as they open, and what they ask a figure."""

from functools import cache

from pdsynth.course import panels


@cache
def first_panel(topic):
    """A panel of the course as it opens, for tests that only read it."""
    return getattr(panels, topic).panel()


def ranges(figure):
    """Ranges of the axes that are fixed."""
    layout = figure.to_plotly_json()["layout"]
    axes = {name: axis for name, axis in layout.items() if name[1:5] == "axis"}
    return {name: tuple(axis["range"]) for name, axis in axes.items() if "range" in axis}


def trace(figure, name):
    """The first trace whose name starts like this."""
    return next(t for t in figure.data if t.name and t.name.startswith(name))
