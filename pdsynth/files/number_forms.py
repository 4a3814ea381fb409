"""Which form the numbers of a file are written in, where one column tells what another leaves open.

``4.012`` is four, or four thousand in a German file; ``1.234,56`` beside it tells which.
"""

import re
from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from .cells import COMMON, FORMS, PLAIN, read_number
from .columns import as_text

COMMA = "1.234,5"
READ = [form for form in FORMS if form != PLAIN]
SHAPES = 500  # of a column of numbers; more are texts
Units = Callable[[Iterable[str]], list[str]]  # those of all numbers


def find_form(
    pieces: Iterable[pd.DataFrame], skipped: Callable[[str], object], units: Units
) -> tuple[str, dict[str, str]]:
    """The form that columns with one reading give to those with two; and what is asked of these.

    ``pieces``: cells as they are written. ``skipped``: whether a text isn't looked at. The form is
    "" where none follows, or where no column needs one. A question, by column, stands where none
    follows.

    **Privacy:** read off the records, and a question holds a cell: for their owner alone.
    """
    points, doubtful = set[str](), {}
    for name, shapes in _find_shapes(pieces, skipped).items():
        found, cell = _read(list(shapes.values()), units)
        if cell:
            doubtful[name] = cell
        elif len(found) == 1:
            points |= found
    if not doubtful or points == {"."}:
        return "", {}
    if points == {","}:
        return COMMA, {}
    return "", {name: _ask(cell) for name, cell in doubtful.items()}


def _find_shapes(
    pieces: Iterable[pd.DataFrame], skipped: Callable[[str], object]
) -> Mapping[str, dict[str, str]]:
    """The first cell of each shape that a column's texts have: 4.012 and 7.999 have one."""
    shapes: dict[str, dict[str, str]] = {}
    for piece in pieces:
        for name, column in piece.items():
            own = shapes.setdefault(str(name), {})
            if pd.api.types.is_string_dtype(column) and len(own) <= SHAPES:
                for text in map(as_text, column.dropna().unique()):
                    if not skipped(text):
                        own.setdefault(_shape(text), text)
    return {name: own for name, own in shapes.items() if len(own) <= SHAPES}


def _shape(text: str) -> str:
    """What a text's reading depends on: its digits count, and whether the first is 0."""
    shape = re.sub(r"[0-9]", "9", text)
    return shape.replace("9", "0", 1) if re.match(r"[^0-9]*0", text) else shape


def _read(cells: list[str], units: Units) -> tuple[set[str], str]:
    """What stands before the fraction of a column's numbers, and a cell that leaves that open."""
    forms = _forms(cells, ())
    if not forms and (own := units(cells)):
        forms, cells = _forms(cells, own), [_bare(cell, own) for cell in cells]
    points = {FORMS[form][1] for form in forms}
    open_cells = (c for c in cells if len({read_number(c, form) for form in forms}) > 1)
    return points, next(open_cells, "") if len(points) == 2 else ""


def _bare(cell: str, units: Iterable[str]) -> str:
    for unit in units:
        cell = cell.removesuffix(unit).removeprefix(unit).strip()
    return cell


def _forms(cells: list[str], units: Iterable[str]) -> list[str]:
    """The forms in which all cells are numbers; none where there are no cells."""
    return [form for form in READ if cells and all(_is_in(cell, form, units) for cell in cells)]


def _is_in(cell: str, form: str, units: Iterable[str]) -> bool:
    """Whether a text is a number in a form; thousands have no zero before them: 0.123."""
    grouped = re.match(rf"[^0-9]*0+{FORMS[form][0]}", cell)
    return not grouped and read_number(cell, form, units) is not None


def _ask(cell: str) -> str:
    """What is asked of a cell that two forms read."""
    one, other = read_number(cell, COMMON), read_number(cell, COMMA)
    words = f"{' '.join(cell.split())} is read as {one:.12g}: is it {other:.12g}?"
    return f'{words} Then say number = "{COMMA}", and other ends'
