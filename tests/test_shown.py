"""Objects show themselves: a synthesizer, a network, a schema, a plan, audits, trials."""

import re

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.audit.case import WIDTH, Result
from pdsynth.core.errors import plural
from pdsynth.evaluation.compare import MOST, Trials

A = pds.Attribute
SCHEMA = pds.Schema((
    A.categorical("sex", ["f", "m"]),
    A.categorical("a_name_of_23_characters", list("abcdefgh"), missing=True),
))  # fmt: skip
FRAME = pd.DataFrame({"sex": ["f", "m"] * 40, "a_name_of_23_characters": list("abcd") * 20})


def test_a_fitted_synthesizer_shows_epsilon_verdict_and_network():
    fitted = pds.PrivBayes("1/2", k=1).fit(FRAME, schema=SCHEMA)
    html = fitted._repr_html_()
    assert "<th style='text-align:left'>ε</th><td style='text-align:left'>1/2</td>" in html
    assert fitted.ledger_.verdict() in html and "<svg" in html
    assert "<svg" not in pds.PrivBayes()._repr_html_(), "not fitted: nothing to draw"


def test_boxes_of_a_network_are_filled_and_a_cut_name_has_a_sign_and_its_whole():
    html = pds.Network((("sex", ()), ("a_name_of_23_characters", ("sex",))))._repr_html_()
    assert html.count("fill='#e3eef7'") == 2 and "fill='none'" not in html
    assert ">a_name_of_23_cha…<" in html and "<title>a_name_of_23_characters</title>" in html
    assert html.index("<line") < html.index("<rect"), "boxes lie on the edges"


def test_a_schema_says_what_it_leaves_out_of_a_long_domain():
    html = SCHEMA._repr_html_()
    assert "2 attributes" in html and "18 possible rows" in html
    assert "… and 3 more" in html and "may be missing" in html


def test_dollars_in_names_are_no_formulas_in_jupyter():
    """JupyterLab sets what stands between two of them, but not in what has this class."""
    schema = pds.Schema((A.categorical("rent ($)", ["$a", "b$"]), A.categorical("sex", ["f", "m"])))
    frame = pd.DataFrame({"rent ($)": ["$a", "b$"] * 40, "sex": ["f", "m", "m", "f"] * 20})
    fitted = pds.PrivBayes(1.0, k=1).fit(frame, schema)
    report = pds.evaluate.report(frame, fitted.sample(), schema, repeats=1)
    problems = schema.problems(frame.replace("$a", "$c"))
    account = pds.Session(1)
    account.reserve("1/2", "$5 for $b")
    planned = pds.plan(schema, len(frame), 1.0)
    own = (account, planned, trials(), audit(0.1))
    for shown in (schema, fitted, fitted.ledger_, fitted.network_, report, problems, *own):
        top = re.match(r"<[^>]*>", shown._repr_html_().strip())
        assert "mathjax_ignore" in top[0], shown


def test_a_plan_shows_its_candidates_as_bars_the_recommended_one_in_bold():
    plan = pds.plan(SCHEMA, 1000, 1.0)
    html = plan._repr_html_().split("<details>")[0]
    assert html.count("background:#e69f00") == len(plan.methods)
    assert re.search(rf"font-weight:600'><td[^>]*>{re.escape(plan.method)}<", html)


def audit(bound, claimed=1.0):
    return Result("x", claimed, 1.0, bound, 9.0, "violated", "violated", "m", 9, 1.0, "w")


def places(result):
    return [float(x) for x in re.findall(r"cx='([\d.]+)'", result._repr_html_())]


def test_bars_of_several_audits_share_one_scale():
    (one, small), (same, large) = places(audit(0.1)), places(audit(10.0))
    assert one == same, "the same claim stands at the same place beside any bound"
    assert small < one < large and one - small == pytest.approx(large - one)
    assert places(audit(np.inf))[1] == places(audit(1e9))[1] <= WIDTH
    assert places(audit(0.0))[1] >= 0


def trials(methods=2):
    rows = [{"method": f"<m{i}>", "epsilon": e, "measure": "avd2", "value": i + e, "key": "k"}
            for i in range(methods) for e in (0.5, 1.0) for _ in range(3)]  # fmt: skip
    return Trials(rows)


def test_trials_show_means_and_stay_a_plain_table_in_all_else():
    found = trials()
    html = found._repr_html_()
    assert "&lt;m1&gt;" in html and "<m1>" not in html
    assert "1.5 ± 0" in html and "All trials (12 of 12)" in html
    assert type(found[found["epsilon"] == 1]) is pd.DataFrame
    assert found.summary()["count"].tolist() == [3] * 4


def test_a_long_grid_says_what_it_doesn_t_show():
    assert f"and {2 * 30 - MOST} more:" in trials(30)._repr_html_()


def test_a_number_and_its_noun_agree():
    assert [plural(n, "line") for n in (0, 1, 1200)] == ["0 lines", "1 line", "1,200 lines"]
    assert plural(2, "access", "accesses") == "2 accesses"
