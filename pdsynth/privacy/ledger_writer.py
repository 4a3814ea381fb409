"""What all questions to the curator have in common: they write a line into the ledger."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ..domain.schema import Schema
from ..errors import PrivacyError
from .ledger import REPRODUCIBLE, Ledger
from .noise import Noise

RAW_READ = "a deterministic function of the records is used without a mechanism"


class LedgerWriter:
    """Writes the lines of one run; it knows public facts of the records, never the records.

    ``owners`` names the attribute that each column belongs to. Callers count in records; what
    they ask for is charged for all records of a person, here and nowhere else.
    """

    def __init__(
        self, ledger: Ledger, noise: Noise, n: int, schema: Schema, owners: tuple[str, ...]
    ) -> None:
        self.ledger, self.guarantee, self._noise = ledger, ledger.guarantee, noise
        self._n: int | None = n if ledger.unit.n_is_public else None
        self.schema, self._owners = schema, owners
        self._part: dict[str, str] = {}  # fields of a line that is composed in parallel
        public = schema.source == "public"
        self._domain = "schema:public" if public else "raw:inferred from the records"
        ledger.public_attributes = schema.names
        if self.guarantee != "none" and not noise.private:
            raise PrivacyError(
                f"this random source adds no noise, but guarantee={self.guarantee!r}: "
                "use ExactNoise(), or guarantee='none'"
            )
        if noise.reproducible and noise.private:
            ledger.notes.append(REPRODUCIBLE)
        if self.guarantee == "none":
            ledger.write(
                "unaccounted_access",
                "everything",
                source="guarantee='none'",
                released="raw counts and scores",
                attributes=schema.names,
                inputs=("raw:D",),
                why="no noise at all",
                epsilon=math.inf,
            )
        elif not public:
            self._unaccounted(
                "domains",
                "the schema was inferred",
                "categories, bounds and missing values",
                range(len(schema)),
            )

    @property
    def n(self) -> int:
        """Number of records: public, or under ``add_remove`` the noisy one once it is paid for."""
        if self._n is None:
            raise PrivacyError(
                "the number of records is secret when one may be added or removed: "
                "ask count_records(epsilon) first"
            )
        return self._n

    def charge_unused(self, epsilon: Fraction, step: str, source: str) -> None:
        """Charge a budget that was announced but isn't needed: the total stays as promised.

        **Privacy:** reads and releases nothing; costs ``epsilon`` all the same.
        """
        if epsilon and self.guarantee != "none":
            epsilon *= self.ledger.records_per_person
            self.ledger.write(
                "mechanism",
                step,
                source=source,
                mechanism="forfeited",
                released="nothing",
                epsilon=epsilon,
                claimed=epsilon,
            )

    def note_post_processing(self, step: str, inputs: tuple[str, ...], released: str) -> str:
        """Write a post-processing line; later entries name its id as what they depend on.

        **Privacy:** reads no records, costs nothing.
        """
        return self.ledger.write("post_processing", step, inputs=inputs, released=released).id

    def _charge(
        self,
        step: str,
        source: str,
        released: str,
        touched: Sequence[int],
        *,
        epsilon: Fraction,
        claimed: Fraction | None = None,
        mechanism: str = "discrete_laplace",
        **fields: Any,
    ) -> str:
        """Write the cost of a mechanism, and return its entry id; ``none`` costs nothing.

        Replacing m records of a person is m replacements: sensitivity and cost grow m times.
        """
        if self.guarantee != "none":
            m, claimed = self.ledger.records_per_person, epsilon if claimed is None else claimed
            if "sensitivity" in fields:
                fields["sensitivity"] *= m
            self.ledger.write(
                "mechanism",
                step,
                source=source,
                mechanism=mechanism,
                released=released,
                attributes=self._names(touched),
                inputs=("raw:D",),
                epsilon=m * epsilon,
                claimed=m * claimed,
                n_records=self._n,
                domain=self._domain,
                **self._part,
                **fields,
            )
        return self.ledger.last

    def _unaccounted(
        self,
        step: str,
        source: str,
        released: str,
        touched: Sequence[int],
        why: str = "",
        **fields: Any,
    ) -> str:
        """Write down a raw read, and return its entry id; ``none`` has said it once for all."""
        if self.guarantee != "none":
            public = self._domain == "schema:public"
            self.ledger.write(
                "unaccounted_access",
                step,
                source=source,
                released=released,
                why=why or RAW_READ,
                attributes=self._names(touched),
                inputs=("raw:D",),
                epsilon=math.inf,
                domain="schema:public" if public else "public:named above",
                **fields,
            )
        return self.ledger.last

    def _names(self, columns: Sequence[int]) -> tuple[str, ...]:
        """The attributes that some columns belong to, each once."""
        return tuple(dict.fromkeys(self._owners[j] for j in columns))
