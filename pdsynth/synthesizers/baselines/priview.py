"""PriView: noisy views of a covering design that answer every marginal (Qardaji, Yang, Li, SIGMOD 2014)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...consistency import clipped, consistent, integer_weights, margin, maximum_entropy, ripple
from ...domain.encoding import BinaryEncoding
from ...domain.facts import Facts
from ...errors import BudgetError, SchemaError
from ...measures import mutual_information
from ...network import Network
from ...privacy.curator import Curator
from ...privacy.ledger import as_fraction
from ...structure.covering import covering_design
from ...structure.junction import spanning_tree
from ...structure.learner import Fixed, Shares
from ..base import Parts, Recipe

NOISE_ERROR = 0.003  # what the paper's rule of thumb tolerates of all triples in place of all pairs
ROUNDS = 3
QUERY_BITS = 20  # a marginal of up to a million cells
LARGEST_VIEW = 16


@dataclass(eq=False, repr=False, kw_only=True)
class PriView(Recipe):
    """PriView: views of ``size`` bits that cover every ``t`` of them, made consistent and non-negative, answer any marginal.

    From literature (`algorithms` §8.1). It answers marginals (:meth:`marginal`); ``sample`` is an EXTENSION that PriView doesn't have:
    a tree of the strongest pairs, read off the views, so that the common contract holds; its model and its file hold that tree
    only. Judge it by its answers, as ``query_errors`` and ``compare`` do.

    Parameters
    ----------
    epsilon : total budget ε.
    size : bits a view, l.
    t : every t bits lie in one view: 1, 2 or 3; ``"auto"``: 3 where the noise error 2^((l−1)/2)·sqrt(w d(d−1)/(l(l−1)))/(nε)
        stays within .003, else 2; public facts only.
    design_seed : public seed of the greedy covering design.
    guarantee, noise, random_state : as in PrivBayes.

    Ambiguities and how they are resolved
    -------------------------------------
    1. Attributes with more than two values become bits; in an answer, codes that the schema doesn't declare are left out.
    2. n is public here, so the views are given the sum n, where the paper averages their sums.
    3. Consistency and Ripple (threshold: 1 % of a mean cell) take turns three times, then consistency once more, then cells are
       clipped and views normalised.
    4. d ≤ l: a single view. A query takes, from each view, the margin on what they share, the larger of two nested ones.

    Fitted: ``views_`` (tuples of bit names), ``t_``, ``marginal``.

    **Privacy:** strict: pure ε-DP under replacing one record: w views, discrete Laplace of scale 2w/ε, sequentially. Published:
    scale w/ε, which is ε for one record more or less, and so truly costs 2ε here (rule L7). None: raw.

    >>> PriView(epsilon=0.5, t=2)
    PriView(epsilon=0.5, t=2, guarantee='strict')
    """

    size: int = 8
    t: int | str = "auto"
    design_seed: int = 0

    def _check(self, facts: Facts) -> None:
        def whole(value: Any, low: int, high: float) -> bool:
            return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(low <= value <= high)

        if not whole(self.size, 2, LARGEST_VIEW):
            raise BudgetError(f"size must be a whole number of bits from 2 to {LARGEST_VIEW}, got {self.size!r}")
        most = min(3, int(self.size))
        if not (isinstance(self.t, str) and self.t == "auto") and not whole(self.t, 1, most):
            raise BudgetError(f"t must be 'auto' or a whole number from 1 to {most}, got {self.t!r}")
        if not whole(self.design_seed, 0, math.inf):
            raise BudgetError(f"design_seed must be a whole number of at least 0, got {self.design_seed!r}")

    def _parts(self, facts: Facts) -> Parts:
        return Parts(Fixed())  # views in place of pairs: see _recipe

    def _split(self, facts: Facts) -> dict[str, Fraction]:
        return {"views": facts.epsilon}

    def _largest_scale(self, facts: Facts) -> Fraction:
        _, views = self._design(len(BinaryEncoding(facts.schema).schema), facts.n)
        return Fraction(2 * len(views)) / facts.epsilon

    def _design(self, d: int, n: int) -> tuple[int, tuple[tuple[int, ...], ...]]:
        """Strength t and the views; everything here is public."""
        size, seed, epsilon = int(self.size), int(self.design_seed), float(as_fraction(self.epsilon))
        if not isinstance(self.t, str):
            return int(self.t), covering_design(d, size, int(self.t), seed)
        epsilon /= 2 if self.guarantee == "strict" else 1

        def error(views: float) -> float:
            return 2 ** ((size - 1) / 2) * math.sqrt(views * d * (d - 1) / (size * (size - 1))) / (n * epsilon)

        if size >= 3 and error(math.comb(d, 3) / math.comb(size, 3)) <= NOISE_ERROR:  # the least that any design needs
            views = covering_design(d, size, 3, seed)
            if error(len(views)) <= NOISE_ERROR:
                return 3, views
        return 2, covering_design(d, size, 2, seed)

    def _recipe(self, curator: Curator, facts: Facts, shares: Shares) -> tuple[Network, tuple[np.ndarray, ...]]:
        epsilon = shares["views"]
        bits = curator.binary()
        self.t_, views = self._design(len(bits.schema), curator.n)
        w, strict = len(views), self.guarantee == "strict"
        noisy = [
            bits.table(view, Fraction((2 if strict else 1) * w) / epsilon, step=f"view {i + 1} of {w}", source="PriView, step 2",
                       claimed=epsilon / w, relation="replace_one" if strict else "add_remove") for i, view in enumerate(views)
        ]  # fmt: skip
        for _ in range(ROUNDS):
            noisy = [ripple(table, 0.01 * curator.n / table.size) for table in consistent(noisy, views, curator.n)]
        self._tables = [clipped(table, curator.n) for table in consistent(noisy, views, curator.n)]
        self._views = views
        self.views_ = tuple(tuple(bits.schema.names[j] for j in view) for view in views)
        return self._tree(bits.schema.names)

    def _tree(self, names: Sequence[str]) -> tuple[Network, tuple[np.ndarray, ...]]:
        """EXTENSION: the tree of bits with the most mutual information in the views, and its tables."""
        strength = np.full((len(names), len(names)), -1.0)  # t = 1 leaves pairs that no view holds
        for view, table in zip(self._views, self._tables, strict=True):
            for i, j in itertools.combinations(view, 2):
                if strength[i, j] < 0:
                    strength[i, j] = strength[j, i] = max(0.0, mutual_information(margin(table, view, (i, j))))
        order, above = spanning_tree(strength)
        pairs = [(j, (above[j],) if above[j] >= 0 and strength[j, above[j]] >= 0 else ()) for j in order]
        network = Network.of_columns(pairs, names)
        return network, tuple(integer_weights(self._answer((j, *parents))) for j, parents in pairs)

    def _answer(self, bits: tuple[int, ...]) -> np.ndarray:
        """Counts of some bits, axes as asked: read off the first view that holds them, else of maximum entropy."""
        for view, table in zip(self._views, self._tables, strict=True):
            if set(bits) <= set(view):
                return margin(table, view, bits)
        shared: dict[tuple[int, ...], np.ndarray] = {}
        for view, table in zip(self._views, self._tables, strict=True):
            common = tuple(b for b in bits if b in view)
            if common and common not in shared:
                shared[common] = margin(table, view, common)
        largest = [s for s in shared if not any(set(s) < set(other) for other in shared)]
        margins = [(tuple(bits.index(b) for b in s), shared[s]) for s in largest]
        return self._tables[0].sum() * maximum_entropy((2,) * len(bits), margins)

    def marginal(self, names: Sequence[str]) -> np.ndarray:
        """Estimated counts of some attributes: float array, one axis an attribute in the order asked, sum n; costs nothing.

        Read off a view that holds them all, otherwise the distribution of largest entropy that agrees with every view on what they
        share (iterative proportional fitting, until nothing moves by 1e-6 or 100 sweeps). BudgetError before ``fit`` and
        for more than a million cells, SchemaError for attributes that aren't there or stand twice.
        """
        if not hasattr(self, "model_"):
            raise BudgetError("this PriView is not fitted yet: call fit(frame, schema=schema) first")
        names = [names] if isinstance(names, str) else list(names)
        if not names or len(set(names)) != len(names):
            raise SchemaError(f"a marginal needs one or more different attributes, got {names}")
        encoding = BinaryEncoding(self.schema_)
        groups = [encoding.bits(name) for name in names]
        bits = tuple(b for group in groups for b in group)
        if len(bits) > QUERY_BITS:
            raise BudgetError(f"a marginal of {len(names)} attributes has 2^{len(bits)} = {2 ** len(bits):,} cells; at most 2^{QUERY_BITS}")
        table = self._answer(bits).reshape([2 ** len(group) for group in groups])
        legal = table[tuple(slice(self.schema_[name].size) for name in names)]
        return clipped(legal, self.n_)
