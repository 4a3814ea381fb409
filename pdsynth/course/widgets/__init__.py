"""Live figures: sliders that recompute a pure function and update one figure in place."""

from .controls import Control, choice, slider, toggle
from .live import LivePanel, live
from .plot import LivePlot
from .view import Try, View

__all__ = ["Control", "LivePanel", "LivePlot", "Try", "View", "choice", "live", "slider", "toggle"]
