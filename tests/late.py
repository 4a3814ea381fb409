"""What the short run leaves out of a parametrised test: ``run.py test --all`` runs every case."""

import pytest


def late(cases, slow):
    """The cases, those for which ``slow`` holds marked slow."""
    return [pytest.param(c, marks=pytest.mark.slow) if slow(c) else c for c in cases]
