#!/usr/bin/env python3
"""Everything a fresh machine needs, in two commands (Windows: py for python3):

    python3 run.py lab      open the notebook course in JupyterLab
    python3 run.py test     run the tests, all but those marked slow (--all: every one)
    python3 run.py lint     check style, borders and types, as the continuous integration does
    python3 run.py site     build the website in build/site/html
    python3 run.py voila    show the lessons as pages without code, with a running kernel
    python3 run.py pdsynth  a table of your own: pdsynth outline data.csv, plan, release, report
    python3 run.py figures  a paper's figure with your settings: figures hpprivbayes --figure 3 ...

The first use makes .venv beside this file and installs there the exact versions of constraints.txt
(lab, voila: of constraints-lab.txt), each file checked against its hash; nothing else on the
machine changes. Further words go to the program:
`python3 run.py test -k schema`, `python3 run.py lab --no-browser`.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):
    sys.exit("pdsynth needs Python 3.11 or newer; this is " + sys.version.split()[0])

import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
# What must be installed for a task, and what it then runs, one command after the other.
LEVELS = {"lab": "constraints-lab.txt", "test": "constraints.txt"}
INPUTS = ("pyproject.toml", *LEVELS.values(), "run.py")
PYTEST = ["-m", "pytest", "-n", "auto", "--dist", "worksteal"]
# The contracts of pyproject.toml: who may import whom. The program has no module to start with -m.
LINT_IMPORTS = "from importlinter import cli; cli.lint_imports_command()"
CONTRACTS = ["-c", LINT_IMPORTS, "--no-cache", "--no-logo"]
TASKS = {
    "lab": ("lab", [["-m", "jupyterlab", "notebooks/00_start_here.ipynb"]]),
    "test": ("test", [[*PYTEST, "-m", "not slow"]]),
    "test --all": ("test", [PYTEST]),
    "site": ("test", [["website/build.py"]]),
    "voila": ("lab", [["-m", "voila", "notebooks"]]),
    "pdsynth": ("lab", [["-m", "pdsynth"]]),
    "figures": ("test", [[str(ROOT / "figures" / "make.py")]]),
    "lint": (
        "test",
        [
            ["-m", "ruff", "check"],
            ["-m", "ruff", "format", "--check"],
            CONTRACTS,
            ["-m", "mypy"],
        ],
    ),
}
# Tasks whose words name files of the folder that they are started in.
HERE = ("pdsynth", "figures")
# Without this the "Jupyter news" question covers a corner of every lesson.
NEWS = "@jupyterlab/apputils-extension:notification"
OVERRIDES = {NEWS: {"fetchNews": "false", "checkForUpdates": False}}


def fingerprint() -> str:
    """What the installation depends on: the inputs' bytes, this Python, and the project's place."""
    parts = [(ROOT / name).read_bytes() for name in INPUTS]
    parts += [sys.version.encode(), str(ROOT).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def stamp(level: str) -> Path:
    """The file that remembers the fingerprint of a finished installation."""
    return VENV / f"pdsynth-{level}.stamp"


def installed(level: str, want: str) -> bool:
    """Whether this level, or the larger one that contains it, is already there."""
    marks = [stamp(name) for name in (level, "test")]
    return PYTHON.exists() and any(mark.exists() and mark.read_text() == want for mark in marks)


def call(*command: object) -> None:
    """Run one step of the installation; stop with its own exit code if it fails."""
    code = subprocess.run([str(part) for part in command], cwd=ROOT).returncode
    if code:
        words = " ".join(map(str, command))
        sys.exit(f"set-up stopped: {words} ended with exit code {code}")


def usable() -> bool:
    """Whether .venv exists and was made by this version of Python."""
    config = VENV / "pyvenv.cfg"
    if not (PYTHON.exists() and config.exists()):
        return False
    lines = config.read_text("utf-8", "replace").replace(" ", "").splitlines()
    pairs = dict(line.split("=", 1) for line in lines if "=" in line)
    version = pairs.get("version") or pairs.get("version_info") or ""
    return version.split(".")[:2] == [str(part) for part in sys.version_info[:2]]


def make_venv() -> None:
    """A new .venv with pip, replacing one of another Python."""
    if Path(sys.prefix).resolve() == VENV:
        sys.exit(
            "this Python is the .venv that has to be made anew: "
            "run the command with your system's Python"
        )
    if importlib.util.find_spec("ensurepip") is None:
        number = f"{sys.version_info.major}.{sys.version_info.minor}"
        sys.exit(
            "Python's venv module is incomplete here. On Debian or Ubuntu: "
            f"sudo apt install python3-venv (or python{number}-venv)"
        )
    venv.EnvBuilder(clear=True, with_pip=True).create(VENV)


def install(level: str, want: str) -> None:
    """Bring .venv to the versions of the level's file, with uv where it is on the PATH, or pip.

    First all others' packages, each checked against its hash; then the project itself, built by the
    hatchling that is now there. No installer can check a folder against a hash. Neither compiles:
    Python compiles what it imports, a small part of these packages, and keeps that.
    """
    print("Setting up .venv: about a minute, only the first time and after an update.", flush=True)
    for name in LEVELS:
        stamp(name).unlink(missing_ok=True)
    uv = shutil.which("uv")
    if uv:
        if not usable():
            call(uv, "venv", "--quiet", "--seed", "--clear", "--python", sys.executable, VENV)
        pip = [uv, "pip", "install", "--quiet", "--python", PYTHON]
    else:
        if not usable():
            make_venv()
        pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        pip.append("--no-compile")
    call(*pip, "--no-deps", "--require-hashes", "-r", LEVELS[level])
    call(*pip, "--no-deps", "--no-build-isolation", "-e", ".")
    settings = VENV / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "overrides.json").write_text(json.dumps(OVERRIDES, indent=2))
    stamp(level).write_text(want)


def run(arguments: list[str], folder: Path = ROOT) -> int:
    """Run a program of .venv in this terminal until it ends; Ctrl-C and termination are for it."""
    child = subprocess.Popen([str(PYTHON), *arguments], cwd=folder)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def permission(task: str) -> list[str]:
    """What JupyterLab must be told to start as root, as in most containers (Voilà starts anyway).

    Windows has no geteuid, and no root.
    """
    if task != "lab" or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return []
    print("This runs as root, so JupyterLab is told to allow it: --allow-root.", flush=True)
    return ["--allow-root"]


def main(words: list[str]) -> int:
    """Set up what the task needs, then run it; returns its exit code."""
    if not words or words[0] not in TASKS:
        print(__doc__)
        return 0 if words in (["-h"], ["--help"]) else 2
    task, *further = words
    if task == "test" and "--all" in further:
        task = "test --all"
        further.remove("--all")
    level, commands = TASKS[task]
    want = fingerprint()
    if not installed(level, want):
        try:
            install(level, want)
        except OSError as problem:
            sys.exit(f"set-up stopped: {problem}. {ROOT} must be a folder that you may write.")
    for command in commands:
        program = [*command, *permission(task), *further]
        code = run(program, Path.cwd()) if task in HERE else run(program)
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
