"""Every malformed input gets a sentence of ours: the table, and a sweep of what isn't in it."""

import math
import subprocess
import sys
import tomllib

import numpy as np
import pandas as pd
import pytest
from input_tools import NAMESPACE, TABLE, fit, frame, schema
from late import late

import pdsynth as pds

OURS = pds.SchemaError, pds.BudgetError, pds.PrivacyError
SENTENCES = tomllib.loads(TABLE.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    """An input that is taken for a path must not litter the checkout."""
    monkeypatch.chdir(tmp_path)


def test_no_input_stands_twice_and_each_sentence_says_something():
    inputs = [text for texts in SENTENCES.values() for text in texts]
    assert len(set(inputs)) == len(inputs) and all(SENTENCES.values())
    assert min(map(len, SENTENCES)) >= 10, "words that say nothing"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("words", SENTENCES, ids=lambda words: words[:60])
def test_a_malformed_input_is_refused_in_these_words(words):
    for text in SENTENCES[words]:
        with pytest.raises(OURS) as refused:
            pytest.fail(f"{text} was accepted: {eval(text, dict(NAMESPACE))!r:.80}")
        assert words in str(refused.value), text
        assert len(str(refused.value)) < 1_500, f"{text}: too long to read"


def test_twin_a_good_input_is_accepted():
    for text in (
        "Attribute.categorical('job', np.array(['a', 'b']))",
        "Attribute.categorical('job', {'a': 1, 'b': 2}.values())",
        "Attribute.numeric('pay', np.float64(0), Fraction(9, 2), bins=np.int64(4))",
        "fit(PrivBayes(epsilon='1/3', k=np.int64(1)))",
        "fit(HPPrivBayes(epsilon=Decimal('0.5'), sensitive='sex', theta='1/10'))",
        "plan(schema, np.int64(100), np.float32(0.5))",
    ):
        assert eval(text, dict(NAMESPACE)) is not None


STRANGE = {
    "None": None,
    "True": True,
    "nan": math.nan,
    "inf": math.inf,
    "-1": -1,
    "1.5": 1.5,
    "1e20": 1e20,
    "5e-324": 5e-324,
    "10**400": 10**400,
    "1j": 1j,
    "a word": "word",
    "bytes": b"1",
    "[]": [],
    "{}": {},
    "set": {"job"},
    "[None]": [None],
    "[[]]": [[]],
    "object": object(),
    "type": int,
    "function": len,
    "np.bool": np.bool_(True),
    "np.nan": np.float64("nan"),
    "array": np.array([1, 2]),
    "scalar array": np.array(2),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "frame": frame,
    "schema": schema,
    "1/3": "1/3",
    "names": ["job", "sex"],
}
SYNTHESIZERS = [
    *(getattr(pds, name) for name in pds.__all__ if name.endswith("Bayes") or name == "PPBA"),
    *(getattr(pds.baselines, name) for name in pds.baselines.__all__),
    pds.PrivABN,
    pds.Synthesizer,
]


FEW = "PrivBayes", "HPPrivBayes", "ConsistentBayes", "Independent"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make", late(SYNTHESIZERS, lambda m: m.__name__ not in FEW), ids=lambda make: make.__name__
)
def test_no_keyword_of_a_synthesizer_ends_in_a_raw_error(make):
    """Every keyword by every strange value, strict and published by turns: fitted and shown, or
    refused by us."""
    usual = {"epsilon": 20, "sensitive": "sex", "generations": 3, "population": 12, "elite": 3}
    keywords = make._parameter_names()
    usual = {name: value for name, value in usual.items() if name in keywords}
    if make is pds.GeneticBayes:
        usual["target"] = "job"
    for i, keyword in enumerate(keywords):
        for j, (name, value) in enumerate(STRANGE.items()):
            guarantee = ("strict", "published")[(i + j) % 2]
            synthesizer = make(**({"guarantee": guarantee} | usual | {keyword: value}))
            try:
                fit(synthesizer).sample(3)
            except OURS as refusal:
                if len(str(refusal)) > 700:
                    pytest.fail(f"{keyword}={name}, {guarantee}: too long to read")
            except Exception as problem:
                pytest.fail(f"{keyword}={name}, {guarantee}: {problem!r}")


@pytest.mark.slow
def test_the_order_of_values_is_the_same_in_every_process():
    """What has an order of its own only inside one process is refused; the rest keeps it."""
    text = (
        "import pdsynth as pds; a = pds.Attribute.categorical('x', {'b': 1, 'a': 2}.keys());"
        "s = pds.Schema((a, pds.Attribute.categorical('y', ('cab'[i] for i in range(3)))));"
        "print(a.values, s.names, s['y'].values)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", text],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
        for path in [":".join(filter(None, sys.path))]
    }
    assert seen == {"('b', 'a') ('x', 'y') ('c', 'a', 'b')\n"}


def test_huge_domains_are_refused_before_anything_is_allocated():
    import tracemalloc

    tracemalloc.start()
    for bins in (10**9, 10**15):
        with pytest.raises(pds.SchemaError, match="from 2 to 65,536"):
            pds.Attribute.numeric("pay", 0, 1, bins=bins)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
