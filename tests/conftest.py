"""What every test may ask for."""

import gc
import os
import shutil
import sys
from pathlib import Path

# As many tests run side by side as there are cores: threads and workers of their own would only
# be in the way.
for limit in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
    os.environ.setdefault(limit, "1")
os.environ.setdefault("PDSYNTH_PROGRESS", "0")  # no bars among the results
# Exponentials and inner products differ in the last bit where a processor has AVX-512; recorded
# results of ConsistentBayes, which fits by them, hold without it.
os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_SKX AVX512_ICL AVX512_SPR")
os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
# What checks addresses in notebooks, which no test asks for, reads its grammar for seconds.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

import pytest  # noqa: E402
from browser_tools import DESK  # noqa: E402
from hypothesis import settings  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent

# No test depends on a clock or on luck: the same examples at every run.
settings.register_profile("pdsynth", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("pdsynth")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that no worker waits for it at the end."""
    long = "notebook", "browser"
    items.sort(key=lambda item: not any(map(item.get_closest_marker, long)))


def pytest_collection_finish() -> None:
    """What all tests share is never garbage: it isn't searched again and again."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """No browser is open beside a test that has a loop of its own; those of notebooks have none."""
    if not any(map(item.get_closest_marker, ("browser", "notebook"))):
        DESK.close()


def pytest_sessionfinish() -> None:
    """No browser stays open."""
    DESK.close()


@pytest.fixture(scope="module")
def browser():
    """The browser of all tests that follow each other."""
    pytest.importorskip("playwright.sync_api")
    return DESK.browser()


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> Path:
    """A folder of this run that all workers share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def adult():
    """Adult, all 48,842 rows."""
    from pdsynth.datasets.adult import load_adult

    return load_adult()


@pytest.fixture(scope="session")
def thesis():
    """Adult as the thesis codes it: 45,222 rows, 14 attributes."""
    from pdsynth.datasets.adult import load_adult

    return load_adult(coding="thesis")


@pytest.fixture(scope="session")
def cmc():
    """CMC, 1,473 rows."""
    from pdsynth.datasets.loaders import load_cmc

    return load_cmc()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of tables that can't be shipped; skips where there is none."""
    folder = os.environ.get("PDSYNTH_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PDSYNTH_DATA isn't set to a folder of tables")
    return Path(folder)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The system's Chromium or Chrome; skips where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    pytest.skip("no Chromium on this machine (Debian: apt install chromium)")
