"""The files that describe the environment agree with each other and with what is installed."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, requires, version

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from requirement_tools import flat_extras

LISTS = ("constraints.txt", "constraints-lab.txt")
UNLISTED = {"scikit-learn-intelex", "mbi", "polars"}  # of extras that run.py never installs
PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = [("linux", "posix", "x86_64"), ("darwin", "posix", "arm64"), ("win32", "nt", "AMD64")]


@pytest.fixture(scope="module")
def pyproject(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def conda(root):
    return yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))


def test_pip_installs_the_command_line_as_a_program(pyproject):
    """``pdsynth`` calls what ``python -m pdsynth`` calls."""
    script = EntryPoint("pdsynth", pyproject["project"]["scripts"]["pdsynth"], "console_scripts")
    assert script.load() is import_module("pdsynth.__main__").main


def entries(text):
    """Each package of a list with its hashes: (``numpy==2.4.6 ; …``, [``sha256:…``, …])."""
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", "").splitlines()
    split = [re.split(r"\s+--hash=", line.strip()) for line in lines]
    return [(requirement, hashes) for requirement, *hashes in split]


@pytest.fixture(scope="module")
def lists(root):
    return {name: entries((root / name).read_text(encoding="utf-8")) for name in LISTS}


@pytest.fixture(scope="module")
def pins(lists):
    return [Requirement(requirement) for requirement, _ in lists["constraints.txt"]]


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
        for group in flat_extras(pyproject).values()
        for requirement in group
        if Requirement(requirement).name not in UNLISTED
    ]
    groups = pyproject["dependency-groups"]
    assert {"include-group": "site"} in groups["test"]
    named = [entry for entry in groups["test"] if isinstance(entry, str)]
    build = pyproject["build-system"]["requires"]
    return [*project["dependencies"], *extras, *groups["site"], *named, *build]


def lessons(pyproject):
    """What the course needs: the hard dependencies and its extra."""
    return [*pyproject["project"]["dependencies"], *flat_extras(pyproject)["course"]]


def test_environment_yml_and_pyproject_declare_the_same(conda, pyproject):
    assert conda_table(conda) == table(lessons(pyproject))


def test_environment_yml_is_spelt_for_binder_and_installs_the_project(conda):
    assert "python=3.12" in conda["dependencies"]
    assert conda["dependencies"][-1] == {"pip": ["-e ."]}


def test_every_runtime_range_has_an_upper_major_bound(pyproject):
    extras = [line for lines in flat_extras(pyproject).values() for line in lines]
    for name, specifier in table([*lessons(pyproject), *extras]).items():
        assert any(part.operator == "<" and "." not in part.version for part in specifier), name


def test_installed_versions_satisfy_both_files(conda, pyproject):
    for declared in (conda_table(conda), table(lessons(pyproject))):
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


@pytest.mark.parametrize("name", LISTS)
def test_constraints_hold_no_address_and_only_exact_versions(root, lists, name):
    text = (root / name).read_text(encoding="utf-8")
    assert not re.search(r"://|@|--(extra-)?index|file:", text.replace("--no-emit-index-url", ""))
    pins = [Requirement(requirement) for requirement, _ in lists[name]]
    assert all([part.operator for part in pin.specifier] == ["=="] for pin in pins)


def unhashed(entries):
    """Requirements without a whole SHA-256."""
    return [
        requirement
        for requirement, hashes in entries
        if not hashes or not all(re.fullmatch(r"sha256:[0-9a-f]{64}", h) for h in hashes)
    ]


def test_every_file_that_is_installed_has_its_hash(lists):
    assert {name: unhashed(listed) for name, listed in lists.items()} == {n: [] for n in LISTS}


def test_twin_a_missing_or_short_hash_is_seen():
    whole = "--hash=sha256:" + 64 * "a"
    text = (
        f"a==1 \\\n    {whole} \\\n    {whole}\nb==1\nc==1 ; os_name == 'nt' \\\n    {whole[:-1]}\n"
    )
    assert unhashed(entries(text)) == ["b==1", "c==1 ; os_name == 'nt'"]
    assert [len(hashes) for _, hashes in entries(text)] == [2, 0, 1]


def test_the_lessons_list_is_a_part_of_the_whole_one(lists):
    """The same versions with the same hashes; a marker may be narrower, where less asks for it."""
    whole, part = (
        [(requirement.split(" ;")[0], hashes) for requirement, hashes in listed]
        for listed in lists.values()
    )
    assert 0 < len(part) < len(whole)
    assert [entry for entry in part if entry not in whole] == []


def test_the_source_archive_has_nothing_that_needs_what_it_leaves_out(root, pyproject):
    """Its tests couldn't be collected, and lists of versions serve ``run.py`` alone."""
    held = {
        name.strip("/")
        for name in pyproject["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    }
    assert all((root / name).exists() for name in held)
    assert held - {name for name in held if name.endswith((".md", ".cff"))} == {
        "pdsynth",
        "LICENSE",
    }


def test_the_build_is_pinned_to_the_listed_hatchling(pyproject, lists):
    build = pyproject["build-system"]["requires"]
    assert [re.fullmatch(r"hatchling==[\d.]+", line)[0] for line in build] == build
    for listed in lists.values():
        assert {*build} < {requirement for requirement, _ in listed}


def in_place(python, system):
    """A marker's environment."""
    platform, os_name, machine = system
    return {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": platform,
        "os_name": os_name,
        "platform_machine": machine,
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }


def uncovered(listed, requirements, place):
    """Names that are wanted and not listed, or listed twice, for this Python and system."""
    pins = [Requirement(requirement) for requirement, _ in listed]
    there = Counter(
        canonicalize_name(pin.name)
        for pin in pins
        if pin.marker is None or pin.marker.evaluate(place)
    )
    wanted = {
        canonicalize_name(r.name)
        for r in requirements
        if r.marker is None or r.marker.evaluate(place)
    }
    return {n for n in wanted if there[n] != 1} | {n for n, times in there.items() if times > 1}


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_constraints_cover_every_python_and_system_once(python, system, lists, pyproject):
    place = in_place(python, system)
    for name, wanted in zip(LISTS, (every_requirement, lessons), strict=True):
        needs = map(Requirement, wanted(pyproject))
        assert uncovered(lists[name], needs, place) == set()


def test_lists_are_closed_and_a_gap_is_seen(lists):
    """run.py installs without dependencies: what a listed package needs must be listed, too."""
    place = {**default_environment(), "extra": ""}

    def open_ends(listed):
        needs = []
        for pin in (Requirement(requirement) for requirement, _ in listed):
            if pin.marker is None or pin.marker.evaluate(place):
                with suppress(PackageNotFoundError):  # what isn't installed says nothing
                    needs += map(Requirement, requires(pin.name) or ())
        return uncovered(listed, needs, place)

    for listed in lists.values():
        assert open_ends(listed) == set()
        cut = [entry for entry in listed if not entry[0].startswith("jupyter-server==")]
        assert open_ends(cut) == {"jupyter-server"}


def test_constraints_satisfy_every_declared_range(pins, pyproject):
    for requirement in map(Requirement, every_requirement(pyproject)):
        name, allowed = canonicalize_name(requirement.name), requirement.specifier
        chosen = [
            next(iter(pin.specifier)).version for pin in pins if canonicalize_name(pin.name) == name
        ]
        assert chosen, name
        assert all(allowed.contains(v, prereleases=True) for v in chosen), (name, chosen)


def test_pandas_reads_sheets_with_the_least_openpyxl_that_is_declared(pyproject):
    own = next(r for r in map(Requirement, every_requirement(pyproject)) if r.name == "openpyxl")
    (asked,) = (r for r in map(Requirement, requires("pandas") or ()) if r.name == "openpyxl")
    (least,) = (bound.version for bound in own.specifier if bound.operator == ">=")
    assert asked.specifier.contains(least)


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


def test_readme_needs_exactly_two_commands(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    commands = {
        line.split("#")[0].strip()
        for block in blocks
        for line in block.splitlines()
        if "run.py" in line
    }
    setup = {line for line in commands if "run.py pdsynth" not in line}  # what one does then
    assert setup == {"python3 run.py lab", "python3 run.py test"}
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


def test_contributing_says_ruff_s_limit_of_statements(root, pyproject):
    limit = pyproject["tool"]["ruff"]["lint"]["pylint"]["max-statements"]
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"functions at most {limit} statements (ruff's PLR0915)" in text
