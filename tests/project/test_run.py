"""The set-up script, without installing anything: what it decides and what it says."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def run(root, tmp_path, monkeypatch):
    """run.py as a module of a copy of the project, whose installer is a recorder."""
    for name in ("run.py", "pyproject.toml", "constraints.txt"):
        shutil.copy(root / name, tmp_path / name)
    spec = importlib.util.spec_from_file_location("run_under_test", tmp_path / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.calls, module.runs = [], []
    monkeypatch.setattr(module, "call", lambda *words: module.calls.append(list(map(str, words))))
    monkeypatch.setattr(module, "run", lambda arguments: module.runs.append(arguments) or 0)
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    monkeypatch.setattr(module, "make_venv", lambda: fake_venv(module))
    return module


def fake_venv(module):
    module.PYTHON.parent.mkdir(parents=True, exist_ok=True)
    module.PYTHON.write_text("")
    (module.VENV / "pyvenv.cfg").write_text(f"version = {sys.version.split()[0]}\n")


def test_first_use_installs_with_the_constraints_and_the_second_does_not(run):
    assert run.main(["test", "-k", "schema"]) == 0
    assert run.calls[-1][-6:] == ["-c", "constraints.txt", "-e", ".", "--group", "test"]
    run.calls.clear()
    assert run.main(["test"]) == 0
    assert run.calls == []


def test_the_slow_tests_run_with_all_only_and_further_words_go_to_pytest(run):
    run.main(["test"])
    run.main(["test", "-k", "schema"])
    run.main(["test", "--all", "-k", "schema"])
    fast, chosen, everything = run.runs
    assert fast[:4] == ["-m", "pytest", "-n", "auto"]
    assert fast[-2:] == ["-m", "not slow"]
    assert chosen == [*fast, "-k", "schema"]
    assert everything == [*fast[:-2], "-k", "schema"]


def test_lab_needs_no_test_group_and_is_contained_in_test(run):
    run.main(["lab"])
    assert "--group" not in run.calls[-1]
    run.main(["test"])
    assert "--group" in run.calls[-1]
    run.calls.clear()
    run.main(["lab"])
    assert run.calls == []


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt", "run.py"])
def test_a_changed_input_installs_again(run, changed):
    run.main(["test"])
    run.calls.clear()
    path = run.ROOT / changed
    path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    run.main(["test"])
    assert run.calls


def test_a_failed_installation_leaves_no_stamp(run, monkeypatch):
    monkeypatch.setattr(run, "call", lambda *command: sys.exit("set-up stopped"))
    with pytest.raises(SystemExit):
        run.main(["test"])
    assert not run.stamp("test").exists()


def test_uv_is_used_where_it_is(run, monkeypatch):
    monkeypatch.setattr(run.shutil, "which", lambda name: "uv")
    monkeypatch.setattr(run, "make_venv", lambda: pytest.fail("uv makes the .venv"))
    fake_venv(run)
    run.main(["test"])
    assert run.calls
    assert all(command[0] == "uv" for command in run.calls)


def test_an_environment_of_another_python_is_made_anew(run):
    fake_venv(run)
    (run.VENV / "pyvenv.cfg").write_text("version = 3.9.1\n")
    assert not run.usable()


def test_missing_ensurepip_says_what_to_install(root, monkeypatch):
    spec = importlib.util.spec_from_file_location("run_plain", root / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "VENV", Path("nowhere") / ".venv")
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="python3-venv"):
        module.make_venv()


def test_news_question_is_silenced(run):
    run.main(["lab"])
    overrides = (run.VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json").read_text()
    assert '"fetchNews": "false"' in overrides


def test_no_task_prints_the_help(root):
    done = subprocess.run([sys.executable, str(root / "run.py")], capture_output=True, text=True)
    assert done.returncode == 2
    assert "python3 run.py lab" in done.stdout
    assert "python3 run.py test" in done.stdout


def test_the_notebook_that_lab_opens_exists(root):
    assert (root / "notebooks" / "00_start_here.ipynb").is_file()
