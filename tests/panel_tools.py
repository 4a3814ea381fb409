"""What tests of several panels ask a figure."""


def ranges(figure):
    """Ranges of the axes that are fixed."""
    layout = figure.to_plotly_json()["layout"]
    return {name: tuple(axis["range"]) for name, axis in layout.items()
            if name[1:5] == "axis" and "range" in axis}


def trace(figure, name):
    """The first trace whose name starts like this."""
    return next(t for t in figure.data if t.name and t.name.startswith(name))
