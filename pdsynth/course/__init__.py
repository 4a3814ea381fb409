"""The course's wing: widgets, panels and exercises. The library never imports it.

``pdsynth.course.student("Ada").lesson(4).q1`` has Ada's own numbers.
"""

from ..core import needed_for
from .exercises.student import Student, student

with needed_for("pdsynth.course"):  # what its modules import without asking
    import ipywidgets  # noqa: F401
    import plotly  # noqa: F401
    import scipy  # noqa: F401

__all__ = ["Student", "student"]
