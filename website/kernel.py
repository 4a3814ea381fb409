"""Runs in every kernel of a lesson that is executed for the website: no page has plotly's code.

And none says where on the machine that built it a warning arose.
"""

import warnings

import plotly.io as pio
from plotly.io.base_renderers import MimetypeRenderer

from pdsynth.course.widgets.still import svg


class Still(MimetypeRenderer):
    """A figure as a still drawing."""

    def to_mimebundle(self, fig_dict):
        """The drawing as HTML."""
        return {"text/html": svg(fig_dict)}


pio.renderers["still"] = Still()
pio.renderers.default = "still"


def say(message, category, *place):
    """A warning in its own words."""
    return f"{category.__name__}: {message}\n"


warnings.formatwarning = say
