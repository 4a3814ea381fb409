"""The options that all synthesizers share: guarantee, sampler and seed, unit; and the frame."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ..counting.sources import Source
from ..domain.schema import Schema, check_schema
from ..errors import BudgetError, SchemaError, check_seed, is_one_of, is_whole, show
from ..privacy.curator import GUARANTEES
from ..privacy.mechanisms import CommonNoise, ExactNoise, Noise, NoNoise, OpenDPNoise

COUNT_SHARE = Fraction(1, 20)  # of ε, for the number of records where it is secret
MOST_RECORDS = 10**9  # an association K = 2n²R, at most 2·10^18, and its noise fit 64 bits


def check_options(guarantee: Any, noise: Any, seed: Any) -> None:
    """Refuse words and seeds that mean nothing."""
    if not is_one_of(guarantee, GUARANTEES):
        raise BudgetError(f"guarantee must be one of {GUARANTEES}, got {show(guarantee)}")
    if not is_one_of(noise, ("exact", "opendp", "common")):
        raise BudgetError(f"noise must be 'exact', 'opendp' or 'common', got {show(noise)}")
    check_seed(seed)
    if noise == "opendp" and seed is not None:
        raise BudgetError(
            "OpenDP draws from the operating system and takes no seed: use "
            "random_state=None, or noise='exact'"
        )


def check_records(n: Any) -> None:
    """Refuse what is no number of records."""
    if not is_whole(n, 1, MOST_RECORDS):
        raise SchemaError(
            "n must be a whole number of records, at least 1 and at most "
            f"{MOST_RECORDS:,}, got {show(n)}"
        )


def check_unit(guarantee: str, relation: Any, known: Sequence[str], per_person: Any) -> None:
    """Refuse a neighbouring relation that the recipe isn't made for, and impossible units."""
    if not is_one_of(relation, known):
        raise BudgetError(f"relation must be one of {tuple(known)} here, got {show(relation)}")
    if not is_whole(per_person, 1, MOST_RECORDS):
        raise BudgetError(
            "records_per_person must be a whole number of at least 1 and at most "
            f"{MOST_RECORDS:,}, got {show(per_person)}"
        )
    if guarantee == "published" and per_person > 1:  # a refusal
        raise BudgetError(
            "the papers count one record a person: records_per_person = "
            f"{per_person} is for guarantee='strict'"
        )


def check_frame(data: Any, schema: Schema | None, *, empty: bool = False) -> tuple[Schema, int]:
    """The schema that a table fits, and its number of records.

    ``empty``: a table without rows is a table, too.
    """
    if schema is None:
        raise SchemaError(
            "fit needs the public schema of the table: fit(frame, schema=schema); "
            "Schema.infer(frame) only to explore"
        )
    if isinstance(data, Source):
        data.check(check_schema(schema), empty=empty)
        return schema, data.n
    check_schema(schema).check(data, empty=empty)
    return schema, len(data)


def choose_noise(guarantee: str, noise: str, seed: Any, given: Noise | None) -> Noise:
    """The random source of a run; ``given`` stands in place of what ``noise`` names."""
    if given is not None and not isinstance(given, Noise):
        raise BudgetError(
            f"noise= of fit takes a random source such as ExactNoise(), got {show(given)}"
        )
    if guarantee == "none":  # the source itself changes
        return NoNoise(seed or 0)
    if given is not None:
        return given
    if noise == "opendp":
        return OpenDPNoise()
    return CommonNoise(seed or 0) if noise == "common" else ExactNoise(seed)
