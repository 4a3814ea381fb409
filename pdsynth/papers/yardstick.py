"""AIM and MST of OpenDP (its extra ``mbi``) behind the contract that ``compare`` needs: (ε, δ) yardsticks, not ours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..counting.tables import Records
from ..errors import BudgetError

GUARANTEE = "(ε, δ)"


class OpenDPTable:
    """OpenDP's contingency table: pairwise marginals chosen by ``algorithm`` ("MST" or "AIM"), fitted together and sampled.

    ``delta``: of the conversion; it runs in zero-concentrated privacy with the ρ for which ρ + 2 √(ρ ln(1/δ)) = ε (Bun and
    Steinke 2016, proposition 1.3). Two contributions a record in OpenDP's symmetric distance are one replaced record here. Noise
    from the operating system: it takes no seed.
    """

    guarantee = GUARANTEE

    def __init__(self, algorithm: str = "MST", delta: float = 1e-9, epsilon: float = 1.0) -> None:
        self.algorithm, self.delta, self.epsilon = algorithm, delta, epsilon

    def get_params(self) -> dict[str, Any]:
        """What decides its result, but ε and the noise."""
        return {"algorithm": self.algorithm, "delta": self.delta}

    def clone(self) -> OpenDPTable:
        """An unfitted copy."""
        return OpenDPTable(self.algorithm, self.delta, self.epsilon)

    def set_params(self, *, epsilon: float, **ignored: Any) -> OpenDPTable:
        """Takes ε and ignores the seed."""
        self.epsilon = float(epsilon)
        return self

    @property
    def rho(self) -> float:
        """The ρ of the release."""
        far = math.log(1 / self.delta)
        return (math.sqrt(far + self.epsilon) - math.sqrt(far)) ** 2

    takes_records = True

    def fit(self, records: Records) -> OpenDPTable:
        """Release the table; BudgetError where OpenDP's extra isn't installed.

        **Privacy:** OpenDP's own promise, ρ-zCDP and so (ε, δ), for replacing one record; not in our ledger.
        """
        try:
            import mbi  # type: ignore[import-not-found]  # noqa: F401
            import opendp.prelude as dp
            import polars as pl  # type: ignore[import-not-found]
        except ImportError as problem:
            raise BudgetError(f"the yardstick needs opendp[mbi], which isn't installed here ({problem})") from problem
        dp.enable_features("contrib")
        sizes = records.schema.sizes
        table = pl.DataFrame({f"c{j}": records.codes[:, j].astype(np.int64) for j in range(len(sizes))}).lazy()
        query = dp.Context.compositor(
            data=table, privacy_unit=dp.unit_of(contributions=2), privacy_loss=dp.loss_of(rho=self.rho), split_evenly_over=1
        ).query()  # type: ignore[attr-defined]
        keys = {f"c{j}": list(range(size)) for j, size in enumerate(sizes)}
        self._table = query.contingency_table(keys=keys, algorithm=getattr(dp.mbi, self.algorithm)()).release()
        self.model_ = self
        return self

    def sample_codes(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """Codes (n, d) of a synthetic table; a category that OpenDP calls missing becomes the first.

        **Privacy:** post-processing.
        """
        drawn = self._table.synthesize(rows=n, method="sample")
        return np.column_stack([drawn[name].fill_null(0).to_numpy() for name in drawn.columns]).astype(np.uint8)
