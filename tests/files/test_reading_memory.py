"""Reading holds the frame and one chunk, never the file; counted in bytes, not in seconds."""

import io
import tracemalloc

import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.files import reading as own


def ours(path):
    return own.read_csv(path, pds.datasets.load_adult().schema)


def all_at_once(path):
    return pd.read_csv(io.StringIO(path.read_bytes().decode()), dtype=object)


def bytes_above_the_frame(read, path):
    """Bytes that Python and numpy held at the worst moment of `read`, less those that remain."""
    tracemalloc.start()
    try:
        frame = read(path)
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(frame)
    return peak - left


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "less"), [(ours, True), (all_at_once, False)], ids=["ours", "twin: all at once"]
)
def test_reading_needs_less_than_the_file_above_its_frame(tmp_path, adult, monkeypatch, read, less):
    monkeypatch.setattr(own, "CELLS", 100_000)
    file = tmp_path / "adult.csv"
    adult.frame.to_csv(file, index=False)
    above = bytes_above_the_frame(read, file)
    size = file.stat().st_size
    assert (above < size) == less, f"{above:,} bytes above the frame, the file has {size:,}"
