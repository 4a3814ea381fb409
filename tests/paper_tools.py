"""What tests of the papers share."""

from pathlib import Path

from pdsynth.papers.engine import find
from pdsynth.papers.scoreboard import read_boards

# Every committed figure, judged once for all tests of a process.
BOARDS = read_boards(Path(__file__).resolve().parents[1] / "figures")


def board_of(paper):
    """The committed figures of one paper."""
    return next(board for board in BOARDS if board.paper.name == paper)


def counting(paper, key, **options):
    """Those of some options that count at a figure: the others would be refused."""
    return {n: v for n, v in options.items() if n in find(paper).used(key)}
