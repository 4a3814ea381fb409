"""How a text of cells is written: what separates them, and whether its first line names them."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

from ..core import SchemaError, repeated
from .opening import SIGNS

LINES = 1000  # looked at
CLEAR = 4  # votes for a header against the word of names=: two columns of numbers below texts
NUMBER = re.compile(
    r"[-+]?[$€£]?\d[\d.,'’\s]{0,400}%?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|[?.-]?", re.DOTALL
)


class Cells:
    """The cells of each record of some lines; several blanks separate like one.

    csv.Error where a record goes on in the next line and its quotes aren't as CSV has them: a quote
    that nothing closes would take the next records into its own.
    """

    def __init__(self, lines: Iterable[str], sign: str) -> None:
        self._sign, self._held = sign, list[str]()
        self._rows = csv.reader(self._hold(lines), delimiter=sign, skipinitialspace=True)

    def _hold(self, lines: Iterable[str]) -> Iterator[str]:
        blanks, hold = self._sign == " ", self._held.append
        for line in lines:
            given = f"{line.strip()}\n" if blanks else line
            hold(given)
            yield given

    def __iter__(self) -> Iterator[list[str]]:
        held = self._held
        for row in self._rows:
            if len(held) > 1:
                [*csv.reader(held, delimiter=self._sign, skipinitialspace=True, strict=True)]
            held.clear()
            yield row

    @property
    def line_num(self) -> int:
        """Lines read so far."""
        return self._rows.line_num


def is_said(row: Sequence[str]) -> bool:
    """Whether a line holds anything."""
    return len(row) > 1 or bool(row and row[0].strip())


def read_rows(sample: str, sign: str) -> list[list[str]]:
    """The first lines of a text, as cells without blanks around them."""
    rows = Cells(sample.splitlines(keepends=True), sign)
    lines = []
    try:
        for row in rows:
            if is_said(row):
                lines.append([cell.strip() for cell in row])
            if len(lines) > LINES:
                break
    except csv.Error:  # what is wrong is said by whoever reads the whole file
        pass
    return lines


def find_separator(sample: str) -> str:
    r"""The sign that makes most lines equally long, and longest; a comma if none does.

    >>> find_separator("a;b\n1,5;2\n2,5;3\n")
    ';'
    """

    def rank(sign: str) -> tuple[float, int]:
        lengths = [len(row) for row in read_rows(sample, sign)[:100]] or [1]
        usual = max(set(lengths), key=lengths.count)
        return (usual > 1) * lengths.count(usual) / len(lengths), usual

    best = max(list(SIGNS)[:-1], key=rank)
    return best if rank(best)[1] > 1 else max((",", " "), key=rank)


def check_delimiter(sample: str, sign: str) -> None:
    """SchemaError for a first line that another sign cuts into cells, and this one doesn't."""
    top = next((line for line in sample.splitlines(keepends=True) if line.strip()), "")
    other = find_separator(top)
    one, many = (len(next(iter(read_rows(top, s)), ())) for s in (sign, other))
    if one == 1 < many:
        raise SchemaError(
            f"the first line has 1 cell where {SIGNS.get(sign, repr(sign))} separate cells, and "
            f'{many} where {SIGNS[other]} do: write delimiter = "{other}" below [file], or say '
            "delimiter="
        )


def votes_for_header(rows: Sequence[Sequence[str]]) -> int:
    """What speaks for a first line that names the columns, judged by what stands below it.

    A name that is a text above numbers speaks for it. Against it: a cell that occurs again in its
    column, a number above numbers (unless the names count: 0, 1, 2 or 2010, 2011).

    >>> votes_for_header([["age", "sex"], ["34", "f"], ["61", "m"], ["34", "f"]])
    2
    >>> votes_for_header([["34", "f"], ["61", "m"], ["34", "f"]])
    -2
    """
    top, below = rows[0], rows[1:]
    counted = [int(cell) for cell in top if re.fullmatch(r"\d{1,9}", cell)]
    counts = len(counted) > 2 and {b - a for a, b in zip(counted, counted[1:], strict=False)} == {1}
    votes = 0
    for place, cell in enumerate(top):
        column = [row[place] for row in below if len(row) > place]
        number = NUMBER.fullmatch(cell) is not None
        numbers = sum(NUMBER.fullmatch(other) is not None for other in column)
        if cell in column or (number and not counts and numbers):
            votes -= 1
        elif not number and column and numbers == len(column):
            votes += 2
    return votes


def _check_names(
    rows: list[list[str]], names: Sequence[str], header: bool | None, declared: bool
) -> None:
    """Refuse ``names`` that stand twice, or whose file has a first line of names already."""
    if header:
        raise SchemaError(
            "names= are for a file without a header: leave out one of names= and header=True"
        )
    if twice := repeated(names):
        raise SchemaError(
            f"two columns have the name {', '.join(twice)}: rename one in names=, or in "
            "columns of the schema file"
        )
    if header is None and rows[0] == [str(name).strip() for name in names]:
        raise SchemaError(
            "the first line of the file holds these names already: leave out names=, or "
            "columns in the schema file"
        )
    if header is None and not declared and votes_for_header(rows) >= CLEAR:
        raise SchemaError(
            "the first line looks like column names, not like a record: leave out names=, or "
            "say header=False if it is one"
        )


def look_for_header(
    sample: str,
    sign: str,
    names: Sequence[str] | None,
    header: bool | None,
    columns: Sequence[str] = (),
    declared: bool = False,
) -> bool:
    """Whether the first line names the columns; SchemaError where that and ``names`` disagree.

    ``header``: the owner's word, None to look. ``columns``: declared names. ``declared``: whether a
    schema says how the file is written; then ``names`` are believed. No message holds a cell of a
    line that may be a record.
    """
    rows = read_rows(sample, sign)
    if not rows:
        raise SchemaError("the file holds no line of cells: is a quote missing?")
    top = rows[0]
    if names is not None:
        _check_names(rows, names, header, declared)
        return False
    if above := next((at for at, row in enumerate(rows) if len(row) > 1), 0):
        lines, skip = ("line has", "1") if above == 1 else (f"{above} lines have", "LINES")
        raise SchemaError(
            f"the first {lines} 1 cell, the next {len(rows[above])}: a title or comment? say "
            f"skip={skip}"
        )
    if header is False:
        raise SchemaError(
            f"a file without a header needs the names of its {len(top)} columns: say names=[…], "
            "or write columns = […] into the schema file"
        )
    if header or (columns and set(columns) & set(top)):
        return True
    if columns or votes_for_header(rows) < 0:
        filled = sum(map(bool, top))
        reason = (
            "none of the declared columns stands in the first line"
            if columns
            else "the first line looks like a record, not like column names"
        )
        raise SchemaError(
            f"{reason}: if the file has no header, say names=[…], or write columns = […], "
            f"the names of its {len(top)} columns, into the schema file; if it has one, "
            "say header=True"
            + "; if this is a title, say skip=, the lines above the names" * (filled == 1)
            + "; if two lines name the columns, say skip=2 and say names=[…]"
            * (not columns and 1 < filled < len(top))
        )
    return True
