"""New examples of every property for as long as you like: ``python tests/fuzz.py --minutes 10``.

Stops at the first one that fails, with the smallest example and how to repeat it.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

from hypothesis import is_hypothesis_test, settings

# New examples at every run, and none is kept; test_properties says how many make a round.
settings.register_profile("fuzz", derandomize=False, database=None, deadline=None, print_blob=True)
settings.load_profile("fuzz")
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
import test_row_properties  # noqa: E402
from core import test_properties  # noqa: E402
from files import test_file_properties  # noqa: E402

KNOWN = vars(test_properties) | vars(test_file_properties) | vars(test_row_properties)
PROPERTIES = {
    name: value
    for name, value in KNOWN.items()
    if name[:5] == "test_" and is_hypothesis_test(value)
}
EXAMPLES = test_properties.few.max_examples


def main() -> None:
    """Rounds of some examples of each property, until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", default="", help="part of a property's name")
    given = parser.parse_args()
    chosen = [name for name in PROPERTIES if given.only in name]
    started, rounds = time.monotonic(), 0
    warnings.simplefilter("ignore")
    while time.monotonic() - started < 60 * given.minutes:
        for name in chosen:
            PROPERTIES[name]()
        rounds += 1
        minutes = (time.monotonic() - started) / 60
        print(
            f"\r{rounds * EXAMPLES * len(chosen):,} examples, {minutes:.1f} minutes",
            end="",
            flush=True,
        )
    print(": nothing found")


if __name__ == "__main__":
    main()
