"""The hard dependencies are enough for a fit, its model, ledger, plan and account; whatever needs
another package says so in one sentence, before any budget is spent."""

import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pdsynth

PATH = [Path(__file__).parent, Path(pdsynth.__file__).parents[1]]
BLOCK = """
import json, sys
BLOCKED = frozenset(json.loads(sys.argv[1]))

class Blocked:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked)
"""
# Each line of code for itself; what it answers stands in a dictionary at the end.
ASK = """
import numpy as np
import pdsynth as pds
from core_tour import make_table
from pdsynth.evaluation.utility import support_vectors

schema, frame = make_table()
account = pds.Session(1)
model = pds.PrivBayes(1, k=1).fit(frame, schema).model_
schema.write("old.toml")
answers = {}
for code in json.loads(sys.argv[2]):
    try:
        exec(code)
    except (ImportError, SystemExit) as refusal:
        answers[code] = str(refusal)
    else:
        answers[code] = "nothing"
assert account.spent == 0
print(json.dumps(answers))
"""
CSV = "or save the table as CSV (UTF-8)"
SENTENCES = {
    "pds.plots": "pdsynth.plots needs plotly: [figures], or show the network or the ledger itself",
    "pds.papers": "pdsynth.papers needs plotly: [figures]",
    "import pdsynth.course": "pdsynth.course needs ipywidgets: [course]",
    "import pdsynth.__main__": "refused: the command line needs click: [files]",
    "import pdsynth.files.command_line": "the command line needs click: [files]",
    "pds.HMPrivBayes(1, k=2).fit(frame, schema, session=account)": (
        "clustering attributes needs scikit-learn: [learn]"
    ),
    "pds.baselines.PrivSCBN(1, k=2).fit(frame, schema, session=account)": (
        "clustering attributes needs scikit-learn: [learn]"
    ),
    "pds.PrivBayes(1, k=1, noise='opendp').fit(frame, schema, session=account)": (
        "noise='opendp' needs opendp: [secure], or use noise='exact'"
    ),
    "pds.PrivBayes(1, k=1).fit('table.parquet', schema, session=account)": (
        "a Parquet file needs pyarrow: [scale], or give a pandas DataFrame"
    ),
    "model.sample_to('t.csv', 5)": (
        "sample_to needs pyarrow: [scale], or write sample(n) with pds.datasets.write_csv"
    ),
    r"pds.datasets.read_csv(b'a,b\n1,\xe9\n2,\xfc\n')": (
        "a file that isn't in UTF-8 needs charset-normalizer: [files], or say encoding='…'"
    ),
    r"pds.datasets.read_csv(b'PK\3\4 workbook')": (
        f"an Excel spreadsheet needs openpyxl: [files], {CSV}"
    ),
    r"pds.datasets.read_header(b'PAR1 table')": f"a Parquet file needs pyarrow: [scale], {CSV}",
    "pds.datasets.write_release(model, 'release')": "a release card needs mistune: [files]",
    "pds.datasets.write_release(model, 'release', kind='parquet')": (
        "a Parquet file needs pyarrow: [scale], or kind='csv'"
    ),
    "pds.evaluate.utility(frame, frame, schema, 'sex')": "a classifier needs scikit-learn: [learn]",
    "support_vectors(np.eye(4), np.arange(4) % 2, np.eye(4), backend='sklearnex')": (
        "backend='sklearnex' needs scikit-learn-intelex: [fast], or take backend='sklearn'"
    ),
    "pds.evaluate.report(frame, frame, schema)": "the interval of a mean needs scipy: [learn]",
    "pds.evaluate.compare([pds.PrivBayes(k=1)], (frame, schema), [1.0], 2, ['avd2'])": (
        "work in several processes needs joblib: [learn], or say jobs=1"
    ),
    "pds.audit.run(next(iter(pds.audit.CASES)), runs=200)": (
        "the bound of an audit needs scipy: [learn]"
    ),
}


def closure(names):
    """These packages and all that they need."""
    waiting, known = list(names), set()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in known:
            known.add(name)
            try:
                needs = map(Requirement, requires(name) or ())
            except PackageNotFoundError:  # needed on another system
                continue
            waiting += [r.name for r in needs if not r.marker or r.marker.evaluate({"extra": ""})]
    return known


@pytest.fixture(scope="module")
def hard(root):
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    return [Requirement(line).name for line in tomllib.loads(text)["project"]["dependencies"]]


@pytest.fixture(scope="module")
def others(hard):
    """Modules of all packages here but the hard dependencies and what these need."""
    keep = closure(hard) | {"pdsynth"}
    return [
        module
        for module, packages in packages_distributions().items()
        if not keep & set(map(canonicalize_name, packages))
    ]


def start(script, folder, *words):
    """Run a script in a new process and an empty folder, with bars as users have them."""
    path = f"sys.path[:0] = {list(map(str, PATH))}\n"
    command = [sys.executable, "-c", BLOCK + path + script, *map(json.dumps, words)]
    env = {name: value for name, value in os.environ.items() if name != "PDSYNTH_PROGRESS"}
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8"
    )


def test_there_are_at_most_five_hard_dependencies(hard):
    assert {"numpy", "pandas"} < {*hard} and len(hard) <= 5


def test_the_core_works_with_the_hard_dependencies_alone(others, tmp_path):
    assert {"plotly", "sklearn", "click", "IPython"} < {*others} and "numpy" not in others
    done = start("import core_tour; core_tour.main()", tmp_path, others)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("gone", ["filelock", "jinja2", "tqdm"])
def test_twin_without_one_of_them_it_fails(gone, others, tmp_path):
    done = start("import core_tour; core_tour.main()", tmp_path, [*others, gone])
    assert done.returncode == 1 and f"No module named '{gone}" in done.stderr


def test_what_needs_more_says_so_before_budget_is_spent(others, tmp_path):
    done = start(ASK, tmp_path, others, list(SENTENCES))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    wanted = {
        code: words.replace("[", "pip install 'pdsynth[").replace("]", "]'")
        for code, words in SENTENCES.items()
    }
    assert said == wanted
