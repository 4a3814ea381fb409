"""Workflow files call run.py's commands on three systems, and publish what `site` builds; they run
what others wrote at one commit alone, and without rights that it doesn't need."""

import copy
import re

import pytest
import yaml


@pytest.fixture(scope="module")
def workflows(root):
    return {
        path.stem: (path.read_text("utf-8"), yaml.safe_load(path.read_text("utf-8")))
        for path in (root / ".github" / "workflows").glob("*.yml")
    }


def commands(jobs):
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]


PIN = r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+"


def unpinned(text):
    """Actions that aren't named by a whole commit, with the version in a comment."""
    return [name for name in re.findall(r"uses:\s*(.*)", text) if not re.fullmatch(PIN, name)]


def excesses(workflow):
    """Rights beyond the need: a checkout that keeps its token, a job that may write and does more
    than publish finished files."""
    found = []
    for name, job in workflow["jobs"].items():
        for step in job["steps"]:
            checkout = step.get("uses", "").startswith("actions/checkout@")
            if checkout and step.get("with", {}).get("persist-credentials") is not False:
                found.append(f"{name}: the checkout keeps its token")
        rights = job.get("permissions", workflow.get("permissions", "write-all"))
        code = [
            s for s in job["steps"] if not s.get("uses", "").startswith("actions/deploy-pages@")
        ]
        if code and "write" in str(rights):
            found.append(f"{name}: runs code and may write")
    return found


def test_lint_and_tests_run_on_three_systems_and_all_of_them_once(workflows):
    _, tests = workflows["tests"]
    matrix = tests["jobs"]["fast"]["strategy"]["matrix"]
    assert [name.split("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    found = commands(tests["jobs"])
    assert found == ["python run.py lint", "python run.py test", "python run.py test --all"]


def test_the_site_is_built_by_its_command_and_published_from_its_folder(workflows):
    text, site = workflows["site"]
    build, check = commands(site["jobs"])
    assert build == "python run.py site"
    assert check == "python run.py test --all tests/website/test_site.py"
    assert "PDSYNTH_SITE: build/site/html" in text, "all that is published is looked at"
    assert "path: build/site/html" in text
    assert site["permissions"] == {}
    jobs = site["jobs"]
    assert jobs["build"]["permissions"] == {"contents": "read"}
    assert jobs["deploy"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert jobs["deploy"]["needs"] == "build"


def test_every_action_is_pinned_and_no_job_has_rights_that_it_does_not_need(workflows):
    assert {*workflows} == {"tests", "site"}
    for text, whole in workflows.values():
        assert unpinned(text) == []
        assert excesses(whole) == []


PINNED = "uses: actions/checkout@" + 40 * "a"


@pytest.mark.parametrize(
    "planted",
    ["uses: actions/checkout@v4", "uses: actions/checkout@main # v4.2.2", PINNED,
     PINNED[:-1] + " # v4.2.2", PINNED + " # v4"],
)  # fmt: skip
def test_twin_an_action_that_may_change_is_seen(planted):
    assert unpinned(f"      - {planted}\n") and not unpinned(f"      - {PINNED} # v4.2.2\n")


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (lambda site: site["build"]["steps"][0].pop("with"), "keeps its token"),
        (lambda site: site["build"]["permissions"].update(contents="write"), "may write"),
        (lambda site: site["build"].update(permissions="write-all"), "may write"),
        (lambda site: site["deploy"]["steps"].append({"run": "true"}), "may write"),
        (lambda site: site["deploy"]["steps"].append(site["build"]["steps"][1]), "may write"),
    ],
)
def test_twin_a_right_too_many_is_seen(workflows, change, seen):
    planted = copy.deepcopy(workflows["site"][1])
    change(planted["jobs"])
    (found,) = excesses(planted)
    assert seen in found


def test_twin_rights_by_default_are_seen(workflows):
    planted = copy.deepcopy(workflows["tests"][1])
    del planted["permissions"]
    assert excesses(planted) == ["fast: runs code and may write", "all: runs code and may write"]


def test_every_job_has_a_bound_and_every_task_is_one_of_run_py(workflows, root):
    tasks = re.findall(r'^    "(\w+)(?: --all)?": \(', (root / "run.py").read_text("utf-8"), re.M)
    for text, whole in workflows.values():
        for job in whole["jobs"].values():
            assert "timeout-minutes" in job
        assert set(re.findall(r"run\.py (\w+)", text)) <= set(tasks)
