"""T7: raw records have one door. The imports are walked,
and a spy records who reads during fits.
"""

import inspect
from fractions import Fraction as Q
from pathlib import Path

import numpy as np
import pytest
from import_tools import PACKAGE, imported, sources, top_names
from privacy_tools import records_of, schema_of
from spy_tools import Spy

import pdsynth
from pdsynth.algorithms.genetic import GeneticBayes
from pdsynth.algorithms.hmprivbayes import HMPrivBayes
from pdsynth.algorithms.hpprivbayes import HPPrivBayes, SensitivityGroups, ordered
from pdsynth.algorithms.parts import Synthesizer
from pdsynth.algorithms.privabn import PrivABN
from pdsynth.algorithms.privbayes import PrivBayes, greedy
from pdsynth.baselines.priview import PriView
from pdsynth.baselines.relatives import Independent, JTree, PrivSCBN
from pdsynth.core import records as counts
from pdsynth.core.curator import Curator
from pdsynth.core.errors import PrivacyError
from pdsynth.core.ledger import Ledger
from pdsynth.core.network import Restriction
from pdsynth.core.noise import ExactNoise
from pdsynth.core.records import Records
from pdsynth.core.structure import MaxCells, MaxParents
from pdsynth.published.curator import RawCurator
from pdsynth.published.noise import NoNoise

CODES = [[0, 0, 0, 1], [1, 1, 1, 0], [1, 0, 2, 1], [0, 1, 1, 0], [0, 0, 2, 1], [1, 1, 0, 1]] * 30
SIZES = (2, 2, 3, 2)


# --- the imports. Which house may import which, the contracts of pyproject.toml say.

CURATORS = {"core/curator.py", "published/curator.py", "concentrated/curator.py"}
# Ways around an import and around the door, and the only files in which each may stand.
WAYS = {
    "._records": CURATORS,
    "._pairwise": CURATORS - {"concentrated/curator.py"},
    "gc.get_": set(),
    "__import__": set(),
    "import_module": {
        "core/errors.py",  # the core's one way to other houses
        "__init__.py",  # what is loaded when it is first used
        "files/opening.py",  # packages of others
        # their own modules, by name
        "papers/engine.py",
        "course/panels/__init__.py",
        "course/exercises/answers.py",
        "course/exercises/student.py",
    },
}
# Houses that read no records, or only by questions to a curator. The others are given tables by
# whoever calls them, and say in each docstring what they show of them.
WITHOUT_COUNTS = "core", "algorithms", "published", "planning", "files", "datasets"
COUNTING = "core/records.py"
PUBLIC = {"MAX_CELLS", "MAX_MEMBERS"}  # sizes
COUNTS = {*top_names((PACKAGE / COUNTING).read_text(encoding="utf-8"))} - PUBLIC
KNOWN = {
    "core/curator.py": {"Records"},
    "core/recipe.py": {"Records"},  # builds what it hands to a curator
    "published/doors.py": {"Records"},  # the same, for the raw one
    "published/partitions.py": {"Records", "CountLogs"},  # the raw curator counts with it
}


def forbidden(path, text):
    """Ways in which a module could reach raw records past the curator."""
    file = Path(path).as_posix()
    ways = [way for way, files in WAYS.items() if way in text and file not in files]
    if Path(path).parts[0] not in WITHOUT_COUNTS or file in (COUNTING, "core/__init__.py"):
        return ways
    named = [name.split(".") for name in imported(path, text) if name.startswith("core.")]
    found = {parts[-1] for parts in named if parts[1] == "records" or len(parts) == 2}
    return sorted(found & (COUNTS | {"records"}) - KNOWN.get(file, set())) + ways


def test_no_module_reaches_past_the_curator():
    found = {str(path): forbidden(path, text) for path, text in sources()}
    assert len(found) > 200 and {path: ways for path, ways in found.items() if ways} == {}


def test_what_is_allowed_is_needed():
    texts = {path.as_posix(): text for path, text in sources()}
    for way, files in WAYS.items():
        assert [file for file in files if way not in texts[file]] == []
    for file, names in KNOWN.items():
        found = {name.split(".")[-1] for name in imported(file, texts[file])}
        assert names <= found, file
    assert {"Records", "Lattice", "marginal", "count_cells", "Counter"} <= COUNTS


def test_only_the_curator_names_its_records():
    found = {path.as_posix() for path, text in sources() if "._records" in text}
    assert found == CURATORS


@pytest.mark.parametrize(
    "line",
    [
        "from ..core.records import marginal",
        "from ..core import records",
        "from ..core import Records",
        "import pdsynth.core.records",
        "from pdsynth.core.records import Records",
        "from pdsynth.core import records as c",
        "def f():\n    from ..core.records import Records",
        "from ..core.records import count_cells",
        "x = curator._records",
        "x = curator._pairwise('I')",
        "import importlib; importlib.import_module('pdsynth.core.records')",
        "x = __import__('pdsynth').core.records",
    ],
)
@pytest.mark.parametrize("file", ["core/structure.py", "files/pages.py", "algorithms/jtree.py"])
def test_twin_a_shortcut_is_found(line, file):
    assert forbidden(Path(file), line) != []


def test_twin_the_recipe_may_build_records_and_no_more():
    line = "from .records import Records"
    assert forbidden(Path("core/recipe.py"), line) == []
    assert forbidden(Path("core/recipe.py"), f"{line}, marginal") == ["marginal"]
    assert forbidden(Path("core/structure.py"), line) == ["Records"]
    assert forbidden(Path("core/structure.py"), "from . import records") == ["records"]
    assert forbidden(Path("core/structure.py"), "from .records import MAX_CELLS") == []
    assert forbidden(Path("published/genetic.py"), "from ..core import Records") == ["Records"]
    assert forbidden(Path("evaluation/report.py"), "from ..core import Records") == []


# --- the spy


@pytest.fixture
def spy(monkeypatch):
    return Spy(monkeypatch)


@pytest.fixture
def frame():
    return schema_of(SIZES).decode(np.array(CODES, dtype=np.uint8))


STRICT = {
    "PrivBayes": PrivBayes(k=1),
    "PrivBayes auto": PrivBayes(epsilon=20),
    "PrivBayes I": PrivBayes(k=2, score="I"),
    "PrivBayes alone": PrivBayes(k=0),
    "HPPrivBayes": HPPrivBayes(k=1, sensitive="x2"),
    "HPPrivBayes auto": HPPrivBayes(epsilon=20, sensitive="x2"),
    "HPPrivBayes protect": HPPrivBayes(
        k=2, sensitive="x0", personal=SensitivityGroups(rare_values="more_noise")
    ),
    "HPPrivBayes flat": HPPrivBayes(
        k=1, sensitive="x2", personal=SensitivityGroups(rare_values="same_noise")
    ),
    "HPPrivBayes policy": HPPrivBayes(
        k=1,
        sensitive="x2",
        personal=SensitivityGroups(groups={"A": ["x2"], "B": ["x0", "x1", "x3"]}),
    ),
    "HPPrivBayes custom": HPPrivBayes(k=2, sensitive="x3", restriction=Restriction("x0", "x2")),
    "GeneticBayes": GeneticBayes(epsilon=20, k=2, generations=3),
    "GeneticBayes auto": GeneticBayes(epsilon=200, search="exact"),
    "GeneticBayes custom": GeneticBayes(
        epsilon=20, k=2, target="x0", sensitive="x2", search="hill"
    ),
    "PrivBayes custom": PrivBayes(k=2, restriction=Restriction("x0", "x2")),
    "HMPrivBayes": HMPrivBayes(epsilon=900, k=2, l=2),
    "HMPrivBayes too noisy": HMPrivBayes(k=2),
    "HMPrivBayes public": HMPrivBayes(clusters=[["x0", "x2"], ["x1"], ["x3"]], eta=0),
    "PrivABN": PrivABN(k=2),
    "PrivABN auto": PrivABN(epsilon=50),
    "PrivSCBN": PrivSCBN(epsilon=900, k=2),
    "PrivSCBN public": PrivSCBN(clusters=[["x0", "x2"], ["x1"], ["x3"]]),
    "Independent": Independent(),
    "JTree": JTree(epsilon=20, phi=0),
    "JTree alone": JTree(epsilon=0.1),
    "PriView": PriView(),
    "PriView views": PriView(size=3, t=2),
}
PUBLISHED = {  # with the words of every source, and how many raw reads there are at least
    "HPPrivBayes": (
        HPPrivBayes(k=1, sensitive="x2", theta=0.01, guarantee="published"),
        "thesis Alg",
        3,
    ),
    "HMPrivBayes": (HMPrivBayes(k=2, l=2, guarantee="published"), "HMPrivBayes Alg", 1),
    "PrivABN": (PrivABN(guarantee="published"), "PrivABN Alg 2", 1),
    "PrivSCBN": (PrivSCBN(k=2, guarantee="published"), "PrivABN Alg 2", 1),
    "JTree": (JTree(epsilon=20, guarantee="published"), "Algorithm 6 in Lyu, Su, Li", 1),
}


@pytest.mark.parametrize("name", STRICT)
def test_strict_fits_read_through_the_curator_only_and_pay_for_all(name, spy, frame):
    fitted = STRICT[name].clone().fit(frame, schema=schema_of(SIZES))
    assert spy.readers, "the spy saw the fit"
    assert spy.outside == []
    assert spy.unpaid == []
    assert fitted.ledger_.unaccounted == []
    assert fitted.ledger_.epsilon == fitted.ledger_.claimed
    assert fitted.ledger_.check() == []
    spy.readers.clear()
    fitted.sample(50)
    assert spy.readers == [], "sampling is post-processing"


@pytest.mark.parametrize("name", PUBLISHED)
def test_broken_published_readings_are_unaccounted_with_the_paper_s_line(name, spy, frame):
    synthesizer, words, fewest = PUBLISHED[name]
    fitted = synthesizer.clone().fit(frame, schema=schema_of(SIZES))
    assert spy.outside == []
    assert spy.unpaid == []
    assert len(fitted.ledger_.unaccounted) >= fewest
    assert all(words in e.source and "line" in e.source for e in fitted.ledger_.unaccounted)


@pytest.mark.parametrize("score", ["I", "R", "F"])
def test_learners_read_through_the_curator_only(score, spy):
    sizes = (2, 2, 2)
    for degree in (MaxParents(1), MaxParents(2), MaxCells(Q(8))):
        noise = ExactNoise(1)
        curator = Curator(records_of([r[:2] + [r[3]] for r in CODES], sizes), Ledger(Q(2)), noise)
        greedy(curator, degree, Q(1), score)
        ordered(curator, (2, 1, 0), degree, Q(1), score)
        assert curator.ledger.epsilon == 2
    assert spy.readers
    assert spy.outside == []
    assert spy.unpaid == []


class Burglar(Synthesizer):
    """A recipe that takes raw counts past the door, in one of five ways."""

    def __init__(self, way="table"):
        super().__init__()
        self.way = way

    def _run(self, curator, plan, schema):
        records = curator._records
        stolen = {
            "table": lambda: records.table((0,)),
            "codes": lambda: records.codes[0],
            "counter": lambda: next(records.counter.tables([((), (0,))])),
            "lattice": lambda: records.lattice.entropies(np.array([[0]])),
            "marginal": lambda: counts.marginal(records.codes, SIZES, (0,)),
        }
        self.stolen_ = stolen[self.way]()
        return super()._run(curator, plan, schema)


@pytest.mark.parametrize("way", ["table", "codes", "counter", "lattice", "marginal"])
def test_twin_a_recipe_that_reads_past_the_door_is_seen(way, spy, frame):
    Burglar(way).fit(frame, schema=schema_of(SIZES))
    assert ("test_one_door.py", "<lambda>") in spy.outside


def test_twin_an_answer_that_is_not_paid_for_is_seen(monkeypatch):
    """A method added to the curator's own file that hands out counts and writes no line."""
    space: dict = {}
    code = "def gift(self, columns):\n    return self._records.table(tuple(columns))"
    exec(compile(code, inspect.getfile(Curator), "exec"), space)
    monkeypatch.setattr(Curator, "gift", space["gift"], raising=False)
    spy = Spy(monkeypatch)
    Curator(records_of(CODES, SIZES), Ledger(Q(1)), ExactNoise(1)).gift((0,))
    assert spy.outside == []
    assert spy.unpaid == ["gift"]


# --- the door itself


def test_strict_has_no_way_to_peek():
    curator = Curator(records_of(CODES, SIZES), Ledger(Q(1)), ExactNoise(1))
    assert not hasattr(curator, "peek")
    with pytest.raises(PrivacyError, match="outside a mechanism"):  # nor if the raw one is forced
        RawCurator(records_of(CODES, SIZES), Ledger(Q(1)), ExactNoise(1)).peek("look", "x", (0,))


@pytest.mark.parametrize("guarantee", ["strict", "published"])
def test_a_source_without_noise_can_t_serve_a_private_run(guarantee):
    with pytest.raises(PrivacyError, match="no noise"):
        Curator(records_of(CODES, SIZES), Ledger(Q(1), guarantee), NoNoise())


def test_a_strict_fit_with_an_inferred_schema_is_refused_before_anything_is_read(spy, frame):
    inferred = pdsynth.Schema.infer(frame)
    with pytest.raises(PrivacyError, match="inferred from the data"):
        PrivBayes(k=1).fit(frame, schema=inferred)
    with pytest.raises(PrivacyError):
        PrivBayes(k=1).fit(
            Records(np.array(CODES, dtype=np.uint8), schema_of(SIZES, source="data"))
        )
    assert spy.readers == []
    PrivBayes(k=1).fit(frame, schema=inferred.declare_public())
