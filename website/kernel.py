"""Runs in every kernel of a lesson that is executed for the website: no page has plotly's code.

And none says where on the machine that built it a warning arose. A lesson sees no name of this
file: it must import what it uses.
"""


def prepare():
    """Figures show as still drawings, warnings in their own words."""
    import warnings

    import plotly.graph_objects as go
    from IPython.display import HTML, display

    from pdsynth.course.widgets.still import svg

    def show(figure):
        """A figure of the numbers it was given: Plotly would pack them as text."""
        display(HTML(svg(figure)))

    def say(message, category, *place):
        """A warning in its own words."""
        return f"{category.__name__}: {message}\n"

    go.Figure._ipython_display_ = show
    warnings.formatwarning = say


prepare()
del prepare
