"""Growth is seen where it is and not where it isn't: each measure has a quadratic twin."""

import bisect
import re
from functools import partial

import numpy as np
import pytest
from growth_tools import LINEAR, Search, Text, growth, regex_growth
from hypothesis import given
from hypothesis import strategies as st


def texts(size):
    return [Text(f"column {i}") for i in range(size)]


def of(work):
    """``prepare`` of a function of a list of different texts."""
    return lambda size: partial(work, texts(size))


def unique_by_list(names):
    seen = []
    for name in names:
        if name not in seen:
            seen.append(name)


def sums_of_all(names):
    return [sum(len(b) for b in names) for _ in names]


def large_and_then_quadratic(names):
    for _ in range(20_000):
        pass
    unique_by_list(names)


LINEAR_WORK = {
    "a loop": lambda names: [name.upper() for name in names],
    "a set": lambda names: len(set(names)),
    "sorting": sorted,
    "a search by halves": lambda names: [bisect.bisect(names, name) for name in names],
    "joining": lambda names: ",".join(names),
    "bytes": lambda names: np.zeros((len(names), 100)),
    "nothing": lambda names: None,
}
QUADRATIC_WORK = {
    "in a list": unique_by_list,
    "list.count": lambda names: [names.count(name) for name in names],
    "list.index": lambda names: [names.index(name) for name in names],
    "two loops": sums_of_all,
    "behind much constant work": large_and_then_quadratic,
    "bytes": lambda names: np.zeros((len(names), len(names))),
    "a growing text": lambda names: [name * len(names) for name in names],
}


@pytest.mark.parametrize("name", LINEAR_WORK)
def test_work_that_grows_as_its_input_is_linear(name):
    assert growth(of(LINEAR_WORK[name])) < LINEAR


@pytest.mark.parametrize("name", QUADRATIC_WORK)
def test_twin_quadratic_work_is_seen(name):
    assert growth(of(QUADRATIC_WORK[name])) > 1.8


def test_threads_are_counted():
    from concurrent.futures import ThreadPoolExecutor

    def in_a_thread(names):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(unique_by_list, names).result()

    assert growth(of(in_a_thread)) > 1.8


REGEXES = {  # how it is used, what is repeated, and the power of its steps
    r"(?:\d+(?:\.\d*)?|\.\d+)": ("fullmatch", "1", 1),
    r"(?:\d+\.?\d*|\.\d+)": ("fullmatch", "1", 2),
    r"\d*\.?\d+": ("fullmatch", "1", 2),
    r"(\S+)\s+to\s+(\S+?)(?:\s+in\s+(\d+)\s+bins?)?": ("fullmatch", "a", 1),
    r"\s*\+\s*missing$": ("search", " ", 2),
    r"a*a*b": ("match", "a", 2),
}


@pytest.mark.parametrize("pattern", REGEXES)
def test_backtracking_is_seen(pattern):
    how, sign, power = REGEXES[pattern]
    assert regex_growth(pattern, lambda size: sign * size + "!", how) == pytest.approx(power, 0.05)


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        *((pattern, 0) for pattern in REGEXES),
        (r"drop(?:\s*:\s*(?P<drop>.*))?|(?P<open>\?[^|]*)", re.DOTALL),
        (r"[=+\-@\t\r](?!\.?\d+(\.\d*)?$)", 0),
        (r"[-+]?[$€£]?\d[\d.,' ]*%?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|[?.-]?", 0),
        (r"(?:ab|a)*b|(?:a|ab){2,3}?b", 0),
        (r"a*+ab|a++b|[^\s\W]B", re.IGNORECASE),
    ],
)
def test_the_search_finds_what_re_finds(pattern, flags):
    @given(st.text(alphabet="1 .ab+-=to:?\n", max_size=12), st.sampled_from(["drop", "", "in 1 b"]))
    def check(text, more):
        text += more
        compiled = re.compile(pattern, flags)
        for how in ("search", "match", "fullmatch"):
            found = getattr(compiled, how)(text)
            mine = Search(pattern, text, flags).find(how)[1]
            assert mine == ([found.span()] if found else [])

    check()
