"""Live figures: sliders that recompute a pure function and update one figure in place."""

from .controls import Control, choice, slider, toggle
from .live import LivePanel, Try, View, live
from .plot import LivePlot

__all__ = ["Control", "LivePanel", "LivePlot", "Try", "View", "choice", "live", "slider", "toggle"]
