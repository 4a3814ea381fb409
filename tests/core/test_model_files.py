"""T18, T20, T21: seeded noise is not private and its seed stays at home; a file whose ledger was
forged, and a file that is a trap, are refused."""

import dataclasses
import json
import random
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from contract_cases import ALGORITHMS, binary, make, mixed

import pdsynth as pds
from pdsynth import Ledger, Model, Network, PrivacyError, SchemaError
from pdsynth.audit.detectors import RecordedNoise
from pdsynth.audit.tape import Recorder, Tape
from pdsynth.core import model as model_module
from pdsynth.core import rules
from pdsynth.core.noise import ExactNoise, Noise
from pdsynth.core.rules import COUNTING
from pdsynth.files import documents as coverage
from pdsynth.files import documents as lines
from pdsynth.files import documents as room

SEED = 987_654_321


class Zero(Noise):
    """A stranger's random source, which draws nothing."""

    def _stream(self, label):
        return self

    def discrete_laplace(self, scale, shape):
        return np.zeros(shape, dtype=np.int64)


def fit(name="PrivBayes", **params):
    frame, schema = mixed()
    return make(name, schema, k=1, epsilon=2, **params).fit(frame, schema)


def document(model):
    return json.loads(json.dumps(model.to_dict()))


def load(data, tmp_path):
    (tmp_path / "m.json").write_text(json.dumps(data), encoding="utf-8")
    return Model.from_json(tmp_path / "m.json")


def words(fitted):
    """Everything in which a fit says what it is."""
    return {
        "verdict": fitted.ledger_.verdict(),
        "model": repr(fitted.model_),
        "synthesizer": repr(fitted),
        "ledger": str(fitted.ledger_),
        "html": fitted.ledger_._repr_html_(),
        "file": json.dumps(fitted.model_.to_dict()),
    }


class TestReproducible:
    """T18."""

    @pytest.mark.parametrize("name", ALGORITHMS)
    @pytest.mark.parametrize("params", [{"random_state": SEED}, {"noise": "common"}])
    def test_it_is_not_private_wherever_it_shows_itself(self, name, params, tmp_path):
        fitted = fit(name, **params)
        assert not fitted.model_.private
        assert [w for w, text in words(fitted).items() if "NOT PRIVATE" not in text] == []
        assert document(fitted.model_)["private"] is False
        assert "#d55e00;font-weight:600'>NOT" not in fitted.ledger_._repr_html_(), (
            "panels say it without alarm"
        )
        with pytest.raises(PrivacyError, match="allow_reproducible=True"):
            fitted.model_.to_json(tmp_path / "m.json")
        assert not (tmp_path / "m.json").exists()
        fitted.model_.to_json(tmp_path / "m.json", allow_reproducible=True)
        assert str(SEED) not in (tmp_path / "m.json").read_text(encoding="utf-8")
        assert not Model.from_json(tmp_path / "m.json").private

    def test_a_model_equals_the_one_that_its_file_gives(self, tmp_path):
        """Comparing raised "the truth value of an array … is ambiguous"."""
        for name in ("PrivBayes", "HPPrivBayes", "ConsistentBayes", "HMPrivBayes"):
            model, other = fit(name).model_, fit(name).model_
            model.to_json(tmp_path / "m.json")
            assert model == Model.from_json(tmp_path / "m.json")
            assert model != other and model not in [other, name]

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ({"random_state": SEED}, {"random_state": None}),
            ({"noise": "common"}, {"noise": "exact"}),
            ({"guarantee": "none"}, {"guarantee": "strict"}),
        ],
    )
    def test_it_stays_so_whatever_is_set_afterwards(self, before, after):
        fitted = fit(**before).set_params(**after)
        assert [w for w, text in words(fitted).items() if "NOT PRIVATE" not in text] == []
        assert "NOT PRIVATE" not in repr(fitted.clone()), "an unfitted one is what it says"
        given = fit()
        assert "NOT PRIVATE" in repr(given.fit(*mixed(), noise=ExactNoise(SEED)))
        assert "NOT PRIVATE" not in repr(given.fit(*mixed()))

    @pytest.mark.parametrize("source", [RecordedNoise(), Tape(Recorder(ExactNoise())), Zero()])
    def test_a_source_that_does_not_say_it_is_fresh_is_not(self, source):
        """The audits' own sources, and a stranger's: one gives no noise at all."""
        frame, schema = binary(3)
        fitted = pds.baselines.Independent(2).fit(frame, schema, noise=source)
        assert not fitted.model_.private
        assert [w for w, text in words(fitted).items() if "NOT PRIVATE" not in text] == []
        session = pds.Session(2)
        with pytest.raises(PrivacyError, match="no account covers"):
            pds.baselines.Independent(2).fit(frame, schema, noise=source, session=session)
        assert session.charges == ()

    def test_twin_a_source_that_says_so_is_believed(self, monkeypatch):
        """What the adversary can't know is the owner's word; the default was to believe it."""
        monkeypatch.setattr(Zero, "reproducible", False)
        frame, schema = binary(3)
        assert pds.baselines.Independent(2).fit(frame, schema, noise=Zero()).model_.private

    @pytest.mark.parametrize("name", ALGORITHMS)
    def test_fresh_noise_is(self, name, tmp_path):
        fitted = fit(name)
        assert fitted.model_.private
        assert fitted.model_.check() == []
        assert [w for w, text in words(fitted).items() if "NOT PRIVATE" in text] == []
        fitted.model_.to_json(tmp_path / "m.json")
        assert Model.from_json(tmp_path / "m.json").private

    def test_a_seeded_source_that_is_handed_in_counts_as_well(self):
        frame, schema = binary()
        fitted = make("PrivBayes", schema, k=1).fit(frame, schema, noise=ExactNoise(3))
        assert not fitted.model_.private

    def test_twin_a_ledger_that_forgets_its_seed_is_seen(self, monkeypatch):
        """H2 planted again: the verdict reads the costs alone, and the parameters keep the seed."""
        monkeypatch.setattr(Ledger, "reproducible", False)
        monkeypatch.setattr(
            Ledger, "check", lambda ledger: ["L8"] if ledger.epsilon > ledger.claimed else []
        )
        fitted = fit(random_state=SEED)
        assert fitted.model_.private
        said = [w for w, text in words(fitted).items() if "NOT PRIVATE" not in text]
        assert {"verdict", "model", "ledger", "html", "file"} <= {*said}
        object.__setattr__(fitted.model_, "parameters", fitted.get_params())
        assert str(SEED) in json.dumps(fitted.model_.to_dict())


def as_private(data):
    """What a forger writes on top."""
    total = sum(
        (Fraction(e["epsilon"]) for e in data["ledger"]["entries"] if e["kind"] == "mechanism"),
        Fraction(0),
    )
    claimed = Fraction(data["ledger"]["claimed"])
    said = f"Pure ε-differential privacy (replace one record): ε = {total} of {claimed}."
    return {**data, "private": True, "verdict": said}


def cut(number):
    """Without one line; all others renumbered, what referred to it is gone."""

    def forge(data):
        entries = data["ledger"]["entries"]
        gone = entries.pop(number)["id"]
        new = {e["id"]: f"s{i:02d}" for i, e in enumerate(entries, 1)}

        def rename(ids):
            return [new.get(i, i) for i in ids if i != gone]

        for e in entries:
            e["id"] = new[e["id"]]
            e["inputs"] = rename(e["inputs"])
            e["scale_depends_on"] = rename(e["scale_depends_on"])
            e["candidates"] = new.get(e["candidates"], "public")
        data["sources"] = [rename(ids) for ids in data["sources"]]

    return forge


def tables_of(data):
    return [e for e in data["ledger"]["entries"] if e["step"].startswith("table(")]


def emptied(data):
    data["ledger"]["entries"] = []


def raw_counts(data):
    """The worst of H6: exact counts, an empty ledger, a claim that nothing was spent of."""
    data["ledger"]["entries"], data["sources"] = [], []
    data["tables"] = [[7] * len(t) for t in data["tables"]]


def change(where, **fields):
    def forge(data):
        for e in where(data):
            e.update(fields)

    return forge


def set_ledger(**fields):
    return lambda data: data["ledger"].update(fields)


def set_source(data):
    data["schema"]["source"] = "data"


def other_source(data):
    selection = next(e["id"] for e in data["ledger"]["entries"] if e["mechanism"] == "exponential")
    data["sources"] = [[selection]] * len(data["sources"])


def swapped_sources(data):
    data["sources"] = [data["sources"][-1]] * len(data["sources"])


def last_line(data):
    return data["ledger"]["entries"][-1:]


def selections(data):
    return [e for e in data["ledger"]["entries"] if e["mechanism"] == "exponential"]


def tiny_noise(lemma):
    """A millionth of the noise for the same ε: a sensitivity that no lemma gives."""

    def forge(data):
        for e in tables_of(data):
            scale = str(Fraction(e["scale"]) / 10**6)
            e.update(lemma=lemma, sensitivity=str(Fraction(2, 10**6)), scale=scale)

    return forge


def disjoint(data):
    """Tables that each take half of what all cost, said to be of parts of the records."""
    entries, tables = data["ledger"]["entries"], tables_of(data)
    total = sum(Fraction(e["epsilon"]) for e in tables)
    none = {"kind": "group", "mechanism": "", "epsilon": "0", "claimed": "0", "inputs": []}
    group = {**entries[-1], **none, "compose": "parallel", "id": f"s{len(entries) + 1:02d}"}
    group |= {"scale": None, "sensitivity": None, "lemma": ""}
    for number, e in enumerate(tables):
        e.update(epsilon=str(total / 2), scale=str(4 / total), parent=group["id"])
        e["record_filter"] = f"records:x in {{{number}}}"
    entries.append(group)


FORGED = {
    "emptied": emptied,
    "noise for a sensitivity that nothing proves": tiny_noise(""),
    "noise for a lemma that nobody has": tiny_noise("lemma:trust_me"),
    "tables of parts of the records": disjoint,
    "a seed": lambda data: data["parameters"].update(random_state="5"),
    "raw counts and an empty ledger": raw_counts,
    "no sources": lambda data: data.update(sources=[]),
    "sources of a selection": other_source,
    "sources of another table": swapped_sources,
    "tables touch one attribute": change(tables_of, attributes=["city"]),
    "tables touch none": change(tables_of, attributes=[]),
    "tables of another record count": change(tables_of, n_records=7),
    "tables of fewer cells": change(tables_of, domain_sizes=[2, 1]),
    "public tables": change(tables_of, kind="public", inputs=[]),
    "tables as post-processing": change(tables_of, kind="post_processing"),
    "a mechanism that isn't one": change(tables_of, mechanism="trusted"),
    "free tables": change(tables_of, epsilon="0"),
    "free selections": change(selections, epsilon="0"),
    "public selections": change(selections, kind="public", inputs=[]),
    "a name for what was left": change(last_line, mechanism="forfeited"),
    "inferred domains": set_source,
    "a larger claim": set_ledger(claimed="9"),
    "a smaller claim": set_ledger(claimed="1"),
    "other attributes": set_ledger(attributes=["a", "b"]),
    "another number of records": lambda data: data.update(n=81),
}


class TestForged:
    """T20: rule L11 ties every released table to lines that charge for it."""

    @pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
    def test_a_forged_file_is_refused(self, forge, tmp_path):
        data = document(fit("PrivBayes").model_)
        load(data, tmp_path)
        forge(data)
        with pytest.raises(SchemaError):
            load(as_private(data), tmp_path)
        with pytest.raises(SchemaError):
            load(data, tmp_path)

    @pytest.mark.parametrize("name", ALGORITHMS)
    def test_every_line_is_missed(self, name, tmp_path):
        data = document(fit(name).model_)
        for number in range(len(data["ledger"]["entries"])):
            forged = json.loads(json.dumps(data))
            cut(number)(forged)
            if data["ledger"]["entries"][number]["epsilon"] == "0" and forged["sources"][0]:
                continue  # a line that costs nothing and that nothing comes from
            with pytest.raises(SchemaError):
                load(as_private(forged), tmp_path)

    @pytest.mark.parametrize("guarantee", ["published", "none"])
    def test_what_is_not_private_can_t_be_relabelled(self, guarantee, tmp_path):
        data = document(fit("HPPrivBayes", guarantee=guarantee).model_)
        load(data, tmp_path)
        for fields in ({"private": True}, {"verdict": "Pure ε-differential privacy: ε = 2 of 2."}):
            with pytest.raises(SchemaError, match="but its ledger says: NOT"):
                load({**data, **fields}, tmp_path)
        data["ledger"]["guarantee"] = "strict"
        with pytest.raises(SchemaError):
            load(as_private(data), tmp_path)
        entries = data["ledger"]["entries"]
        data["ledger"]["entries"] = [e for e in entries if e["kind"] != "unaccounted_access"]
        with pytest.raises(SchemaError):
            load(as_private(data), tmp_path)

    def test_a_model_made_by_hand_proves_nothing(self, tmp_path):
        _, schema = binary(2)
        network = Network((("b0", ()), ("b1", ())))
        bare = Model(schema, network, (np.array([4, 5]),) * 2, Ledger(Fraction(1)), 9)
        assert not bare.private
        assert bare.verdict().startswith("NOT PROVED: L11 table of 'b0'")
        bare.to_json(tmp_path / "m.json")
        with pytest.raises(SchemaError, match="L11"):
            Model.from_json(tmp_path / "m.json")

    def test_what_was_known_before_the_run_is_the_owner_s_word(self, tmp_path):
        data = document(fit("PrivBayes").model_)
        names = data["ledger"]["attributes"]
        assert data["ledger"]["guaranteed_ex_ante"] != names
        data["ledger"]["guaranteed_ex_ante"] = names
        assert load(data, tmp_path).private, "as the known limits say: no file shows it"

    def test_post_processing_of_what_was_paid_is_covered_and_of_nothing_is_not(self, tmp_path):
        data = document(fit("JTree").model_)
        entries = data["ledger"]["entries"]
        measured = [e["id"] for e in entries if e["mechanism"] in COUNTING]
        assert data["sources"] == [measured] * len(data["tables"])
        free = {"kind": "post_processing", "mechanism": "", "epsilon": "0", "claimed": "0"}
        made = {**entries[-1], **free, "id": f"s{len(entries) + 1:02d}", "inputs": measured}
        entries.append(made)
        data["sources"] = [[made["id"]]] * len(data["tables"])
        load(data, tmp_path)
        made["inputs"] = []
        with pytest.raises(SchemaError, match="L11"):
            load(data, tmp_path)

    def test_twin_a_loader_that_trusts_what_is_left_of_a_ledger_is_seen(
        self, monkeypatch, tmp_path
    ):
        """H6 planted again: only the costs that the file still names are looked at."""
        monkeypatch.setattr(room, "_check_file", lambda model, data: None)
        monkeypatch.setattr(model_module, "check_coverage", lambda releases, entries: [])
        loaded = []
        for name, forge in FORGED.items():
            data = document(fit("PrivBayes").model_)
            forge(data)
            loaded += [name] * load(as_private(data), tmp_path).private
        assert {"emptied", "raw counts and an empty ledger", "public tables"} <= {*loaded}


def put(value, *path):
    def plant(data):
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    return plant


def wide(data):
    """Bins and parents whose table would have 2^64 cells."""
    for a in data["schema"]["attributes"][:4]:
        a.update(values=list(map(str, range(2**16))), edges=None, dtype="text", missing=False)
    names = [a["name"] for a in data["schema"]["attributes"]]
    data["network"] = [[n, names[:i]] for i, n in enumerate(names)]


ENTRY = ("ledger", "entries", -1)
HOSTILE = {
    "an exponent": put("1e999999999", "ledger", "claimed"),
    "a small exponent": put("1e9", *ENTRY, "epsilon"),
    "a point": put("0.5", *ENTRY, "epsilon"),
    "a sign": put("-1", *ENTRY, "claimed"),
    "digits": put("7" * 101, *ENTRY, "epsilon"),
    "digits below": put("1/" + "7" * 4000, *ENTRY, "scale"),
    "other digits": put("٣", *ENTRY, "epsilon"),
    "a number": put(1, *ENTRY, "epsilon"),
    "nothing below": put("1/0", *ENTRY, "epsilon"),
    "infinite scale": put("inf", *ENTRY, "scale"),
    "cells of a line": put([2, 10**400], *ENTRY, "domain_sizes"),
    "columns of a line": put(10**30, *ENTRY, "columns"),
    "n": put(10**30, "n"),
    "n as a fraction": put(1.5, "n"),
    "many cells": wide,
    "too few cells": put([1], "tables", 0),
    "too many cells": put([1] * 99_999, "tables", 0),
    "a large cell": put([2**63] * 4, "tables", 0),
    "a cell that isn't whole": put([1.0] * 4, "tables", 0),
    "a sparse table of many weights": put(
        {"keys": [0], "weights": [1] * 999, "scale": 0.0, "seed": 0}, "tables", 0
    ),
    "edges": put([0, 10**400], "schema", "attributes", 0, "edges"),
    "a type": put("int64", "schema", "attributes", 0, "dtype"),
    "a source": put("Public", "schema", "source"),
    "attributes": lambda data: data["schema"].update(
        attributes=data["schema"]["attributes"] * 5_000
    ),
}


class TestHostile:
    """T21: a typed error, and bounds that are checked before anything is built."""

    @pytest.mark.parametrize("plant", HOSTILE.values(), ids=HOSTILE)
    def test_a_trap_is_refused(self, plant, tmp_path):
        data = document(fit("PrivBayes").model_)
        plant(data)
        with pytest.raises(SchemaError):
            load(data, tmp_path)

    def test_a_text_in_the_place_of_a_path_is_not_repeated(self):
        """An OSError would say all of it."""
        for text in (json.dumps(document(fit("Independent").model_)), "no JSON " * 5_000):
            for read, words in ((Model.from_json, "from_dict"), (pds.Schema.read, "to a file")):
                with pytest.raises(SchemaError, match=f"path of a file is wanted.*{words}") as no:
                    read(text)
                assert len(str(no.value)) < 200

    def test_an_exponent_is_refused_by_its_form(self, monkeypatch):
        """No clock: it never becomes a number."""
        monkeypatch.setattr(lines, "Fraction", None)
        for text in ("1e999999999", "1e1", "1.5", "+1", " 1", "1_0", "7" * 101, "1/" + "7" * 101):
            with pytest.raises(ValueError, match="at most 100 digits"):
                lines.read_fraction(text)

    def test_twin_the_reader_of_fractions_builds_what_the_text_says(self):
        """H5 planted again, with an exponent that ends: ten characters, ten thousand digits."""
        assert Fraction("1e9999").numerator.bit_length() > 33_000
        with pytest.raises(ValueError, match="at most 100 digits"):
            lines.read_fraction("1e9999")

    def test_denominators_that_have_nothing_in_common_are_bounded(self):
        primes = [p for p in range(10**6, 10**6 + 9_000) if all(p % q for q in range(2, 1_100))]
        one = document(fit("Independent").model_)["ledger"]["entries"][0]
        data = [{**one, "id": f"s{i:02d}", "epsilon": f"1/{p}"} for i, p in enumerate(primes, 1)]
        assert len(lines.read_entries(data[:100])) == 100
        with pytest.raises(ValueError, match="enormous common denominator"):
            lines.read_entries(data)

    def test_lines_are_counted_before_they_are_read(self, monkeypatch):
        data = document(fit("Independent").model_)["ledger"]["entries"]
        monkeypatch.setattr(lines, "MAX_ENTRIES", len(data) - 1)
        monkeypatch.setattr(lines, "_from_plain", None)
        with pytest.raises(ValueError, match=f"{len(data)} entries, at most {len(data) - 1}"):
            lines.read_entries(data)

    def test_a_file_is_weighed_before_it_is_read(self, monkeypatch, tmp_path):
        model = dataclasses.replace(
            fit("Independent").model_, measured=()
        )  # they are left out first
        model.to_json(tmp_path / "m.json")
        size = (tmp_path / "m.json").stat().st_size
        monkeypatch.setattr(room, "MAX_BYTES", size - 1)
        monkeypatch.setattr(coverage.json, "loads", None)
        with pytest.raises(SchemaError, match=f"more than {size - 1:,} bytes"):
            Model.from_json(tmp_path / "m.json")
        with pytest.raises(SchemaError, match="choose a smaller k"):
            model.to_json(tmp_path / "n.json")

    def test_a_file_that_isn_t_written_whole_leaves_the_one_before(self, monkeypatch, tmp_path):
        """It was emptied first: a full disk, or a process that was killed, left no model at all."""
        model, place, link = fit("Independent").model_, tmp_path / "m.json", tmp_path / "link"
        link.symlink_to(place)
        model.to_json(link)
        assert link.is_symlink() and Model.from_json(place).n == model.n
        place.chmod(0o640)
        own = place.stat().st_mode
        model.to_json(link)
        assert place.stat().st_mode == own
        before = place.read_bytes()
        write = Path.write_bytes

        def half(path, text):
            write(path, text[: len(text) // 2])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", half)
        with pytest.raises(OSError, match="No space"):
            model.to_json(place)
        assert place.read_bytes() == before and {*tmp_path.iterdir()} == {place, link}

    def test_brackets_are_counted_before_anything_is_built(self, tmp_path):
        """A list of two bytes takes 56 in memory: the twin that reads them, fewer, shows it."""
        shares = []
        for lists, most in ((coverage.MAX_NESTED, coverage.MAX_NESTED), (2**16, 2**20)):
            text = b"[" + b"[]," * lists + b"[]]"
            path = tmp_path / f"{lists}.json"
            path.write_bytes(text)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(coverage, "MAX_NESTED", most)
                patch.setattr(room, "MAX_BYTES", len(text))
                tracemalloc.start()
                with pytest.raises(SchemaError, match="lists and objects|not a pdsynth-model"):
                    Model.from_json(path)
                shares.append(tracemalloc.get_traced_memory()[1] / len(text))
                tracemalloc.stop()
        assert shares[0] < 4 < 20 < shares[1]

    def test_a_file_says_no_enormous_table(self, tmp_path):
        """A small file may say n = 10^9: it must be said again before so much is drawn."""
        model = fit("Independent").model_
        large = dataclasses.replace(model, n=10**9)
        for n in (10**9, 10**7 + 1):
            with pytest.raises(SchemaError, match=r"say sample\(n\), or write a file"):
                dataclasses.replace(model, n=n).sample()
        assert len(large.sample(5)) == 5
        large.sample_to(tmp_path / "t.csv", 7)
        drawn = []
        with pytest.MonkeyPatch.context() as patch:  # the twin asks for all of them
            patch.setattr("pdsynth.core.model.MOST_UNSAID", 10**10)
            patch.setattr(Model, "sample_codes", lambda self, n, *_: drawn.append(n) or 1 / 0)
            with pytest.raises(ZeroDivisionError):
                large.sample()
        assert drawn == [10**9]

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no file without an end here")
    def test_a_file_without_an_end_is_read_up_to_the_bound(self, monkeypatch):
        """And its size says nothing: the twin that asks for it reads for ever."""
        monkeypatch.setattr(room, "MAX_BYTES", 10_000)
        assert Path("/dev/zero").stat().st_size == 0
        with pytest.raises(SchemaError, match="more than 10,000 bytes"):
            Model.from_json("/dev/zero")

    def test_no_table_is_built_whose_cells_were_not_counted(self, monkeypatch, tmp_path):
        data = document(fit("PrivBayes").model_)
        wide(data)
        built = []
        monkeypatch.setattr(room.np, "array", lambda *a, **k: built.append(a))
        with pytest.raises(SchemaError):
            load(data, tmp_path)
        assert built == []

    def test_a_key_that_stands_twice_is_refused(self, tmp_path):
        text = json.dumps(document(fit("Independent").model_))
        (tmp_path / "m.json").write_text('{"private": false, ' + text[1:], encoding="utf-8")
        with pytest.raises(SchemaError, match="stands twice"):
            Model.from_json(tmp_path / "m.json")

    def test_names_that_stand_twice_are_found_in_one_pass(self, tmp_path):
        data = document(fit("Independent").model_)
        names = [*map(str, range(60_000)), "1"]
        random.Random(1).shuffle(names)
        data["schema"]["attributes"][0].update(values=names, edges=None, dtype="text")
        with pytest.raises(SchemaError, match="declares values twice: 1"):
            load(data, tmp_path)


@pytest.mark.parametrize(
    ("epsilon", "of", "found"),
    [
        (Fraction(0), None, 1),
        (Fraction(1, 10), None, 0),
        (Fraction(1, 10), "records:sex in {f}", 1),
    ],
)
def test_a_line_that_costs_nothing_or_is_of_some_records_covers_no_table(epsilon, of, found):
    line = lines.Entry(
        "s01",
        "mechanism",
        "table(age)",
        mechanism="discrete_laplace",
        attributes=("age",),
        epsilon=epsilon,
        record_filter=of,
    )
    broken = rules.check_coverage([rules.Release("age", ("age",), 4, ("s01",))], [line])
    assert [problem[:3] for problem in broken] == ["L11"] * found


def test_half_a_character_in_a_file_is_refused(tmp_path):
    """An escape can spell it; whatever shows the model would fail. Whole ones are read."""
    data = document(fit().model_)
    for text, refused in (("\U0001f600", False), ("\ud83d", True)):
        data["ledger"]["entries"][0]["source"] = text
        if refused:
            with pytest.raises(SchemaError, match="surrogates not allowed|UnicodeEncodeError"):
                load(data, tmp_path)
        else:
            assert load(data, tmp_path).ledger.entries[0].source == text


def test_a_file_of_another_version_says_which_reads_it():
    with pytest.raises(SchemaError, match="not a pdsynth-model-2 file: .* reads 'pdsynth-model-1'"):
        Model.from_dict(document(fit().model_) | {"format": "pdsynth-model-1"})
