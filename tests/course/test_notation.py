"""One symbol, one meaning: every symbol of a formula and every control of a panel is defined."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

import pdsynth as pds
from pdsynth.course.panels import LESSONS

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
sys.path.insert(0, str(NOTEBOOKS))
import build as lessons  # noqa: E402
import course_map  # noqa: E402

SOURCES = sorted((NOTEBOOKS / "src").glob("*.py"))
GLOSSARY = tomllib.loads((NOTEBOOKS / "glossary.toml").read_text(encoding="utf-8"))
SYMBOLS = {entry["tex"] for entry in GLOSSARY["symbol"]}
GREEK = {f"\\{name}": letter for name, letter in zip(
    "alpha beta gamma delta Delta varepsilon eta theta lambda rho sigma tau phi Phi Pi ell".split(),
    "α β γ δ Δ ε η θ λ ρ σ τ φ Φ Π ℓ".split(), strict=True)}  # fmt: skip
STRUCTURE = set(
    """
    frac tfrac sqrt sum prod max min log ln exp tanh sum big Big bigl bigr left right le ge lt gt
    in notin mid subseteq setminus cup times cdot cdots dots ldots quad qquad lVert rVert lvert
    rvert lfloor rfloor lceil rceil propto neq to pm bar tilde underbrace infty circ perp div
    text mathrm mathcal operatorname colon , ; ! : { } | #
""".split()
)


def names(source):
    return source.stem


def formulas(text):
    """What stands between dollars."""
    return [a or b for a, b in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", text, re.DOTALL)]


def symbols(formula):
    """The letters of a formula, with a calligraphic one apart; words in \\text aren't letters."""
    formula = re.sub(r"\\(text|mathrm|operatorname)\{[^}]*\}", " ", formula)
    found = {rf"\mathcal {x}" for x in re.findall(r"\\mathcal ?\{?([A-Z])\}?", formula)}
    formula = re.sub(r"\\mathcal ?\{?[A-Z]\}?", " ", formula)
    commands = re.findall(r"\\([a-zA-Z]+)", formula)
    found |= {f"\\{c}" for c in commands if c not in STRUCTURE}
    return found | set(re.findall(r"[A-Za-z]", re.sub(r"\\[a-zA-Z]+", " ", formula)))


def prose(source):
    text = source.read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^# ?(.*)$", text, re.MULTILINE))


def test_symbols_are_found_in_a_formula():
    formula = r"\Pr[\mathcal M(D)\in E]\le e^{\varepsilon_1}\,\text{word}"
    assert symbols(formula) == {r"\Pr", r"\mathcal M", "D", "E", "e", r"\varepsilon"}


def test_no_symbol_has_two_meanings_and_every_entry_says_something():
    written = [entry["tex"] for entry in GLOSSARY["symbol"]]
    assert len(written) == len(set(written))
    assert all(len(entry["says"]) > 3 for entry in GLOSSARY["symbol"])


def test_terms_stand_in_both_languages():
    assert len(GLOSSARY["term"]) >= 40
    for term in GLOSSARY["term"]:
        assert term["en"] and term["says"]
        assert re.search(r"[\u4e00-\u9fff]", term["zh"]), term["en"]


@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_every_symbol_of_a_formula_is_in_the_notation_table(source):
    unknown = {s: f for f in formulas(prose(source)) for s in symbols(f) if s not in SYMBOLS}
    assert not unknown


def test_twin_an_undefined_symbol_is_found():
    assert {s for f in formulas("so $\\xi = n$") for s in symbols(f)} - SYMBOLS == {"\\xi"}


def defined(symbol, text):
    """Whether a control's name is in the table, or explained in the lesson in bold or code."""
    letters = {GREEK.get(s, s) for s in SYMBOLS} | set(GLOSSARY["controls"])
    base = symbol.rstrip("₀₁₂₃")
    return base in letters or re.search(rf"(\*\*|`){re.escape(symbol)}(\*\*|`)", text) is not None


@pytest.mark.parametrize("panel", sorted(LESSONS))
def test_every_control_is_defined(panel):
    number = LESSONS[panel][:2]
    (source,) = [s for s in SOURCES if s.stem.startswith(number)]
    view = importlib.import_module(f"pdsynth.course.panels.{panel}").view
    controls = view.controls(view.table())
    text = prose(source)
    unknown = [c.symbol for c in controls.values() if not defined(c.symbol, text)]
    assert not unknown


@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_recomputed_and_attacked_are_two_words(source):
    """A ledger recomputes; what samples a mechanism is an audit."""
    assert "audited" not in prose(source).replace("Tables were audited", "")


NEW = 2  # symbols between two things to do


def stretches(cells):
    """Symbols of the formulas between two things to do; folded text isn't read."""
    found, now = [], set()
    for kind, text, _ in course_map.unfolded(cells):
        if kind == "markdown":
            now |= {symbol for formula in formulas(text) for symbol in symbols(formula)}
        elif re.search(r"^guess\(|panel\(\)|\.check\(", text, re.MULTILINE):
            found, now = [*found, now], set()
    return [*found, now]


def newest(found, known):
    """How many symbols of each stretch are new, ``known`` being those of earlier lessons."""
    counts = []
    for stretch in found:
        counts.append(len(stretch - known))
        known = known | stretch
    return counts


def before(number, needs):
    """The lessons that a lesson builds on, and theirs."""
    return set().union(*({need} | before(need, needs) for need in needs[number]["needs"]))


@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_few_symbols_are_new_between_two_things_to_do(source):
    number, needs = source.stem[:2], course_map.load()["lessons"]
    found = {s.stem[:2]: stretches(lessons.cells(s.read_text(encoding="utf-8"))) for s in SOURCES}
    known = set().union(*(part for one in before(number, needs) for part in found[one]))
    assert max(newest(found[number], known)) <= NEW


def test_new_symbols_are_counted_once_and_folded_ones_not_at_all():
    cells = [("markdown", "# T\n$a+b$", ""), ("code", "guess('?', f)", ""),
             ("markdown", "## M\n$z$", "more"), ("markdown", "## N\n$a+b+c$ and $x$", ""),
             ("code", "q.check(1)", "")]  # fmt: skip
    assert stretches(cells) == [{"a", "b"}, {"a", "b", "c", "x"}, set()]
    assert newest(stretches(cells), {"x"}) == [2, 1, 0]


def test_the_mechanism_that_strict_alone_uses_is_explained():
    """Ledgers of lessons 18 and 19 name it."""
    adult = pds.datasets.load_adult(coding="thesis")
    used = {}
    for guarantee in ("strict", "published"):
        fitted = pds.PrivBayes(1, k=1, guarantee=guarantee).fit(adult.frame, adult.schema)
        used[guarantee] = {entry.mechanism for entry in fitted.ledger_.entries}
    (new,) = used["strict"] - used["published"]
    lesson = (NOTEBOOKS / "src" / "04_privbayes.py").read_text(encoding="utf-8")
    glossary = (NOTEBOOKS / "glossary.toml").read_text(encoding="utf-8")
    assert f"(`{new}` in the ledger)" in lesson and f"`{new}` in the ledger" in glossary


def test_lessons_link_to_the_glossary():
    for source in SOURCES:
        notebook = (NOTEBOOKS / f"{source.stem}.ipynb").read_text(encoding="utf-8")
        assert "(glossary.ipynb)" in notebook
        solved = (NOTEBOOKS / "solutions" / f"{source.stem}.ipynb").read_text(encoding="utf-8")
        assert "(../glossary.ipynb)" in solved
