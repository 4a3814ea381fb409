"""Model files of earlier days are read as they were: rows, verdict and the steps that made them.

``python tests/core/test_old_models.py`` adds the algorithms that aren't held yet; what is held
stays, as files that people have stay. Their fits are seeded, and promise nothing.
"""

import json
import sys
import warnings
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from contract_cases import CASES, TABLES, make  # noqa: E402

from pdsynth import Model  # noqa: E402
from pdsynth.answers.bootstrap import rebuild  # noqa: E402

STORE = HERE / "old_models.jsonl"  # one line for each algorithm


def said(model):
    """What of a model must not change: rows that it draws, its verdict, its steps."""
    rows = model.sample(5, random_state=0).astype(str).to_numpy().tolist()
    steps = {name: str(value) for name, value in rebuild(model).get_params().items()}
    return {"rows": rows, "verdict": model.verdict(), "steps": steps}


def fitted(name):
    frame, schema = TABLES["binary"](d=3, n=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(name, schema, epsilon=20, random_state=5).fit(frame, schema).model_


def held():
    lines = STORE.read_text(encoding="utf-8").splitlines() if STORE.exists() else []
    return {line["name"]: line for line in map(json.loads, lines)}


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_read_as_it_was(name):
    """A parameter that came since may stand beside those of the file."""
    kept = held()[name]
    now = said(Model.from_dict(kept["file"]))
    assert kept["said"]["steps"].items() <= now["steps"].items()
    assert now | {"steps": 0} == kept["said"] | {"steps": 0}


def test_twin_another_name_of_a_parameter_is_seen():
    kept = json.loads(json.dumps(held()["PrivBayes"]))
    kept["file"]["parameters"]["k"] = 2
    assert said(Model.from_dict(kept["file"])) != kept["said"]


if __name__ == "__main__":
    models = held()
    with STORE.open("a", encoding="utf-8") as lines:
        for case in (name for name in CASES if name not in models):
            model = fitted(case)
            line = {"name": case, "file": model.to_dict(), "said": said(model)}
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
