"""The commands, entered as a user enters them: what they read, write, refuse and say."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import click
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth import __main__ as command
from pdsynth.core.model import Model
from pdsynth.files import command_line as commands
from pdsynth.files import release

FILES = "card.html card.md ledger.jsonl measured.csv model.json schema.toml synthetic.csv".split()
ACCOUNT = ["a.jsonl", "a.jsonl.last", "a.jsonl.lock"]
SCHEMA = """
[attributes]
age = "18 to 98 in 4 bins"
smoker = "yes | no"  # Bob smokes, I saw it
ward = {domain = "north | south + missing", na_values = ["?"]}
name = "drop: a name"
"""
ROWS = [
    f"{18 + i % 80},{'yes' if i % 3 else 'no'},{('north', 'south', '?')[i % 3]},P{i}"
    for i in range(400)
]
DATA = "\n".join(["age,smoker,ward,name", *ROWS, ""])


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a file and its reviewed schema."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


@pytest.fixture
def speak(capsys):
    """Status, standard output and error of a command."""

    def run(words):
        capsys.readouterr()
        status = command.main(shlex.split(words))
        return status, *capsys.readouterr()

    return run


def there(folder):
    return sorted(path.name for path in folder.iterdir())


class TestReadme:
    def test_its_commands_lead_to_a_release(self, root, tmp_path, speak, monkeypatch):
        text = (root / "README.md").read_text(encoding="utf-8")
        part = text[text.index("## From a messy file") :]
        lines = re.findall(
            r"^python3 run.py pdsynth (.*?)(?:  #.*)?$", part[: part.index("\n## ")], re.M
        )
        assert [line.split()[0] for line in lines] == ["outline", "plan", "release", "report"]
        monkeypatch.chdir(tmp_path)
        said = {}
        for line in lines:
            status, out, _ = speak(line)
            assert status == 0, line
            said[line.split()[0]] = out
        assert there(tmp_path / "release") == FILES
        assert "6,000 rows × 8 columns at ε = 1" in said["plan"]
        assert "ε = 1 of 1" in said["release"]
        assert pds.Session.open("account.jsonl").remaining == 2
        assert "two-way distance" in (tmp_path / "report.html").read_text(encoding="utf-8")
        draft = next(path for path in there(tmp_path) if path.endswith(".toml"))
        status, _, words = speak(f"release survey.csv {draft} --epsilon 1 --out other")
        assert status == 1 and "is a draft" in words and "occupation" in words


class TestPlan:
    def test_of_the_data_it_knows_the_number_of_records_and_nothing_else(self, here, speak):
        other = [re.sub(r"yes|no\b", "no", row.replace("north", "south")) for row in ROWS]
        (here / "other.csv").write_text("\n".join(["age,smoker,ward,name", *other, ""]))
        words = "plan {}.csv schema.toml --epsilon 1".format
        first, second = speak(words("data")), speak(words("other"))
        assert first == second and first[0] == 0 and "400 rows × 3 columns" in first[1]
        assert speak("outline data.csv")[1] != speak("outline other.csv")[1], "the twin reads all"
        (here / "more.csv").write_text(DATA + ROWS[0] + "\n")
        assert "401 rows" in speak("plan more.csv schema.toml --epsilon 1")[1]

    def test_a_release_of_noise_is_made_with_a_warning(self, here, speak):
        """400 records at ε = 1/100: noise of scale 600 in cells of 100 to 200 records."""
        status, _, words = speak("release data.csv schema.toml --epsilon 0.01 --out noise")
        assert status == 0 and "Warning: 400 rows × 3 columns at ε = 0.01: " in words
        assert "Publish nothing yet: values that are drawn evenly may be nearer" in words
        status, _, words = speak("release data.csv schema.toml --epsilon 1 --out fine")
        assert status == 0 and "Warning" not in words

    def test_with_a_delta_the_warning_is_of_its_noise(self, here, speak):
        """It was of pure ε: that single columns are noise, of a release whose aren't."""
        names = [f"c{j}" for j in range(150)]
        lines = "".join(f'{name} = "0 | 1"\n' for name in names)
        (here / "many.toml").write_text("[attributes]\n" + lines)
        rows = [",".join("01"[(i >> (j % 7)) & 1] for j in range(150)) for i in range(300)]
        (here / "many.csv").write_text("\n".join([",".join(names), *rows, ""]))
        told = "release many.csv many.toml --epsilon 1 --out {}".format
        assert "Warning: 300 rows" in speak(told("pure"))[2]
        status, _, words = speak(told("one") + " --delta 1e-9 --set rounds=0")
        assert status == 0 and "Warning" not in words

    def test_nothing_is_recommended_where_all_is_noise(self, here, speak):
        said = speak("plan data.csv schema.toml --epsilon 0.01")[1]
        assert "Nearest, not recommended: Independent(" in said and "\nRecommended" not in said
        schema = pds.Schema.read(here / "schema.toml")
        page = pds.plan(schema, 400, 0.01)._repr_html_()
        assert "<p>Nearest, not recommended: <code>" in page and "<p>Recommended" not in page

    def test_the_way_back_names_the_epsilon_of_a_distance(self, here, speak):
        said = speak("plan data.csv schema.toml --distance 0.2")[1]
        epsilon = re.search(r"Recommended: \w+\(epsilon=([\d.]+)", said)[1]
        assert f"ε = {epsilon} is the least" in said
        status, out, words = speak("plan data.csv schema.toml --distance 1e-7")
        assert (status, out) == (1, "") and "no ε up to 10" in words

    def test_no_records_are_parsed(self, here, speak, monkeypatch):
        def never(*_, **__):
            raise AssertionError("a record was read")

        monkeypatch.setattr(commands, "read_csv", never)
        monkeypatch.setattr(pd, "read_csv", never)
        assert speak("plan data.csv schema.toml --epsilon 1/2")[0] == 0

    def test_it_recommends_what_release_then_fits(self, here, speak):
        said = speak("plan data.csv schema.toml --epsilon 1")[1]
        speak("release data.csv schema.toml --epsilon 1 --out out")
        name = re.search(r"Recommended: (\w+)\(", said)[1]
        assert json.loads((here / "out" / "model.json").read_text())["algorithm"] == name

    def test_a_draft_is_planned_and_called_a_draft(self, here, speak):
        speak("outline data.csv --out draft.toml")
        status, _, words = speak("plan data.csv draft.toml --epsilon 1")
        assert status == 0 and "is a draft" in words

    def test_a_column_that_isn_t_there(self, here, speak):
        (here / "schema.toml").write_text(SCHEMA.replace("smoker", "drinker"))
        status, _, words = speak("plan data.csv schema.toml --epsilon 1")
        assert status == 1 and "missing column(s): ['drinker']" in words


class TestRelease:
    def test_the_folder_holds_all_and_its_card_says_how_to_read_it(self, here, speak, monkeypatch):
        status, said, words = speak(
            "release data.csv schema.toml --epsilon 1 --out out --title Ward"
        )
        assert status == 0 and "ε = 1 of 1" in said and not words
        assert there(here) == ["data.csv", "out", "schema.toml"]
        assert there(here / "out") == FILES
        card = (here / "out" / "card.md").read_text(encoding="utf-8")
        assert card.startswith("# Release card: Ward\n")
        monkeypatch.chdir(here / "out")
        made = {}
        exec(re.search(r"```python\n(.*?)```", card, re.S)[1], made)  # our own text
        assert made["model"].check() == [] and made["model"].private
        assert made["table"].shape == (400, 3) and len(made["more"]) == 100_000
        assert not made["schema"].problems(made["table"])
        ledger = [json.loads(line) for line in open("ledger.jsonl", encoding="utf-8")]
        assert ledger[0]["claimed"] == "1" and len(ledger) > 1

    def test_the_owner_s_comments_stay_with_the_owner(self, here, speak):
        speak("release data.csv schema.toml --epsilon 1 --out out")
        texts = [path.read_text(encoding="utf-8") for path in (here / "out").iterdir()]
        assert not any("Bob" in text for text in texts)
        assert not any("P17" in text for text in texts), "nor is a left-out cell there"

    def test_parquet_rows_method_and_its_parameters(self, here, speak):
        words = "--out out --format parquet --rows 77 --method HPPrivBayes --set k=1"
        status, *_ = speak(
            f"release data.csv schema.toml --epsilon 1/3 {words} --set sensitive=ward"
        )
        table = pd.read_parquet(here / "out" / "synthetic.parquet")
        model = Model.from_json(here / "out" / "model.json")
        assert status == 0 and len(table) == 77
        assert model.ledger.epsilon == Fraction(1, 3) and model.algorithm == "HPPrivBayes"
        assert (model.parameters["k"], model.parameters["sensitive"]) == ("1", "ward")

    def test_all_records_of_a_person(self, here, speak):
        speak("release data.csv schema.toml --epsilon 1 --records-per-person 3 --out out")
        model = Model.from_json(here / "out" / "model.json")
        assert model.ledger.records_per_person == 3 and model.ledger.epsilon == 1
        assert "at most 3 records" in (here / "out" / "card.md").read_text(encoding="utf-8")

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ("--set guarantee=published", "a release is strict"),
            ("--set guarantee=none", "a release is strict"),
            ("--set random_state=1", "can't be drawn again"),
            ("--set noise=common", "can't be drawn again"),
            ("--set nonsense=1", "no parameter 'nonsense'"),
            ("--method HPPrivBayes --set sensitive=income", "no attribute 'income'"),
            ("--out schema.toml", "exists"),
            ("--out nowhere/out", "isn't there"),
            ("--session-epsilon 1/2 --session a.jsonl", "can't pay for"),
            ("--skip 3 --header", "none of the declared columns"),
            ("--rows 2000000000", "of at most 10,000,000"),
            ("--session slip/a --session-epsilon 2", "folder of the account a isn't there"),
            ("--session data.csv --session-epsilon 2", "data.csv"),
            ("--set guarantee=[1]", "guarantee = [1]"),
            ("--set relation=add --method Independent", "relation must be one of"),
        ],
    )
    def test_what_is_refused_leaves_nothing_behind(self, here, speak, words, said):
        status, out, err = speak(f"release data.csv schema.toml --epsilon 1 --out out {words}")
        assert (status, out) == (1, "") and err.startswith("refused: ") and said in err
        assert there(here) == ["data.csv", "schema.toml"]

    def test_records_that_don_t_fit_are_counted_not_shown(self, here, speak):
        (here / "data.csv").write_text(DATA.replace("no,", "Zebra,", 7).replace("18,", "7,", 2))
        account = "--session a --session-epsilon 1"
        status, _, words = speak(f"release data.csv schema.toml --epsilon 1 --out out {account}")
        assert status == 1 and "smoker" in words and "age" in words and "Zebra" not in words
        assert there(here) == ["data.csv", "schema.toml"]

    @pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
    def test_a_failure_on_the_last_file_leaves_no_folder_and_the_charge(
        self, here, speak, monkeypatch, error
    ):
        def fail(*_, **__):
            raise error

        made = release.make_card  # once on trial, and again for the release
        cards = iter([made, fail])
        monkeypatch.setattr(release, "make_card", lambda *a, **k: next(cards)(*a, **k))
        words = "--out out --session a.jsonl --session-epsilon 2"
        status, _, err = speak(f"release data.csv schema.toml --epsilon 1 {words}")
        assert status == (1 if isinstance(error, OSError) else 130) and err
        said = "card.html couldn't be written (disk full): correct that, or name another place. "
        lost = f"{said}The fit is lost; a.jsonl stays charged"
        assert lost in err or not isinstance(error, OSError)
        assert there(here) == [*ACCOUNT, "data.csv", "schema.toml"]
        assert pds.Session.open("a.jsonl").spent == 1, "noise was drawn"

    def test_an_account_adds_up_and_ends(self, here, speak):
        base = "release data.csv schema.toml --session a.jsonl"
        assert speak(f"{base} --epsilon 1/2 --out one")[0] == 2, "a new account needs its ε"
        assert speak(f"{base} --epsilon 1/2 --out one --session-epsilon 1")[0] == 0
        assert speak(f"{base} --epsilon 1/4 --out two")[0] == 0
        card = (here / "two" / "card.md").read_text(encoding="utf-8")
        assert "Spent, this release included: 3/4; left: 1/4." in card
        status, _, words = speak(f"{base} --epsilon 1/2 --out three")
        assert status == 1 and "overdraft" in words and "three" not in there(here)
        assert pds.Session.open("a.jsonl").spent == Fraction(3, 4)

    def test_the_command_of_lesson_19_opens_the_account_and_is_taken_again(self, here, speak):
        root = Path(__file__).resolve().parents[2]
        lesson = root / "notebooks" / "src" / "19_your_own_data.py"
        (words,) = re.findall("`release … ([^`]+)`", lesson.read_text(encoding="utf-8"))
        assert speak(f"release data.csv schema.toml {words}")[0] == 0
        again = words.replace("--out release", "--out again")
        assert speak(f"release data.csv schema.toml {again}")[0] == 0
        assert pds.Session.open("account.jsonl").spent == 2

    def test_without_pyarrow_parquet_is_refused_before_the_fit(self, here, speak, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setattr(commands, "read_csv", None)
        status, _, words = speak(
            "release data.csv schema.toml --epsilon 1 --out o --format parquet"
        )
        assert status == 1 and "needs pyarrow" in words

    def test_it_needs_no_stderr(self, here, speak, monkeypatch):
        """A service may close it, and pythonw has none."""
        monkeypatch.setattr(sys, "stderr", None)
        assert command.main("release data.csv schema.toml --epsilon 1 --out out".split()) == 0
        assert there(here / "out") == FILES

    def test_distances_stand_on_the_card_only_if_asked_for(self, here, speak):
        speak("release data.csv schema.toml --epsilon 1 --out plain")
        speak("release data.csv schema.toml --epsilon 1 --out raw --with-report")
        for name in ("card.md", "card.html"):
            paths = here / "plain" / name, here / "raw" / name
            plain, raw = (path.read_text(encoding="utf-8") for path in paths)
            assert "distance" not in plain and "NOT covered by ε" not in plain
            assert "two-way distance" in raw and "NOT covered by ε" in raw


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--delta 0", "δ must be a positive finite number, got '0'"),
        ("--delta x", "δ must be a finite number, got 'x'"),
        ("--session-epsilon x --session a", "'--session-epsilon': ε must be a finite number"),
        ("--no-header", ": write columns = […] into the schema file"),
    ],
)
def test_a_mistaken_word_is_named_as_the_option_is(here, speak, words, said):
    status, _, err = speak(f"release data.csv schema.toml --epsilon 1 --out out {words}")
    assert status and said in err and there(here) == ["data.csv", "schema.toml"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("age = 'drop'\nsmoker = 'drop'", "schema.toml keeps 0 of its columns; at least 2"),
        ("age = '18 to 98 in 4 bins'\nsmoker = 'drop'", "keeps 1 of its columns; at least 2"),
        ("age = '0 to 9'\nage = 'drop'", "A name stands twice: rename or delete one"),
    ],
)
def test_a_schema_without_two_columns_is_refused_in_a_sentence(here, speak, lines, said):
    (here / "schema.toml").write_text(f"[attributes]\n{lines}")
    status, _, err = speak(
        "release data.csv schema.toml --epsilon 1 --method Independent --out out"
    )
    assert status == 1 and said in err and there(here) == ["data.csv", "schema.toml"]


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("data.csv/out", "the folder above out isn't there or can't be written to"),
        ("nowhere/out", "the folder above out isn't there or can't be written to"),
        ("ü" * 200, "couldn't be written (File name too long)"),
    ],
)
def test_a_folder_that_can_t_be_is_refused_in_a_sentence(here, speak, out, said):
    status, _, err = speak(f"release data.csv schema.toml --epsilon 1 --out {out}")
    assert status == 1 and said in err and "Errno" not in err


class TestReport:
    def test_its_page_stands_outside_the_folder_that_may_be_published(self, here, speak):
        speak("release data.csv schema.toml --epsilon 1 --out out")
        status, _, err = speak("report data.csv out --out out/page.html")
        assert status == 1 and "name a file outside" in err and there(here / "out") == FILES
        status, _, err = speak("report data.csv out --out page.html")
        assert status == 0 and err.startswith("page.html reads the real records exactly")

    def test_a_folder_s_own_epsilon_is_not_contradicted(self, here, speak):
        speak("release data.csv schema.toml --epsilon 1 --out out")
        status, said, err = speak("report data.csv out --epsilon 2")
        assert (status, said) == (2, "") and "leave out --epsilon" in err

    def test_levels_of_persons_are_no_column_of_the_records(self, here, speak):
        schema = pds.Schema.read("schema.toml")
        frame = pds.datasets.read_csv("data.csv", schema)
        own = pd.Series(pd.Categorical([0.5, 1.0] * 200))
        made = pds.baselines.Independent(1, relation="add_remove")
        model = made.fit(frame, schema, person_epsilon=own).model_
        pds.datasets.write_release(model, here / "out")
        status, said, err = speak("report data.csv out")
        assert status == 0 and "Each person has an ε of their own" in " ".join(said.split()), err

    def test_a_refusal_says_which_table_doesn_t_fit(self, here, speak):
        lines = DATA.splitlines()
        for name, text, which in (
            ("short.csv", "\n".join(line.split(",", 1)[1] for line in lines), "short.csv: missing"),
            (
                "old.csv",
                "\n".join([lines[0], "999,no,north,P1", ""]),
                "the synthetic table: attrib",
            ),
        ):
            (here / name).write_text(text)
            status, _, err = speak(f"report data.csv {name} schema.toml")
            assert status and which in err
        (here / "old.csv").rename(here / "real.csv")
        assert "the real table: attribute 'age'" in speak("report real.csv data.csv schema.toml")[2]

    def test_of_a_folder_and_of_a_table_with_its_schema(self, here, speak):
        speak("release data.csv schema.toml --epsilon 1 --out out")
        status, said, _ = speak("report data.csv out --target smoker")
        assert status == 0 and "NOT PRIVATE" in said and "ε = 1, simulated" in said
        status, said, _ = speak("report data.csv out/synthetic.csv schema.toml")
        assert status == 0 and "simulated" not in said, "a table doesn't say its ε"

    def test_as_a_page_that_is_never_overwritten(self, here, speak):
        speak("release data.csv schema.toml --epsilon 1 --out out")
        assert speak("report data.csv out --out page.html")[:2] == (0, "")
        assert "pdsynth-report" in (here / "page.html").read_text(encoding="utf-8")
        assert speak("report data.csv out --out page.html")[0] == 1

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems' names are Unicode")
    def test_a_page_says_a_name_that_is_not_utf_8(self, here, speak):
        speak("release data.csv schema.toml --epsilon 1 --out out")
        (here / "data.csv").rename(here / "caf\udce9.csv")
        assert speak("report caf\udce9.csv out --out page.html")[0] == 0
        assert r"beside caf\udce9.csv" in (here / "page.html").read_text(encoding="utf-8")

    def test_a_table_without_a_schema_is_a_mistaken_command(self, here, speak):
        status, _, words = speak("report data.csv data.csv")
        assert status == 2 and "needs its SCHEMA" in words

    @pytest.mark.parametrize("gone", ["model.json", "synthetic.csv", "card.md"])
    def test_a_folder_that_is_no_release(self, here, speak, gone):
        speak("release data.csv schema.toml --epsilon 1 --out out")
        (here / "out" / gone).unlink()
        status, _, err = speak("report data.csv out")
        needed = gone in ("model.json", "synthetic.csv")
        assert status == needed and ("no model.json beside synthetic.csv" in err) == needed


class TestNothingForNothing:
    """T27: a run is refused and the account is as before, or a whole release is there."""

    PAID = "--session a.jsonl --session-epsilon 9"
    ADVERSE = (
        "--rows 10000001",
        "--rows 2000000000",
        "--title '\udcff'",
        "--title 'a\nb'",
        f"--title {'x' * 300}",
        "--format parquet --rows 3",
        "--out .",
        "--out a.jsonl",
        "--out a.jsonl.lock",
        "--out dangling",
        f"--out {'x' * 250}",
        "--out caf\udce9",
        "--set sensitive=\udcff",
        "--set nonsense=1",
        "--set relation=add_remove",
        "--set relation=add_remove --method Independent --title t",
        "--set epsilon=2",
        "--method HPPrivBayes --set sensitive=ward --set k=1",
        "--method HPPrivBayes --set sensitive=ward --set k=9",
        "--records-per-person 1000000000000",
        "--with-report --rows 20",
        f"--epsilon 0.{'123456789' * 11}",
        f"--epsilon 1/{'9' * 60} --rows 5",
        f"--method PrivBayes --set share_structure=0.{'123456789' * 11}",
    )
    DECLARED = (
        "",
        'gone = "drop: ? why"',
        'more = "drop: ? why"',
        'more = {values = ["", "a"]}',
        'more = {values = [" a", "a"]}',
        'more = {values = [1, "a"]}',
        'more = {values = ["=1", "a"]}',
        'more = {values = ["a\\u0000", "a"]}',
        '"mo\\u0085re" = "a | b"',
    )

    def run(self, here, speak, words, declared=""):
        """Status, and whether a whole release is there; the account agrees with it."""
        (here / "schema.toml").write_text(SCHEMA + declared + "\n", encoding="utf-8")
        name = "mo\x85re" if "mo\\u" in declared else "more"
        rows = "\n".join([f"age,smoker,ward,name,{name}", *(f"{row},a" for row in ROWS), ""])
        (here / "data.csv").write_text(rows, encoding="utf-8")
        if not (here / "dangling").is_symlink():
            (here / "dangling").symlink_to("nowhere")
        before, out = {*there(here)}, "" if "--out" in words else "--out out"
        spent = pds.Session.open("a.jsonl").spent if "a.jsonl" in before else 0
        status, _, err = speak(
            f"release data.csv schema.toml --epsilon 1 {self.PAID} {out} {words}"
        )
        new = {*there(here)} - before
        now = pds.Session.open("a.jsonl").spent if "a.jsonl" in there(here) else 0
        assert "Traceback" not in err
        if status:
            assert err and "interrupted" not in err
            assert not new and now == spent, (words, err)
            return status, False
        (folder,) = new - {*ACCOUNT}
        model = Model.from_json(here / folder / "model.json")
        whole = {*release.FILES} - ({release.MEASURED} if not model.measured else set())
        assert whole < {*there(here / folder)} and now > spent and model.private
        return status, True

    @pytest.mark.parametrize("words", ADVERSE)
    def test_words(self, here, speak, words):
        self.run(here, speak, words)

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    @pytest.mark.parametrize("declared", DECLARED)
    def test_schemas(self, here, speak, declared, kind):
        self.run(here, speak, f"--format {kind}", declared)

    @pytest.mark.slow
    @pytest.mark.parametrize("method", list(commands.METHODS))
    @pytest.mark.parametrize("words", ["", "--set sensitive=ward", "--set relation=add_remove"])
    def test_methods(self, here, speak, method, words):
        self.run(here, speak, f"--method {method} {words}")

    def test_one_after_the_other_with_an_account_that_is_there(self, here, speak):
        for words in self.ADVERSE[:4]:
            assert self.run(here, speak, words) == (1, False)
        assert self.run(here, speak, "--rows 5") == (0, True)
        for words in self.ADVERSE[:4]:
            assert self.run(here, speak, f"{words} --out other") == (1, False)

    @pytest.mark.parametrize(
        ("words", "declared"),
        [("--title '\udcff'", ""), ("--format parquet", 'more = {values = [1, "a"]}')],
    )
    def test_twin_without_the_rehearsal_nothing_is_paid_for(
        self, here, speak, monkeypatch, words, declared
    ):
        assert self.run(here, speak, words, declared) == (1, False)
        monkeypatch.setattr(commands, "rehearse", lambda *_, **__: None)
        monkeypatch.setattr(commands, "check_title", str)
        with pytest.raises((AssertionError, UnicodeEncodeError)):
            self.run(here, speak, words, declared)
        assert pds.Session.open("a.jsonl").spent == 1 and "out" not in there(here)

    def test_twin_without_the_rehearsal_a_long_epsilon_makes_a_model_that_nobody_reads(
        self, here, speak, monkeypatch
    ):
        words = f"--epsilon 0.{'123456789' * 11} --method ConsistentBayes"
        assert self.run(here, speak, words) == (1, False)
        monkeypatch.setattr(commands, "rehearse", lambda *_, **__: None)
        with pytest.raises(pds.SchemaError, match="not a readable model"):
            self.run(here, speak, words)

    @pytest.mark.parametrize("error", [ValueError("a cell: 17"), pds.SchemaError("too few rows")])
    def test_a_report_that_fails_takes_no_release_away(self, here, speak, monkeypatch, error):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr(commands, "make_report", fail)
        words = "release data.csv schema.toml --epsilon 1 --out out --with-report"
        status, said, err = speak(words)
        assert status == 0 and "card.html" in said and there(here / "out") == FILES
        assert "the release is whole, but its card has no comparison" in err and "17" not in err

    def test_an_interrupt_while_comparing_leaves_the_release(self, here, speak, monkeypatch):
        def stop(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(commands, "make_report", stop)
        words = "release data.csv schema.toml --epsilon 1 --out out --with-report"
        assert speak(words)[0] == 130 and there(here / "out") == FILES


@pytest.fixture
def edge(here):
    """Two numbers of records, one apart, for which plan names different methods at ε = 1/20."""
    schema, (low, high) = pds.Schema.read(here / "schema.toml"), (20, 400)

    def named(n):
        return pds.plan(schema, n, 0.05, relation="add_remove").method

    assert named(low) != named(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if named(middle) == named(low) else (low, middle)
    return low, high


class TestSecretNumber:
    """T26: where records are added or removed, nothing is decided or printed by their number."""

    HIDDEN = "--set relation=add_remove --set noise=exact"

    def decided(self, here, speak, monkeypatch, n, words):
        """All that is chosen, charged and said of n records before the first noise is drawn."""

        def stop(*_):
            raise KeyboardInterrupt

        for file in ACCOUNT:
            (here / file).unlink(missing_ok=True)
        (here / "data.csv").write_text("\n".join(["age,smoker,ward,name", *ROWS[:n], ""]))
        account = "--session a.jsonl --session-epsilon 9"
        with monkeypatch.context() as patch:
            patch.setattr("pdsynth.core.noise.ExactNoise._words", stop)
            base = "release data.csv schema.toml --epsilon 1 --out out"
            said = speak(f"{base} {self.HIDDEN} {words} {account}")
        charged = [c[:3] for c in pds.Session.open("a.jsonl").charges] if said[0] == 130 else []
        return said, charged

    @pytest.mark.parametrize(
        "words", ["--expected-records 100", "--expected-records 100000", "--method Independent", ""]
    )
    def test_two_files_that_differ_by_one_record(self, here, speak, monkeypatch, edge, words):
        seen = [
            self.decided(here, speak, monkeypatch, n, words) for n in (0, 1, 2, *edge, 399, 400)
        ]
        assert all(one == seen[0] for one in seen)
        assert seen[0][0][0] == (130 if words else 2)

    def test_twin_a_plan_from_the_exact_number_tells_them_apart(
        self, here, speak, monkeypatch, edge
    ):
        choose = commands.choose

        def exact(method, schema, _, epsilon, parameters):
            n = len(pd.read_csv("data.csv"))
            return choose(method, schema, n, epsilon / 20, parameters)

        monkeypatch.setattr(commands, "choose", exact)
        one, two = (self.decided(here, speak, monkeypatch, n, "") for n in edge)
        assert one != two and one[0][0] == two[0][0] == 130

    def test_the_refusal_says_what_to_do(self, here, speak):
        words = f"release data.csv schema.toml --epsilon 1 --out out {self.HIDDEN}"
        status, _, err = speak(words)
        assert status == 2 and "--method NAME, or --expected-records N" in err
        status, said, _ = speak(f"{words} --expected-records 100 --records-per-person 2")
        assert status == 0 and there(here / "out") == FILES

    def test_plan_takes_the_guess_instead(self, here, speak):
        words = "plan data.csv schema.toml --epsilon 1 --expected-records 77"
        first = speak(words)
        (here / "data.csv").write_text(DATA + ROWS[0] + "\n")
        assert first == speak(words) and "77 rows × 3 columns" in first[1]

    @pytest.mark.parametrize(
        ("method", "says"), [("ConsistentBayes", True), ("HPPrivBayes", True), ("PrivBayes", False)]
    )
    def test_the_card_names_the_groups_that_a_method_uses(self, here, speak, method, says):
        """They stood there only where plan had chosen the method."""
        (here / "schema.toml").write_text('groups = {age = "A"}\n' + SCHEMA)
        words = f"release data.csv schema.toml --epsilon 1 --out out --method {method}"
        assert speak(words)[0] == 0
        card = (here / "out" / "card.html").read_text(encoding="utf-8")
        assert ("less ε for group A of the schema: age" in card) == says
        assert ("no use of the groups that the schema declares" in card) == (not says)

    @pytest.mark.parametrize(
        ("groups", "r", "said"),
        [
            ("age", 3, "more ε for group A of the schema: age"),
            ("age", 1, "as much ε as others for group A of the schema: age"),
            ("age", 0.5, "less ε for group A of the schema: age"),
            ("age sex pay", 0.5, "all attributes are in group A of the schema, so none has less ε"),
        ],
    )
    def test_the_card_says_which_way_the_groups_go(self, here, speak, groups, r, said):
        """It said "less ε" whatever r was, and where all were to have less, so that none had."""
        names = pds.Schema.read(here / "schema.toml").names
        a = names if " " in groups else [groups]
        line = ", ".join(f'{name} = "A"' for name in a)
        (here / "schema.toml").write_text(f"groups = {{{line}}}\n" + SCHEMA)
        words = "release data.csv schema.toml --epsilon 1 --out out --method ConsistentBayes"
        assert speak(f"{words} --set r={r}")[0] == 0
        card = (here / "out" / "card.html").read_text(encoding="utf-8")
        assert said in card and card.count("group A") == 1

    def test_plan_says_that_its_method_makes_no_use_of_the_groups(self, here, speak):
        """PrivBayes was recommended without a word: the promise to one column was dropped."""
        words = "plan data.csv schema.toml --epsilon 1"
        plain = speak(words)[1]
        (here / "schema.toml").write_text('groups = {age = "A"}\n' + SCHEMA)
        found = speak(words)[1]
        used = found.split("Recommended: ")[-1].startswith("ConsistentBayes")
        assert "groups" not in plain
        assert ("makes no use: ConsistentBayes, expected to come to" in found) != used

    def test_an_account_says_why_it_counts_twice(self, here, speak):
        """'the account has ε = 1 of 1 left, and can't pay for 2' stood alone, for --epsilon 1."""
        words = "release data.csv schema.toml --epsilon 1 --relation add_remove --out"
        words += " out --method Independent --session a.jsonl --session-epsilon"
        status, _, err = speak(f"{words} 1")
        assert status == 1 and "can't pay for 2; nothing was drawn; an account counts its ε" in err
        assert speak(f"{words} 3")[0] == 0
        card = (here / "out" / "card.md").read_text(encoding="utf-8")
        assert "included: 2; left: 1; an account counts its ε twice, since another record" in card

    def test_release_takes_the_relation_as_plan_does(self, here, speak):
        """--relation was no option of release, which said: did you mean --epsilon, --session?"""
        words = "release data.csv schema.toml --epsilon 1 --out out --relation add_remove"
        status, _, err = speak(words)
        assert status == 2 and "--method NAME, or --expected-records N" in err
        status, _, err = speak(f"{words} --set relation=replace_one --method Independent")
        assert status == 2 and "say it once" in err and not (here / "out").exists()
        assert speak(f"{words} --expected-records 100")[0] == 0
        card = (here / "out" / "card.md").read_text(encoding="utf-8")
        assert "(add or remove one record)" in card

    def test_no_record_is_no_refusal(self, here, speak):
        """Where membership is protected, whether there is a record must not be told either."""
        (here / "data.csv").write_text("age,smoker,ward,name\n")
        plan = "plan data.csv schema.toml --epsilon 1"
        assert speak(f"{plan} --relation add_remove --expected-records 77")[0] == 0
        release = "release data.csv schema.toml --epsilon 1 --out out"
        for words in (plan, release):
            status, _, err = speak(words)
            assert status == 1 and "the table has no rows" in err
        status, _, _ = speak(f"{release} {self.HIDDEN} --method Independent")
        assert status == 0 and there(here / "out") == FILES
        (here / "data.csv").write_text("age,smoker,name\n")
        status, _, err = speak(f"{release}2 {self.HIDDEN} --method Independent")
        assert status == 1 and "missing column(s): ['ward']" in err

    def test_plan_foretells_what_release_then_takes(self, here, speak):
        words = "plan data.csv schema.toml --epsilon 1 --relation add_remove"
        status, _, err = speak(words)
        assert status == 2 and "say --expected-records N, a guess" in err
        status, said, _ = speak(f"{words} --expected-records 77")
        assert status == 0 and "77 must be a public guess" in said and "PrivBayes" not in said
        (named,) = (line for line in said.splitlines() if "ecommended: " in line)
        release = f"release data.csv schema.toml --epsilon 1 --out out {self.HIDDEN}"
        assert speak(f"{release} --expected-records 77")[0] == 0
        card = (here / "out" / "card.html").read_text(encoding="utf-8")
        assert "relation='add_remove'" in named and named.split(": ")[1].split("(")[0] in card


class TestWords:
    @pytest.mark.parametrize("name", ["", *sorted(commands.commands.commands)])
    def test_help(self, speak, name):
        status, said, _ = speak(f"{name} --help")
        assert status == 0 and "Usage: python -m pdsynth" in said
        assert max(map(len, said.splitlines())) <= 82

    @pytest.mark.parametrize(
        "words",
        [
            "nonsense",
            "plan",
            "plan data.csv schema.toml",
            "plan data.csv schema.toml --epsilon 1 --distance 0.1",
            "plan data.csv schema.toml --distance near",
            "plan data.csv schema.toml --epsilon 0",
            "plan data.csv schema.toml --epsilon many",
            "plan gone.csv schema.toml --epsilon 1",
            "release data.csv schema.toml --epsilon 1 --out o --set k",
            "release data.csv schema.toml --epsilon 1 --out o --method Magic",
            "release data.csv schema.toml --epsilon 1 --out o --rows 0",
            "release data.csv schema.toml --epsilon 1 --out o --session-epsilon 1",
            "release data.csv schema.toml --epsilon 1 --out o --set epsilon=9",
            "release data.csv schema.toml --epsilon 1 --out o --set records_per_person=10",
            "release data.csv schema.toml --epsilon 1 --out o --set k=1 --set k=2",
            "release data.csv schema.toml --epsilon 1 --out o --set relation=add_remove",
            "release data.csv schema.toml --epsilon 1 --out o --expected-records 0",
            "release data.csv schema.toml --epsilon 1 --out ''",
            "release data.csv schema.toml --epsilon 1 --out a\0b",
            "release data.csv schema.toml --epsilon 1 --out o --session a\0b",
            "release data.csv schema.toml --epsilon 1 --out o.last --session o --session-epsilon 1",
            "report data.csv a\0b",
            "plan a\0b schema.toml --epsilon 1",
        ],
    )
    def test_mistaken_words_end_with_2_and_say_why(self, here, speak, words):
        status, out, err = speak(words)
        assert (status, out) == (2, "") and "Error: " in err and "Traceback" not in err
        assert there(here) == ["data.csv", "schema.toml"]

    def test_what_the_door_finds_out_is_told_beside_the_result(self, here, speak):
        (here / "data.csv").write_text(DATA.replace(",", ";"))
        status, out, err = speak("outline data.csv")
        assert (
            status == 0 and out.startswith("# A first draft") and "note: the file was read" in err
        )

    def test_the_program_itself(self, here):
        words = [
            sys.executable,
            "-m",
            "pdsynth",
            "plan",
            "data.csv",
            "schema.toml",
            "--epsilon",
            "x",
        ]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(words, cwd=here, capture_output=True, text=True, env=environment)
        assert done.returncode == 2 and "ε" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("content", [None, "", "[]", '{"epsilon": 3}', '{"epsilon": "1"}\n', "x\n"])
def test_an_account_that_is_none_is_not_opened(tmp_path, content):
    path = tmp_path / "a.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(pds.BudgetError, match="a.jsonl"):
        pds.Session.open(path)
    pds.Session("1/3", tmp_path / "b.jsonl").reserve("1/4", "a step")
    assert pds.Session.open(tmp_path / "b.jsonl").remaining == Fraction(1, 12)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
def test_a_pipe_is_refused_before_it_is_read(tmp_path):
    """Nothing writes into this one, so whoever opens it waits for ever."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(click.BadParameter, match="a pipe, which is read once: save it first"):
        commands.FILE.convert(str(tmp_path / "pipe"), None, None)


PYTHON = re.compile(r"\b[a-z_]+=(?!=)|Session\(|pds\.")  # what no command has


class TestWordsOfACommand:
    """Refusals name options of that command; they named arguments of Python, as names=[…]."""

    FILES = {
        "bare.csv": b"1,x\n2,y\n3,x\n",
        "ragged.csv": b"a;b;c\n1;2\n",
        "one.csv": b"a\n1\n",
        "title.csv": b"Title\na,b\n1,2\n3,4\n",
        "zero.csv": b"a\0,b\n1,2\n",
        "marked.csv": "\ufeffa,b\n1,x\n".encode("utf-16-le"),
        "latin.csv": "a,größe\n1,ü\n".encode("cp1252"),
        "good.csv": b"a,b\n1,x\n2,y\n",
        "named.csv": b"year,amount\n1,5\n2,6\n3,7\n",
    }

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ("outline bare.csv", 'say --names "…"; if it has one, say --header'),
            ("plan bare.csv s.toml --epsilon 1", "write columns = […], the names of its 2 columns"),
            ("plan bare.csv s.toml --epsilon 1 --no-header", ": write columns = […] into the"),
            ("release bare.csv s.toml --epsilon 1 --header --out o", "Then write columns = [...]"),
            ("outline ragged.csv", "or say --delimiter"),
            (
                "plan ragged.csv s.toml --epsilon 1",
                'write delimiter = ";" below [file], or say --d',
            ),
            ("outline one.csv", "say --delimiter"),
            ("report title.csv title.csv s.toml", "say --skip 1"),
            ("outline zero.csv", "say --encoding"),
            ("plan marked.csv s.toml --epsilon 1", "or say --encoding utf-16"),
            ("plan latin.csv s.toml --epsilon 1 --encoding utf-16", "say --encoding cp1252, or"),
            ("outline latin.csv --out draft.toml", "note: the file was read as text in cp1252"),
            ('outline good.csv --names "a b"', "leave out --names"),
            ('outline named.csv --names "c d"', "leave out --names, or say --no-header"),
            ('outline good.csv --names "c d" --header', "leave out one of --names and --header"),
            (
                "release good.csv s.toml --epsilon 1 --out o --session a --session-epsilon 2 "
                "--delta 1e-9",
                "name a new account, with --session-delta, or leave --delta out",
            ),
            (
                "release good.csv s.toml --epsilon 1 --out o --session good.csv",
                "name a new file, wi",
            ),
        ],
    )
    def test_refusals_and_notes(self, here, speak, words, said):
        for name, content in self.FILES.items():
            (here / name).write_bytes(content)
        (here / "s.toml").write_text('[attributes]\na = "0 to 10 in 5 bins"\nb = "x | y"\n')
        _, _, err = speak(words)
        assert said in err and not PYTHON.search(err), err

    def test_reports(self, here, speak):
        speak("release data.csv schema.toml --epsilon 1 --out out")
        for words in ("out", "out/synthetic.csv schema.toml --target smoker --sensitive ward"):
            status, said, _ = speak(f"report data.csv {words}")
            assert status == 0 and not PYTHON.search(said), said
        assert "say --target" in " ".join(speak("report data.csv out")[1].split())
        speak("report data.csv out --out page.html")
        page = (here / "page.html").read_text(encoding="utf-8")
        assert "pds." not in page and "say --target" in page


def test_a_file_or_pipe_whose_encoding_has_no_greek_letters(here, monkeypatch):
    """As Windows gives it to what is redirected; a draft is in UTF-8, so that it is read back."""
    (here / "data.csv").write_text(DATA.replace("ward", "Łódź"), encoding="utf-8")
    (here / "schema.toml").write_text(SCHEMA.replace("ward", '"Łódź"'), encoding="utf-8")
    said = []
    for words in ("plan data.csv schema.toml --epsilon 1", "outline data.csv"):
        with monkeypatch.context() as patch:
            out = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
            patch.setattr(sys, "stdout", out)
            assert command.main(words.split()) == 0
        out.flush()
        said.append(out.buffer.getvalue())
    assert "columns at \\u03b5 = 1: " in said[0].decode("cp1252")
    (here / "draft.toml").write_bytes(said[1])
    assert "Łódź" in pds.Schema.read(here / "draft.toml").names


class Full(io.StringIO):
    """A standard output on a full disk."""

    def write(self, _):
        raise OSError(28, "No space left on device")


def test_a_release_on_a_full_output_says_what_was_published(here, monkeypatch, capsys):
    """It said "refused: [Errno 28] No space left on device", after ε was spent."""
    monkeypatch.setattr(sys, "stdout", Full())
    status = command.main("release data.csv schema.toml --epsilon 1 --out out".split())
    assert status == 0 and (here / "out" / "card.html").exists()
    said = capsys.readouterr().err
    assert "ε = 1 of 1" in said and "Read out" in said and "refused" not in said


def test_a_warning_is_a_note_and_takes_nobody_s_epsilon_also_under_w_error(here, speak):
    words = "release data.csv schema.toml --epsilon 0.01 --method HMPrivBayes --out out"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        status, _, err = speak(f"{words} --session a.jsonl --session-epsilon 1")
    assert status == 0 and "note: noise is" in err and (here / "out").is_dir()
