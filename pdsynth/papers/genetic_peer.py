"""DataSynthesizer 0.1.13 timed beside us, in a Python of its own that ``$PDSYNTH_PEER`` names."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pandas as pd

from ..core import Network, Schema

VARIABLE = "PDSYNTH_PEER"
SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "peer_datasynthesizer.py"
WHOLE = 5_000  # rows up to which its whole search is run


def python() -> str:
    """The interpreter that has DataSynthesizer; empty where there is none, or no checkout."""
    return os.environ.get(VARIABLE, "") if SCRIPT.exists() else ""


def seconds(
    frame: pd.DataFrame,
    schema: Schema,
    network: Network,
    k: int,
    minutes: float,
    generations: int = 0,
) -> dict[str, float]:
    """Processor seconds of its description and generation; NaN where it needs over ``minutes``.

    ``generations``: of the plain genetic search in the place of its greedy one (0: its own).

    **Privacy:** hands the raw records to another program, without noise.
    """
    pairs = [[child, list(parents)] for child, parents in network.pairs[1:]]
    words = [python(), str(SCRIPT), "table.csv", str(k), "network.json", "result.json"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codes = pd.DataFrame(schema.encode(frame), columns=list(schema.names))
        codes.to_csv(folder / "table.csv", index=False)
        (folder / "network.json").write_text(json.dumps(pairs), encoding="utf-8")
        try:
            whole = ["--whole"] * (len(frame) <= WHOLE)
            which = ["--genetic", str(generations)] if generations else whole
            subprocess.run(
                [*words, *which],
                cwd=folder,
                check=True,
                stdout=subprocess.DEVNULL,
                timeout=60 * minutes,
            )
            result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        except subprocess.TimeoutExpired:
            result = {"description_seconds": "nan", "sampling_seconds": "nan"}
    return {
        "description, s": float(result["description_seconds"]),
        "generation, s": float(result["sampling_seconds"]),
    }
