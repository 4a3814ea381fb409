"""The way back: the picture has the forecast, a mark for each direction, and none out of reach."""

from pdsynth.course.panels import way_back


def marks(view):
    return {t.name: (t.x[0], t.y[0]) for t in view.figure.data if t.name and "from" in t.name}


def test_both_marks_lie_on_the_curve():
    view = way_back.view(epsilon=0.5, distance=0.1)
    found = marks(view)
    assert found["from ε to a distance"] == (0.5, view.facts["foretold"])
    epsilon, distance = found["from a distance to ε"]
    assert distance == 0.1 and way_back.view(epsilon=epsilon).facts["foretold"] <= 0.1


def test_a_distance_out_of_reach_has_no_mark_and_says_so():
    view = way_back.view(n=1500, distance=0.02)
    assert set(marks(view)) == {"from ε to a distance"}
    assert "no ε up to 10" in view.status
