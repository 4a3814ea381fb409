"""The files that describe the environment agree with each other and with what is installed."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = [("linux", "posix", "x86_64"), ("darwin", "posix", "arm64"), ("win32", "nt", "AMD64")]


@pytest.fixture(scope="module")
def pyproject(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def conda(root):
    return yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pins(root):
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def table(requirements):
    """Canonical name → version range."""
    return {canonicalize_name(r.name): r.specifier for r in map(Requirement, requirements)}


def conda_table(conda):
    named = [
        entry
        for entry in conda["dependencies"]
        if isinstance(entry, str) and not re.match(r"(python|pip)\b", entry)
    ]
    return table(entry.replace(" ", "") for entry in named)


def every_requirement(pyproject):
    project = pyproject["project"]
    extras = [
        requirement
        for name, group in project["optional-dependencies"].items()
        if name != "bench"
        for requirement in group
    ]
    return [*project["dependencies"], *extras, *pyproject["dependency-groups"]["test"]]


def test_environment_yml_and_pyproject_declare_the_same(conda, pyproject):
    assert conda_table(conda) == table(pyproject["project"]["dependencies"])


def test_environment_yml_is_spelt_for_binder_and_installs_the_project(conda):
    assert "python=3.12" in conda["dependencies"]
    assert conda["dependencies"][-1] == {"pip": ["-e ."]}


def test_every_runtime_range_has_an_upper_major_bound(pyproject):
    for name, specifier in table(pyproject["project"]["dependencies"]).items():
        assert any(part.operator == "<" and "." not in part.version for part in specifier), name


def test_installed_versions_satisfy_both_files(conda, pyproject):
    for declared in (conda_table(conda), table(pyproject["project"]["dependencies"])):
        for name, specifier in declared.items():
            there = version(name)
            assert specifier.contains(there, prereleases=True), (name, there, str(specifier))


def test_installed_versions_are_those_of_the_constraints(pins):
    """Exactly those, wherever one is installed; conda users run without constraints."""
    wrong = []
    for pin in pins:
        if pin.marker and not pin.marker.evaluate():
            continue
        try:
            installed = version(pin.name)
        except PackageNotFoundError:  # an extra that isn't installed
            continue
        if not pin.specifier.contains(installed, prereleases=True):
            wrong.append((pin.name, installed, str(pin.specifier)))
    if os.environ.get("CONDA_PREFIX") and wrong:
        pytest.skip("conda chose other versions inside the declared ranges")
    assert not wrong


def test_constraints_hold_no_address_and_only_exact_versions(root, pins):
    text = (root / "constraints.txt").read_text(encoding="utf-8")
    assert not re.search(r"://|@|--(extra-)?index|file:", text.replace("--no-emit-index-url", ""))
    assert all([part.operator for part in pin.specifier] == ["=="] for pin in pins)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_constraints_cover_every_python_and_system_once(python, system, pins, pyproject):
    platform, os_name, machine = system
    place = {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": platform,
        "os_name": os_name,
        "platform_machine": machine,
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    pinned = [
        canonicalize_name(pin.name)
        for pin in pins
        if pin.marker is None or pin.marker.evaluate(place)
    ]
    assert len(pinned) == len(set(pinned))
    for requirement in map(Requirement, every_requirement(pyproject)):
        if requirement.marker is None or requirement.marker.evaluate(place):
            assert canonicalize_name(requirement.name) in pinned


def test_constraints_satisfy_every_declared_range(pins, pyproject):
    for requirement in map(Requirement, every_requirement(pyproject)):
        name, allowed = canonicalize_name(requirement.name), requirement.specifier
        chosen = [
            next(iter(pin.specifier)).version for pin in pins if canonicalize_name(pin.name) == name
        ]
        assert chosen, name
        assert all(allowed.contains(v, prereleases=True) for v in chosen), (name, chosen)


def test_supported_pythons_agree(pyproject):
    assert pyproject["project"]["requires-python"] == ">=3.11"
    named = {f"Programming Language :: Python :: {python}" for python in PYTHONS}
    assert named <= set(pyproject["project"]["classifiers"])
    assert sys.version_info >= (3, 11)


def test_one_version_and_one_licence_everywhere(root, pyproject):
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    project = pyproject["project"]
    assert str(citation["version"]) == project["version"] == version("pdsynth")
    assert citation["license"] == project["license"] == "MIT"
    licence = (root / "LICENSE").read_text(encoding="utf-8")
    assert licence.startswith("MIT License")
    assert "2026 The pdsynth authors" in licence
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(\d[^\]]*)\]", changes, re.MULTILINE)
    assert newest is not None
    assert Version(newest.group(1)) == Version(project["version"])


def test_pre_commit_runs_the_pinned_ruff(root, pins):
    settings = yaml.safe_load((root / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    ruff = next(hook for hook in settings["repos"][0]["hooks"] if hook["id"] == "ruff")
    assert ruff["additional_dependencies"] == [str(pin) for pin in pins if pin.name == "ruff"]


def test_bench_extra_names_the_peers_of_the_benchmarks(root, pyproject):
    named = table(pyproject["project"]["optional-dependencies"]["bench"])
    text = (root / "benchmarks" / "requirements.txt").read_text(encoding="utf-8")
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    listed = table(line for line in lines if line and not line.startswith("-"))
    assert {name: listed.get(name) for name in named} == named


def test_readme_needs_exactly_two_commands(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    commands = {
        line.split("#")[0].strip()
        for block in blocks
        for line in block.splitlines()
        if "run.py" in line
    }
    assert commands == {"python3 run.py lab", "python3 run.py test"}
    assert "pip install" not in text


def test_ci_ends_with_every_test(root):
    lines = (root / ".ci" / "run").read_text(encoding="utf-8").split("\n")
    assert [line for line in lines if line][-1] == "python3 run.py test --all"
    if os.name != "nt":
        assert os.access(root / ".ci" / "run", os.X_OK)


HEAVY = set(
    """
    plotly sklearn scipy ipywidgets anywidget IPython jupyterlab pyarrow numba opendp dask joblib
    distributed
""".split()
)


def test_import_pdsynth_loads_numpy_and_pandas_at_most(root):
    """Heavy packages load where they are used; pyarrow only as far as pandas itself loads it."""
    script = (
        "import pandas, sys, json; before = set(sys.modules); import pdsynth; "
        "print(json.dumps(list(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) & HEAVY == set()
