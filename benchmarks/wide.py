"""Rows of the speed page for tables with many bits: sets of bits, HMPrivBayes beside PrivBayes,
PrivABN's scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import pdsynth as pds
from pdsynth.core.records import Codes, Lattice, Records
from pdsynth.published.partitions import ParentSets, Partitions
from pdsynth.published.privabn import ParentChoice

Row = tuple[str, str, str, str]
Best = Callable[[Callable[[], object], int], float]
PAPER = 10_000  # scores a second that the PrivABN paper assumes


def records(dataset: pds.datasets.Dataset) -> Records:
    """Coded records that have counted nothing yet."""
    return Records(np.asfortranarray(dataset.schema.encode(dataset.frame)), dataset.schema)


def bit_rows(best: Best, name: str, table: Records, columns: int, limit: float) -> Row:
    """All sets of up to four among the first bits of a table; ``limit`` is for one set of this
    table."""
    codes = table.binary().codes[:, :columns]
    sets = sum(math.comb(columns, s) for s in range(1, 5))
    seconds = best(lambda: Lattice(Codes(codes, (2,) * columns)).build(4), 3)
    each = f"{seconds / (limit * sets):.2f}× the limit"
    return (
        f"{name}, {columns} bits × {table.n:,}: entropies of all {sets:,} sets of up to 4 bits",
        f"{seconds:.2f} s",
        each,
        "a few seconds",
    )


def fit_seconds(
    best: Best, model: pds.Synthesizer, fresh: Callable[[], Records], tries: int
) -> float:
    """A whole cold fit: counts, selections, noise and tables."""
    ready = [fresh() for _ in range(tries)]
    return best(lambda: model.clone().fit(ready.pop()), tries)


def network_rows(best: Best, big5: pds.datasets.Dataset, adult: pds.datasets.Dataset) -> list[Row]:
    """HMPrivBayes against PrivBayes on the same bits with the same in-degree, as published."""
    common = {"guarantee": "published", "random_state": 0}
    rows: list[Row] = []
    for name, data, degrees in (
        ("Big5, 175 bits", big5, (1, 2, 3)),
        ("Adult, 52 bits", adult, (3,)),
    ):
        bits = records(data).binary()
        for degree in degrees:
            ours = fit_seconds(
                best, pds.HMPrivBayes(1.0, k=3, l=degree, **common), lambda d=data: records(d), 3
            )
            goal = "< 60 s" if data is big5 and degree == 3 else ""
            try:
                theirs = fit_seconds(
                    best,
                    pds.PrivBayes(1.0, k=degree, **common),
                    lambda b=bits: Records(b.codes, b.schema),
                    1 if degree == 2 else 2,
                )
                beside = f"PrivBayes {theirs:.2f} s: {theirs / ours:.1f}× as long"
            except pds.BudgetError:
                d = len(bits.schema)
                most = max((d - placed) * math.comb(placed, degree) for placed in range(1, d))
                beside = f"PrivBayes refused: {most:,} pairs in one step"
            rows.append(
                (f"{name}: HMPrivBayes, 3 clusters, l = {degree}", f"{ours:.2f} s", beside, goal)
            )
    strict = fit_seconds(
        best, pds.HMPrivBayes(1.0, k=1, l=3, eta=0, random_state=0), lambda: records(big5), 1
    )
    rows.append(
        (
            "Big5, 175 bits: HMPrivBayes strict in one cluster, l = 3, at most 250,000 pairs a step",
            f"{strict:.2f} s",
            "",
            "< 60 s",
        )
    )
    whole = fit_seconds(best, pds.PrivBayes(1.0, **common), lambda: records(big5), 3)
    rows.append(('Big5, 57 attributes: PrivBayes, k = "auto"', f"{whole:.2f} s", "", ""))
    return rows


def abn_scores(codes: np.ndarray, compiled: bool) -> tuple[int, float]:
    """All scores of one run of ABN from raw rows, with the parent sets that it keeps; how many, and
    their sum."""
    d, random = codes.shape[1], np.random.default_rng(0)
    f = int(random.integers(d))
    children = [c for c in range(d) if c != f]
    store, choice, total, added = (
        ParentSets(Partitions(codes, (2,) * d), children, compiled=compiled),
        ParentChoice(children),
        0,
        0.0,
    )
    while children:
        grown = store.grow(f)
        total, added = total + grown.size, added + float(grown.sum())
        store.keep(choice.offer(f, np.rint(grown * 2**30).astype(np.int64)))
        f = children.pop(int(random.integers(len(children))))
        store.drop(f)
        choice.drop(f)
    return total, added


def abn_rows(
    best: Best, retail: pds.datasets.Dataset, limit: Callable[[np.ndarray], float]
) -> list[Row]:
    """PrivABN's scores on real Retail, in numpy and compiled."""
    codes = records(retail).codes
    rows_of = Partitions(codes, (2,) * codes.shape[1])
    floor = limit(np.asfortranarray(rows_of.columns.T))
    rows: list[Row] = []
    sums = set()
    for compiled, goal in ((False, 1.5), (True, 4)):
        how = "compiled" if compiled else "numpy"
        if compiled and not has_numba():
            rows.append((f"PrivABN on Retail, {how}", "numba isn't installed", "", ""))
            continue
        total, added = abn_scores(codes, compiled)  # compiles
        sums.add(added)
        seconds = best(lambda c=compiled: abn_scores(codes, c), 5)
        ratio = f"{total / seconds / PAPER:.1f}× the paper's {PAPER:,}/s; {seconds / (floor * total):.1f}× the limit"
        label = f"PrivABN, Retail, {codes.shape[1]} items × {len(codes):,} ({len(rows_of):,} distinct): all {total:,} scores, {how}"
        rows.append(
            (
                label,
                f"{seconds:.2f} s, {total / seconds:,.0f}/s",
                ratio,
                f"≥ {goal}×; ≤ 10× the limit",
            )
        )
    if len(sums) > 1:
        raise AssertionError("compiled scores differ from numpy's")
    return rows


def has_numba() -> bool:
    """Whether the optional compiled path can run."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


def wide_rows(best: Best, limit: Callable[[np.ndarray], float]) -> list[Row]:
    """All rows; tables that aren't on this machine are said to be missing. ``limit(codes)``:
    seconds of one table of these rows."""
    adult = pds.datasets.load_adult(complete=True)
    table = records(adult)
    rows = [bit_rows(best, "Adult", table, 52, limit(table.binary().codes))]
    try:
        big5 = pds.datasets.load_big5()
        table = records(big5)
        rows.append(bit_rows(best, "Big5", table, 58, limit(table.binary().codes)))
        rows += network_rows(best, big5, adult)
        rows += abn_rows(best, pds.datasets.load_retail(), limit)
    except FileNotFoundError as missing:
        rows.append(("not measured", str(missing).split(",")[0], "", ""))
    return rows
