"""Exercises of the lessons.

``from pdsynth.course.exercises import lesson_07 as ex; ex.q1.check(answer)``
"""
