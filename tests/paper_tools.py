"""What tests of the papers share."""

from pdsynth.papers.engine import find


def counting(paper, key, **options):
    """Those of some options that count at a figure: the others would be refused."""
    return {n: v for n, v in options.items() if n in find(paper).used(key)}
