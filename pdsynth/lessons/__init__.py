"""Exercises of the lessons: ``from pdsynth.lessons import lesson_07 as ex; ex.q1.check(answer)``."""
