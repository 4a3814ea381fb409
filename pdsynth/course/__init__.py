"""The course's wing: widgets, panels and exercises. The library never imports it.

``pdsynth.course.student("Ada").lesson(4).q1`` has Ada's own numbers.
"""

from .exercises.student import Student, student

__all__ = ["Student", "student"]
