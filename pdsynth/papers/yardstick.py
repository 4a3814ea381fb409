"""AIM and MST of OpenDP (its extra ``mbi``) as ``compare`` needs them: (ε, δ) yardsticks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..counting.tables import Records
from ..errors import BudgetError

GUARANTEE = "(ε, δ)"


class OpenDPTable:
    """OpenDP's contingency table: pairwise marginals, chosen, fitted together and sampled.

    ``algorithm``: "MST" or "AIM". ``delta``: of the conversion; it runs in zero-concentrated
    privacy with the ρ for which ρ + 2 √(ρ ln(1/δ)) = ε (Bun and Steinke 2016, proposition 1.3).
    Two contributions per record in OpenDP's symmetric distance are one replaced record here. Noise
    from the operating system: it takes no seed.
    """

    guarantee = GUARANTEE
    takes_records = True

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

    def fit(self, records: Records) -> OpenDPTable:
        """Release the table; BudgetError where OpenDP's extra isn't installed.

        **Privacy:** OpenDP's own promise, ρ-zCDP and so (ε, δ), for replacing one record; not in
        our ledger.
        """
        try:
            import mbi  # type: ignore[import-not-found]  # noqa: F401
            import opendp.prelude as dp
            import polars as pl  # type: ignore[import-not-found]
        except ImportError as problem:
            remedy = f"the yardstick needs opendp[mbi], which isn't installed here ({problem})"
            raise BudgetError(remedy) from problem
        dp.enable_features("contrib")
        keys = {f"c{j}": list(range(size)) for j, size in enumerate(records.schema.sizes)}
        columns = zip(keys, records.codes.T.astype(np.int64), strict=True)
        query = dp.Context.compositor(
            data=pl.DataFrame(dict(columns)).lazy(), privacy_unit=dp.unit_of(contributions=2),
            privacy_loss=dp.loss_of(rho=self.rho), split_evenly_over=1,
        ).query()  # type: ignore[attr-defined]
        algorithm = getattr(dp.mbi, self.algorithm)()
        self._table = query.contingency_table(keys=keys, algorithm=algorithm).release()
        self.model_ = self
        return self

    def sample_codes(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """Codes (n, d) of a synthetic table; what OpenDP calls missing is the first category.

        **Privacy:** post-processing.
        """
        drawn = self._table.synthesize(rows=n, method="sample")
        columns = [drawn[name].fill_null(0).to_numpy() for name in drawn.columns]
        return np.column_stack(columns).astype(np.uint8)
