"""What several papers' tests ask for."""

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.datasets.tables import Dataset


@pytest.fixture(scope="session")
def tiny():
    """600 rows of five columns that go together, as a data set of its own."""
    rng = np.random.default_rng(0)
    base = rng.integers(0, 3, (600, 1))
    frame = pd.DataFrame(
        np.where(rng.random((600, 5)) < 0.7, base, rng.integers(0, 3, (600, 5))),
        columns=list("abcde"),
    )
    schema = pds.Schema(tuple(pds.Attribute.categorical(name, range(3)) for name in frame.columns))
    return Dataset(frame, schema, "tiny", "a", "b", "drawn here", "none")
