"""Intervals in lesson 15: what is drawn is what the model answers, and the real count decides."""

import numpy as np

from pdsynth.course.panels import answers


def test_red_are_those_that_miss():
    view = answers.view()
    drawn = {t.name: t for t in view.figure.data if t.name}
    for words, misses in (("interval holds", False), ("interval misses", True)):
        one = drawn.get(words)
        if one is not None:
            off, up, down = (
                np.array(v) for v in (one.x, one.error_x.array, one.error_x.arrayminus)
            )
            assert (((off - down > 0) | (off + up < 0)) == misses).all()
    assert sum(len(t.x) for t in drawn.values()) == view.facts["cells"]


def test_nine_of_ten_hold_over_many_noises():
    """Over all columns of one fit: 90 % promised, so many more than half hold."""
    names = answers.view.table().schema.names
    found = [answers.view(attribute=name).facts for name in names]
    held, cells = (sum(f[key] for f in found) for key in ("held", "cells"))
    assert cells > 60 and held / cells > 0.8


def test_half_the_budget_is_twice_the_width():
    wide, narrow = (answers.view(epsilon=e, attribute="sex").facts["half"] for e in (0.1, 0.2))
    assert 1.9 < wide / narrow < 2.1
