"""From README alone: the thesis' figure 3 with one's own r and θ; nothing committed changes."""

import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest

import pdsynth as pds

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["--set", "epsilons=1", "--set", "degrees=1", "--jobs", "1"]


def fingerprint(folder):
    return {p: sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.slow
def test_the_command_of_the_readme_draws_ones_own_figure_and_changes_nothing(tmp_path, chromium):
    copy = tmp_path / "copy"
    for part in ("figures/make.py", "figures/hpprivbayes", "pdsynth", "notebooks/pictures"):
        there = copy / part
        there.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile)(ROOT / part, there)
    before = fingerprint(copy / "figures")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(r"`python3 run.py figures ([^`]+)`", text)[1].split()
    command = ["figures/make.py", *command]
    ran = subprocess.run(
        [sys.executable, "-B", *command, *SMALL], cwd=copy, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    mine = copy / "mine" / "hpprivbayes"
    trials = pd.read_csv(mine / "fig3_trials.csv", dtype=str)
    assert set(trials["r"].dropna()) == {"1/5"} and set(trials["theta"].dropna()) == {"0.05"}
    assert set(trials["repeat"]) == {"0", "1"}
    drawn = (mine / "fig3.svg").read_text("utf-8")
    assert re.search(r">[^<]*PrivBayes[^<]*</t", drawn), "the picture has its legend"
    assert "replicates" in (mine / "README.md").read_text("utf-8")
    assert fingerprint(copy / "figures") == before
    out = command.index("--out")
    refused = subprocess.run(
        [sys.executable, "-B", *command[:out], *SMALL], cwd=copy, capture_output=True, text=True
    )
    assert refused.returncode == 1 and "20 repeats, and 2 would replace them" in refused.stderr
    assert fingerprint(copy / "figures") == before


@pytest.mark.slow
def test_the_code_of_the_readme_does_the_same():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"`(mine = pds.papers.reproduce\([^`]+)`", text)[1]
    small = code.replace("repeats=2,", "repeats=2, epsilons=0.2, degrees=1, jobs=1,")
    scope = {"pds": pds}
    exec(small, scope)  # our own text
    mine = scope["mine"]
    assert small != code and mine.figure.data and len(mine.table())
    assert set(mine.data["r"]) == {"", "1/5"} and set(mine.data["theta"]) == {"", "0.05"}
