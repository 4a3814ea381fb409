"""Other people's methods as ``compare`` needs them: OpenDP's AIM and MST, and DataSynthesizer."""

from __future__ import annotations

import json
import math
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from ..core import BudgetError, Records, Unit, needed_for
from . import genetic_peer
from .grids import Contender

GUARANTEE, PURE, TRUE = "(ε, δ)", "pure ε", "true ε"  # what peers promise; ours is "strict"
RELATIONS = {"replace_one": "⇄", "add_remove": "±"}  # as tables and legends write them
WORKER = Path(__file__).resolve().parents[2] / "benchmarks" / "peer_audit_worker.py"
HAIR = 1e-12
_SCALES: dict[Any, dict[Any, float]] = {}  # MST's noise scales, by loss, contributions and domain


class OpenDPTable(Contender):
    """OpenDP's contingency table: pairwise marginals, chosen, fitted together and sampled.

    ``algorithm``: "MST" or "AIM". ``delta``: of the conversion from zero-concentrated privacy, in
    which it runs with Gaussian noise; 0: pure ε, with Laplace noise. ``tight``: with the largest ρ
    that gives (ε, δ) by Canonne, Kamath and Steinke 2020 (corollary 13); otherwise with the ρ for
    which ρ + 2 √(ρ ln(1/δ)) = ε (Bun and Steinke 2016, proposition 1.3), which means 8 to 19 % more
    noise at ε = 4 … 0.2 and δ = 1e-9. ``relation``: in OpenDP's symmetric distance an added or
    removed record is one contribution, and a replaced one is two. Noise from the operating system:
    it takes no seed.
    """

    def __init__(
        self,
        algorithm: str = "MST",
        delta: float = 1e-9,
        epsilon: float = 1.0,
        tight: bool = False,
        relation: str = "replace_one",
    ) -> None:
        self.algorithm, self.delta, self.epsilon, self.tight = algorithm, delta, epsilon, tight
        self.relation = relation

    @property
    def guarantee(self) -> str:  # type: ignore[override]
        """Pure ε where there is no δ."""
        return GUARANTEE if self.delta else PURE

    def get_params(self) -> dict[str, Any]:
        """What decides its result, but ε and the noise."""
        return {
            "algorithm": self.algorithm,
            "delta": self.delta,
            **({"tight": True} if self.tight else {}),
            **({"relation": self.relation} if self.relation != "replace_one" else {}),
        }

    @property
    def contributions(self) -> int:
        """Rows in which neighbouring tables differ, as OpenDP counts them."""
        return Unit(self.relation).moved

    @property
    def loss(self) -> dict[str, float]:
        """What OpenDP is asked to spend: ``epsilon``, or ``rho``."""
        return {"rho": self.rho} if self.delta else {"epsilon": float(self.epsilon)}

    @property
    def rho(self) -> float:
        """The ρ of the release; only where there is a δ."""
        epsilon, far = float(self.epsilon), math.log(1 / self.delta)
        simple = (math.sqrt(far + epsilon) - math.sqrt(far)) ** 2
        return largest_rho(epsilon, self.delta, simple) if self.tight else simple

    def fit(self, records: Records) -> OpenDPTable:
        """Release the table; BudgetError where OpenDP's extra isn't installed.

        **Privacy:** OpenDP's own promise, pure ε or ρ-zCDP and so (ε, δ), for its relation; not in
        our ledger.
        """
        try:
            with needed_for(f"OpenDP's {self.algorithm}"):
                import mbi  # type: ignore[import-not-found]  # noqa: F401
                import opendp.prelude as dp
                import polars as pl  # type: ignore[import-not-found]
        except ImportError as missing:  # a comparison leaves a gap and goes on
            raise BudgetError(str(missing)) from missing
        dp.enable_features("contrib")
        keys = {f"c{j}": list(range(size)) for j, size in enumerate(records.schema.sizes)}
        columns = zip(keys, records.codes.T.astype(np.int64), strict=True)
        query = dp.Context.compositor(
            data=pl.DataFrame(dict(columns)).lazy(),
            privacy_unit=dp.unit_of(contributions=self.contributions),
            privacy_loss=dp.loss_of(**self.loss),
            split_evenly_over=1,
        ).query()  # type: ignore[attr-defined]
        algorithm = getattr(dp.mbi, self.algorithm)()
        with ExitStack() as patches:
            # the steps may add up to one rounding more than their sum: each asks for a hair less
            patches.enter_context(
                mock.patch("opendp.extras.mbi._mst.prior", lambda budget: budget * (1 - HAIR))
            )
            if self.algorithm == "MST":
                fits = _SCALES.setdefault(
                    (*self.loss.items(), self.contributions, records.schema.sizes), {}
                )
                for home in ("opendp.mod", "opendp.extras.mbi._table"):
                    patches.enter_context(
                        mock.patch(
                            f"{home}.binary_search_param", once(dp.binary_search_param, fits)
                        )
                    )
            self._table = query.contingency_table(keys=keys, algorithm=algorithm).release()
        self.model_ = self
        return self

    def sample_codes(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """Codes (n, d) of a synthetic table; what OpenDP calls missing is the first category.

        **Privacy:** post-processing.
        """
        frame = self._table.synthesize(rows=n, method="sample")
        columns = [frame[name].fill_null(0).to_numpy() for name in frame.columns]
        return np.column_stack(columns).astype(np.uint8)


def largest_rho(epsilon: float, delta: float, enough: float) -> float:
    """The largest ρ whose zero-concentrated privacy gives (ε, δ), from ``enough``, which does."""
    orders = 1 + np.geomspace(1e-3, 1e6, 20_000)  # a grid: δ is never below its true bound
    constants = orders * np.log1p(-1 / orders) - np.log(orders - 1)

    def holds(rho: float) -> bool:
        return bool(np.min((orders - 1) * (orders * rho - epsilon) + constants) <= math.log(delta))

    low, high = enough, 2 * enough
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def once(search: Any, known: dict[Any, float]) -> Any:
    """OpenDP's search for a noise scale, once for each place that asks, d_in and d_out.

    MST searches the same scale for every selection of every fit, two thirds of its time, though it
    depends on public facts alone. What is known is checked before it is used.
    """

    def searched(make: Any, d_in: Any, d_out: Any, *options: Any, **more: Any) -> float:
        place = make.__code__.co_filename, make.__code__.co_firstlineno, str(d_in), str(d_out)
        if place not in known or not make(known[place]).check(d_in, d_out):
            known[place] = search(make, d_in, d_out, *options, **more)
        return known[place]

    return searched


class DataSynthesizerTable(Contender):
    """DataSynthesizer 0.1.13, correlated mode, k = 1, asked for so much that it spends ``epsilon``.

    By its code, under replacing one record, it spends 2.5 times what it is asked for: its
    histograms take all of it, its tables all of it (their noise is that of one record more), its
    network half. That it reads domains off the records isn't counted. It runs in the Python that
    ``$PDSYNTH_PEER`` names.
    """

    guarantee = TRUE
    spends = 2.5  # times what it is asked for

    def __init__(self, epsilon: float = 1.0, random_state: int = 0) -> None:
        self.epsilon, self.random_state = epsilon, random_state

    def get_params(self) -> dict[str, Any]:
        """What decides its result, but ε and the seed."""
        return {"k": 1, "spends": self.spends}

    def fit(self, records: Records) -> DataSynthesizerTable:
        """Describe the table and sample as many rows; BudgetError where it isn't installed.

        **Privacy:** hands the raw records to another program; its promise isn't in our ledger.
        """
        if not (genetic_peer.python() and WORKER.exists()):
            raise BudgetError(
                f"the peer needs DataSynthesizer 0.1.13 in a Python of its own, that "
                f"${genetic_peer.VARIABLE} names, and the repository's benchmarks/"
            )
        request = {
            "rows": records.codes.tolist(),
            "epsilon": float(self.epsilon) / self.spends,
            "seed": self.random_state,
            "sample": records.n,
        }
        done = subprocess.run(
            [genetic_peer.python(), str(WORKER)],
            input=json.dumps(request) + "\n",
            text=True,
            stdout=subprocess.PIPE,
            check=True,
        )
        self._rows = np.array(json.loads(done.stdout.splitlines()[-1])["sample"], dtype=np.uint8)
        self.model_ = self
        return self

    def sample_codes(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """Codes (n, d) of the synthetic table, drawn by DataSynthesizer itself.

        **Privacy:** post-processing.
        """
        return self._rows[:n]
