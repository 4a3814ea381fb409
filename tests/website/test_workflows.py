"""Workflow files call run.py's commands on three systems, and publish what `site` builds."""

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
    assert site["permissions"] == {"contents": "read", "pages": "write", "id-token": "write"}


def test_every_step_names_a_version_and_every_task_is_one_of_run_py(workflows, root):
    tasks = re.findall(r'^    "(\w+)(?: --all)?": \(', (root / "run.py").read_text("utf-8"), re.M)
    for text, whole in workflows.values():
        for job in whole["jobs"].values():
            assert all(re.search(r"@v\d+$", s["uses"]) for s in job["steps"] if "uses" in s)
            assert "timeout-minutes" in job
        assert set(re.findall(r"run\.py (\w+)", text)) <= set(tasks)
