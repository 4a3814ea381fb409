"""Moves of a panel's controls: two threads at once, values between steps, and a page's echoes.

A page's messages come in two threads (a kernel's main thread and its subshell).
"""

from threading import Event, RLock, Thread

import plotly.graph_objects as go
import pytest

from pdsynth.course.widgets.controls import choice, slider
from pdsynth.course.widgets.live import live
from pdsynth.course.widgets.view import Try, View

LATE = 60  # seconds after which a test that hangs fails


class Told:
    """A lock that tells when somebody has to wait for it."""

    def __init__(self, arrived):
        self.lock, self.arrived = RLock(), arrived

    def __enter__(self):
        if not self.lock.acquire(blocking=False):
            self.arrived.set()
            self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()


def second(move, arrived):
    """A thread that moves; ``arrived`` when it waits for the first one, or is through."""

    def run():
        move()
        arrived.set()

    return Thread(target=run, daemon=True)


def show(epsilon, k="two"):
    figure = go.Figure(layout={"title": {"text": "Noise"}}).add_scatter(y=[epsilon])
    return View(figure, f"It is {epsilon:g} with {k}.", alt=f"ε is {epsilon:g}.")


def epsilon():
    return slider("ε", 1.0, 0.1, 4.0, 0.1)


def test_what_moved_last_is_shown_though_an_earlier_move_takes_longer():
    started, arrived, calls, drawn = Event(), Event(), [], []

    def slow(epsilon, k):
        calls.append((epsilon, k))
        if epsilon == 2:
            started.set()
            assert arrived.wait(LATE)
        return show(epsilon, k)

    shown = live(slow, epsilon=epsilon(), k=choice("k", ["two", "three"]))
    shown._moving = Told(arrived)
    shown.plot.observe(lambda _: drawn.append(shown.plot.shown), "figure")
    first = Thread(target=lambda: shown.controls["epsilon"].set_state({"value": 2.0}), daemon=True)
    first.start()
    assert started.wait(LATE)
    other = second(lambda: shown.set(epsilon=3, k="three"), arrived)
    other.start()
    for thread in (first, other):
        thread.join(LATE)
    assert calls == [(1, "two"), (2, "two"), (3, "three")]
    assert shown.values == {"epsilon": 3, "k": "three"}
    assert shown.view.status == "It is 3 with three." and "It is 3" in shown.status.value
    assert shown.plot.alt == "ε is 3." and shown.figure.data[0].y == (3,)
    titles = [(one["data"][0]["y"], one["layout"]["title"]["subtitle"]["text"]) for one in drawn]
    assert titles == [([2], "ε = 2 · k = two"), ([3], "ε = 3 · k = three")]


def test_a_move_that_fails_late_leaves_no_alert_on_the_next_one():
    started, arrived = Event(), Event()

    def slow(epsilon):
        if epsilon == 2:
            started.set()
            assert arrived.wait(LATE)
            raise ValueError("two is too much")
        return show(epsilon)

    shown = live(slow, epsilon=epsilon())
    shown._moving = Told(arrived)
    first = Thread(target=lambda: shown.set(epsilon=2), daemon=True)
    first.start()
    assert started.wait(LATE)
    other = second(lambda: shown.set(epsilon=3), arrived)
    other.start()
    for thread in (first, other):
        thread.join(LATE)
    assert shown.error is None and shown.alert.value == "" and shown.figure.data[0].y == (3,)


def test_two_threads_that_set_several_controls_draw_once_each():
    arrived, calls = Event(), []
    shown = live(
        lambda a, b: calls.append((a, b)) or go.Figure(),
        a=slider("a", 1, 0, 9, 1),
        b=slider("b", 1, 0, 9, 1),
    )
    shown._moving = Told(arrived)
    other = second(lambda: shown.set(a=7, b=8), arrived)

    def amid(change):
        if change["new"] == 5:
            other.start()
            assert arrived.wait(LATE)

    shown.controls["a"].observe(amid, "value")
    shown.set(a=5, b=6)
    other.join(LATE)
    assert calls == [(1, 1), (5, 6), (7, 8)]


def test_an_interrupted_computation_is_made_again():
    stop = [True]

    def interrupted(epsilon):
        if epsilon == 2 and stop:
            stop.pop()
            raise KeyboardInterrupt
        return show(epsilon)

    shown = live(interrupted, epsilon=epsilon())
    with pytest.raises(KeyboardInterrupt):
        shown.controls["epsilon"].value = 2
    assert not shown.plot.busy
    shown._move(None)
    assert shown.figure.data[0].y == (2,)


@pytest.mark.parametrize(
    ("sent", "step"), [(1.25, 1.2), (1.04, 1.0), (1.06, 1.1), (2.3000000000000003, 2.3)]
)
@pytest.mark.parametrize("by", ["box", "bar", "set", "grab"])
def test_box_slider_and_figure_stand_at_the_same_step(sent, step, by):
    calls = []
    shown = live(lambda epsilon: calls.append(epsilon) or show(epsilon), epsilon=epsilon())
    bar = shown.controls["epsilon"]
    box = shown._parts["epsilon"].box.children[0]
    if by in ("box", "bar"):
        {"box": box, "bar": bar}[by].set_state({"value": sent})
    elif by == "set":
        shown.set(epsilon=sent)
    else:
        shown.plot._answer(None, {"type": "grab", "values": {"epsilon": sent}}, [])
    assert shown.values["epsilon"] == box.value == step == round(bar.value, 9)
    assert shown.figure.data[0].y == (step,)
    if by in ("box", "bar"):
        assert calls == ([1] if step == 1 else [1, step])


@pytest.mark.parametrize("typed", [1.04, 1.06, 9.0])
def test_the_page_is_told_where_the_box_stands(typed, monkeypatch):
    """The page shows what was typed until it is told another value, the one before, too."""
    shown = live(show, epsilon=epsilon())
    box, sent = shown._parts["epsilon"].box.children[0], []
    monkeypatch.setattr(type(box), "send_state", lambda self, key=None: sent.append(self.value))
    box.set_state({"value": typed})
    assert sent[-1] == box.value == {1.04: 1.0, 1.06: 1.1, 9.0: 4.0}[typed]


def test_a_value_that_the_page_sends_back_with_dust_computes_nothing_and_leaves_the_words():
    calls = []
    shown = live(
        lambda epsilon: calls.append(epsilon) or show(epsilon),
        epsilon=epsilon(),
        tries=[Try("go", {"epsilon": 0.7}, "At {now.x}.", lambda was, now: True)],
    )
    bar = shown.controls["epsilon"]
    bar.set_state({"value": 1.0000000000000002})
    assert calls == [1]
    shown.told.value = "said"
    shown.set(epsilon=0.7)
    bar.set_state({"value": 0.7000000000000001})
    assert calls == [1, 0.7] and shown.told.value == "said"
    bar.set_state({"value": 0.8})
    assert calls == [1, 0.7, 0.8] and shown.told.value == ""


def test_a_refresh_and_a_set_compute_again_at_the_same_position():
    """What a function reads beside the controls may have changed, such as a file."""
    calls = []
    shown = live(lambda epsilon: calls.append(epsilon) or show(epsilon), epsilon=epsilon())
    shown.refresh()
    shown.set()
    assert calls == [1, 1, 1]


def test_the_end_of_a_slider_is_a_step_and_a_start_between_steps_is_refused():
    assert slider("x", 1.0, 0.0, 1.0, 0.3).default == 1.0
    with pytest.raises(ValueError, match=r"value=0\.5 must be a step of 0\.3 from 0"):
        slider("x", 0.5, 0, 1, 0.3)
