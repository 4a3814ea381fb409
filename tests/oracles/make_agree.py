"""Make agree.json: small problems of noisy tables, and the tables in agreement nearest to them.

``python tests/oracles/make_agree.py``, in an environment with ``mbi==2.0.0`` (Private-PGM of its
authors, McKenna and others, 2019), numpy and scipy. The tests only read the file that it writes.

The file: ``versions`` (what made it), and ``problems``, a list. Each problem has

* ``name``, ``sizes`` (of the attributes 0, 1, …), ``n`` (records), ``forest`` (whether the measured
  sets are single attributes and pairs without a cycle);
* ``measurements``: each with ``attributes`` (indices, ascending), ``scale`` b, and ``table``, the
  noisy counts, one axis per attribute in that order (nested lists);
* ``loss``: the least Σ ‖μ − y‖² / (2 b²) over all measurements, the μ being the marginals of one
  non-negative joint table of sum n; ``marginals``: those μ, one for each measurement. They are
  unique, since the loss is strictly convex in them; the joint table isn't;
* ``mbi_loss``: what mbi's mirror descent reaches, the oracle; ``mbi_gap``: its duality gap, so
  that no solution is below ``mbi_loss − mbi_gap``; ``gap``: the same for ``loss``. ``loss`` and
  ``marginals`` are mbi's, improved by non-negative least squares on the joint table (Lawson and
  Hanson), because mirror descent only creeps towards cells that are zero.
"""

import json
import os
import platform
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

os.environ["JAX_ENABLE_X64"] = "1"
import mbi  # noqa: E402
import numpy as np  # noqa: E402
from scipy.optimize import nnls  # noqa: E402

SEED = 20261122
BLOCKS, ITERATIONS, CLOSE = 20, 5_000, 1e-9
SINGLES = object()  # every attribute alone

# name, sizes, n, measured sets with their scales b of Laplace noise
PROBLEMS = [
    ("one pair", (3, 4), 500, {(0,): 4, (1,): 6, (0, 1): 10}),
    ("a tree of five", (3, 2, 4, 5, 2), 2_000,
     {SINGLES: 5, (0, 1): 12, (1, 2): 20, (1, 3): 25, (3, 4): 9}),
    ("two trees and a lone attribute", (2, 3, 5, 2, 4, 3), 1_000,
     {SINGLES: 8, (0, 2): 15, (2, 5): 15, (1, 4): 30}),
    ("precise single columns, coarse pairs", (4, 4, 3, 5), 3_000,
     {SINGLES: 1, (0, 1): 60, (1, 2): 80, (2, 3): 100}),
    ("coarse single columns, precise pairs", (4, 4, 3, 5), 3_000,
     {SINGLES: 90, (0, 1): 2, (1, 2): 3, (2, 3): 1}),
    ("a tree with strongly negative cells", (5, 5, 4, 3), 60,
     {SINGLES: 10, (0, 1): 40, (1, 2): 25, (1, 3): 30}),
    ("single columns only, negative cells", (5, 2, 3, 4), 40, {SINGLES: 20}),
    ("pairs without single columns", (3, 2, 4, 3), 800, {(0, 1): 8, (1, 2): 5, (2, 3): 12}),
    ("a cycle of four", (3, 2, 3, 4), 1_500,
     {SINGLES: 6, (0, 1): 10, (1, 2): 14, (2, 3): 8, (0, 3): 11}),
    ("every pair of four", (2, 3, 2, 4), 1_200,
     {SINGLES: 5, **dict.fromkeys(combinations(range(4), 2), 16)}),
    ("triples that overlap in a pair", (2, 3, 2, 4, 2), 2_500,
     {SINGLES: 7, (0, 1, 2): 12, (1, 2, 3): 18, (3, 4): 9}),
    ("a triple across a tree", (2, 4, 3, 2, 3, 2), 2_500,
     {SINGLES: 6, (0, 1): 9, (1, 2): 9, (2, 3): 9, (3, 4): 9, (4, 5): 9, (0, 2, 4): 22}),
    ("a pair, its triple, and a scale of hundreds", (3, 3, 2, 5), 4_000,
     {SINGLES: 3, (0, 1): 5, (0, 1, 2): 200, (2, 3): 400}),
    ("triples with strongly negative cells", (3, 3, 3, 2, 2), 50,
     {SINGLES: 12, (0, 1, 2): 30, (1, 2, 3): 30, (2, 3, 4): 15}),
    ("bits in rounds", (2,) * 6, 5_000,
     {SINGLES: 20, (0, 1): 6, (1, 2, 3): 8, (2, 4): 7, (0, 3): 5, (1, 4, 5): 9, (0, 1, 5): 6}),
]  # fmt: skip


def true_joint(sizes, n, rng):
    """Records whose neighbouring attributes hang together."""
    records = np.empty((n, len(sizes)), dtype=int)
    for j, size in enumerate(sizes):
        own = rng.choice(size, n, p=rng.dirichlet(np.full(size, 0.8)))
        copied = records[:, j - 1] % size if j else own
        records[:, j] = np.where(rng.random(n) < 0.6, copied, own)
    joint = np.zeros(sizes)
    np.add.at(joint, tuple(records.T), 1)
    return joint


def project(joint, attributes):
    return joint.sum(axis=tuple(j for j in range(joint.ndim) if j not in attributes))


def measured(sizes, n, sets, rng):
    """Noisy tables, whole numbers."""
    joint = true_joint(sizes, n, rng)
    alone = {(j,): sets[SINGLES] for j in range(len(sizes))} if SINGLES in sets else {}
    for attributes, scale in (alone | {s: b for s, b in sets.items() if s is not SINGLES}).items():
        counts = project(joint, attributes)
        noisy = counts + np.rint(rng.laplace(scale=scale, size=counts.shape))
        yield {"attributes": list(attributes), "scale": scale, "table": noisy.astype(int).tolist()}


def is_forest(measurements):
    part, pairs = {}, [m["attributes"] for m in measurements if len(m["attributes"]) > 1]
    for pair in pairs:
        ends = {part.setdefault(j, frozenset([j])) for j in pair}
        if len(pair) > 2 or len(ends) < 2:
            return False
        part.update(dict.fromkeys(frozenset().union(*ends), frozenset().union(*ends)))
    return True


def loss_of(joint, measurements):
    """The loss of a joint table, and what it could fall at most (Frank and Wolfe's gap)."""
    loss, slope = 0.0, np.zeros(joint.shape)
    for m in measurements:
        attributes, b = m["attributes"], m["scale"]
        apart = (project(joint, attributes) - np.array(m["table"])) / b
        loss += float((apart**2).sum() / 2)
        others = [j for j in range(joint.ndim) if j not in attributes]
        slope = slope + np.expand_dims(apart / b, others)
    return loss, float((slope * joint).sum() - joint.sum() * slope.min())


def by_mbi(sizes, n, measurements):
    """The joint table of mbi's mirror descent, which goes on until its gap is small."""
    domain = mbi.Domain([str(j) for j in range(len(sizes))], sizes)
    given = [
        mbi.LinearMeasurement(
            np.array(m["table"], float).ravel(), tuple(map(str, m["attributes"])), float(m["scale"])
        )
        for m in measurements
    ]
    model, best = None, None
    for _ in range(BLOCKS):
        model = mbi.estimation.MirrorDescent().estimate(
            domain, given, known_total=float(n), iters=ITERATIONS, warm_start=model
        )
        everything = model.project(domain.attributes)
        joint = np.asarray(everything.values, float).reshape(sizes)
        found = loss_of(joint, measurements)
        if best is None or found[0] < best[1][0]:
            best = joint, found
        if found[1] < CLOSE * max(1, found[0]):
            break
    return best


def by_least_squares(joint, n, measurements, heavy=1e4):
    """Non-negative least squares on the joint table; its sum n is a heavy row, then made exact."""
    cells = np.arange(joint.size).reshape(joint.shape)
    rows, wanted = [np.full((1, joint.size), heavy)], [[heavy * n]]
    for m in measurements:
        table = np.array(m["table"], float)
        at = np.indices(joint.shape)[m["attributes"]].reshape(len(m["attributes"]), -1)
        row = np.ravel_multi_index(tuple(at), table.shape)
        design = np.zeros((table.size, joint.size))
        design[row, cells.ravel()] = 1 / m["scale"]
        rows.append(design)
        wanted.append(table.ravel() / m["scale"])
    found, _ = nnls(np.vstack(rows), np.concatenate(wanted), maxiter=100 * joint.size)
    return (found * n / found.sum()).reshape(joint.shape)


def solved(name, sizes, n, sets, rng):
    measurements = list(measured(sizes, n, sets, rng))
    joint, (mbi_loss, mbi_gap) = by_mbi(sizes, n, measurements)
    exact = by_least_squares(joint, n, measurements)
    loss, gap = loss_of(exact, measurements)
    assert loss <= mbi_loss + 1e-9 * max(1, loss) and loss >= mbi_loss - mbi_gap - 1e-9, name
    assert gap <= 1e-6 * max(1, loss), (name, gap)
    marginals = [project(exact, m["attributes"]).round(6).tolist() for m in measurements]
    print(f"{name}: mbi {mbi_loss:.6f} (gap {mbi_gap:.1e}), here {loss:.6f} (gap {gap:.1e})")
    return {
        "name": name,
        "sizes": list(sizes),
        "n": n,
        "forest": is_forest(measurements),
        "measurements": measurements,
        "loss": loss,
        "gap": gap,
        "mbi_loss": mbi_loss,
        "mbi_gap": mbi_gap,
        "marginals": marginals,
    }


def main():
    rng = np.random.default_rng(SEED)
    packages = ("mbi", "jax", "numpy", "scipy")
    made = {
        "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
        "problems": [solved(*problem, rng) for problem in PROBLEMS],
    }
    path = Path(__file__).with_name("agree.json")
    text = json.dumps(made, separators=(",", ":")).replace('{"name"', '\n{"name"')
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
