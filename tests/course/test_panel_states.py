"""What every panel says and draws at three positions of its controls or more, by digest.

Written before panels became functions. ``python tests/course/test_panel_states.py`` writes
``panel_states.json`` anew; that belongs into a commit of its own which says why a picture or a
sentence may change. Two figures are the same if Plotly draws them alike: arrays and lists, whole
numbers and floats, and a default that is written out or left out make no difference.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from pdsynth.planning import costs as cost

STORE = Path(__file__).with_name("panel_states.json")
POSITIONS: dict[str, list[dict[str, Any]]] = {
    "first_table": [{}, {"epsilon": 0.1, "attribute": "sex"}, {"epsilon": 3.0, "attribute": "age"}],
    "rules": [{}, {"epsilon": 0.05}, {"rule": "wed people are married", "epsilon": 1.0}],
    "answers": [{}, {"level": 0.5}, {"attribute": "sex", "epsilon": 1.0}],
    "private_bins": [{}, {"column": "hours-per-week"}, {"epsilon": 0.1, "number": 8}],
    "outside": [{}, {"questions": 1, "digits": 5}, {"epsilon": 3.0}],
    "way_back": [{}, {"n": 1500}, {"epsilon": 0.2, "distance": 0.1}],
    "persons": [
        {},
        {"method": "copies, level as a column"},
        {"mix": "20 / 40 / 40", "tie": 2.0, "method": "sample"},
    ],
    "mechanisms": [
        {},
        {"share": 0.5, "attribute": "race", "n": 100},
        {"epsilon": 0.3, "n": 45222, "share": 1.5},
    ],
    "ledger": [
        {},
        {"algorithm": "PrivBayes as the thesis reprints it", "guarantee": "strict"},
        {"algorithm": "HPPrivBayes", "guarantee": "published", "epsilon": 0.5},
        {"algorithm": "PrivBayes as the thesis reprints it", "guarantee": "published", "k": 3},
    ],
    "information": [
        {},
        {"x": "age", "y": "age"},
        {"x": "sex", "measure": "R with noise", "epsilon": 0.5},
        {"measure": "R"},
    ],
    "privbayes": [
        {},
        {"epsilon": 0.3, "k": "3", "reading": "thesis reprint"},
        {"k": "0", "reading": "no noise"},
    ],
    "ordering": [
        {},
        {"epsilon": 8.0, "share": 1.0, "draw": 5},
        {"epsilon": 0.3, "l1": 0.75, "sensitive": "sex"},
    ],
    "sensitivity": [
        {},
        {"theta": 0.0, "r": 1.5},
        {"attribute": "age", "rare_values": "more_noise", "v_min": 0.05},
        {"attribute": "sex", "rare_values": "same_noise", "theta": 0.5},
    ],
    "hpprivbayes": [
        {},
        {"epsilon": 0.5, "k": 4, "theta": 0.0, "guarantee": "published"},
        {"epsilon": 0.3, "k": 1, "r": 0.1, "rare_values": "more_noise"},
        {"guarantee": "published", "theta": 0.5},
        {"guarantee": "none", "rare_values": "same_noise"},
    ],
    "clustering": [
        {},
        {"x": "sex", "y": "sex"},
        {"x": "race", "k": 5, "sketch": "published: noisy MIC, bits", "eta": 0.5},
        {"epsilon": 0.1, "reading": "as printed: distance", "sketch": "no noise: R, attributes"},
    ],
    "risk_entropy": [
        {},
        {"epsilon": 0.2, "weights": "reversed", "records": "453"},
        {"weights": "equal shares", "reading": "raw, as published", "share": 0.3},
    ],
    "hmprivbayes": [
        {},
        {"k": 16},
        {"epsilon": 0.2},
        {"guarantee": "published", "k": 4, "l": 1},
        {"guarantee": "none", "affinity": "as printed", "eta": 0.5},
    ],
    "privabn": [{}, {"epsilon": 0.3, "alpha": 1}, {"epsilon": 1.0, "alpha": 5}],
    "ppba": [
        {},
        {"epsilon": 0.3, "k": 3, "q": 0.7},
        {"guarantee": "published"},
        {"guarantee": "none", "k": 2},
    ],
    "genetic": [
        {},
        {"elite": 50, "population": 40},
        {"generation": 300, "generations": 50, "k": 1, "seed": 4, "r": 0.5},
    ],
    "custom": [
        {},
        {"epsilon": 0.4, "k": "2", "sensitive": "sex", "measure": "I"},
        {"guarantee": "none", "k": "1"},
    ],
    "evaluating": [
        {},
        {"epsilon": 0.3, "k": 1, "measure": "counting queries", "table": "HPPrivBayes"},
        {"table": "copy of the records", "measure": "1-way distance"},
    ],
    "auditing": [
        {},
        {"step": "strict-joint-tables", "epsilon": 0.3, "runs": 2},
        {"step": "hmprivbayes-clusters", "runs": 3},
    ],
    "worlds": [
        {},
        {"step": "sensitivity divided by n twice"},
        {"step": "raw order (HPPrivBayes as printed)", "becomes": 3},
    ],
    "personal": [
        {},
        {"method": "custom network, two groups", "r": 0.1},
        {"method": "HPPrivBayes, groups by policy", "epsilon": 0.5},
        {"method": "PPBA", "q": 1.4},
    ],
    "side_by_side": [
        {},
        {"epsilon": 0.2, "k": 4, "guarantee": "published", "sensitive": "education"},
        {"guarantee": "none", "k": 1},
        {"reconcile": "agree"},
    ],
    "forest": [{}, {"epsilon": 0.1}, {"epsilon": 2.0, "sensitive": "occupation"}],
    "own_data": [
        {},
        {"k": 3, "text": "age: 1 to 5\nsex: Female | Male"},
        {"epsilon": 0.1, "k": 4, "persons": 3, "bins": 4},
        {"proposal": "data", "k": 1},
    ],
}


def plain(value: Any, name: str = "") -> Any:
    """Plotly's JSON without what makes no difference to the picture."""
    if isinstance(value, dict):
        if "bdata" in value:
            numbers = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
            shape = [int(n) for n in str(value.get("shape", len(numbers))).split(",")]
            return plain(numbers.reshape(shape).tolist())
        kept = {key: plain(v, key) for key, v in value.items() if key not in ("uid", "template")}
        return {key: v for key, v in kept.items() if v != {} and not is_default(name, key, v)}
    if isinstance(value, list):
        return [plain(v, name) for v in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return None if value != value else f"{value:.8g}"
    return value


def is_default(place: str, key: str, value: Any) -> bool:
    """Whether Plotly does the same without this setting."""
    if (place, key, value) == ("title", "text", ""):
        return True
    if key == "anchor":
        return (place, value) in (("xaxis", "y"), ("yaxis", "x"))
    plain_values = {"xaxis": "x", "yaxis": "y", "orientation": "v"}
    if place == "shapes":
        plain_values = {"xref": "x", "yref": "y"}
    return place in ("data", "shapes") and plain_values.get(key) == value


def digest(text: str) -> str:
    """The first characters of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def drawing(figure: Any) -> str:
    """A figure as JSON that is the same for the same picture."""
    return json.dumps(plain(json.loads(figure.to_json())), sort_keys=True, ensure_ascii=False)


def state(name: str, at: dict[str, Any]) -> dict[str, Any]:
    """What a panel shows at one position, or its refusal.

    Foretold seconds depend on the machine: it is taken to be the one they were measured on.
    """
    try:
        with patch.object(cost, "slowness", lambda: 1.0):
            view = importlib.import_module(f"pdsynth.course.panels.{name}").view(**at)
    except ValueError as refusal:
        return {"at": at, "refused": f"{type(refusal).__name__}: {refusal}"}
    return {
        "at": at,
        "status": view.status,
        "tables": [digest(t) for t in view.tables],
        "figure": digest(drawing(view.figure)),
    }


CASES = [
    (name, number) for name, positions in POSITIONS.items() for number in range(len(positions))
]


@pytest.mark.parametrize(
    ("name", "number"),
    [pytest.param(*case, marks=[pytest.mark.slow] * (case[1] > 1)) for case in CASES],
    ids=[f"{name}-{number}" for name, number in CASES],
)
def test_a_panel_says_and_draws_what_it_did(name, number):
    written = json.loads(STORE.read_text(encoding="utf-8"))[name][number]
    assert state(name, POSITIONS[name][number]) == written


if __name__ == "__main__":
    found = {name: [state(name, at) for at in positions] for name, positions in POSITIONS.items()}
    STORE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
