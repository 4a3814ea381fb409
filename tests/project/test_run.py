"""The set-up script: what it decides and says, without installing anything, and that each of its
tasks starts as the user who runs the tests."""

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from script_tools import load

INPUTS = ("run.py", "pyproject.toml", "constraints.txt", "constraints-lab.txt")


@pytest.fixture
def run(root, tmp_path, monkeypatch):
    """run.py as a module of a copy of the project, whose installer is a recorder."""
    for name in INPUTS:
        shutil.copy(root / name, tmp_path / name)
    module = load(tmp_path / "run.py")
    module.calls, module.runs = [], []
    monkeypatch.setattr(module, "call", lambda *words: module.calls.append(list(map(str, words))))
    monkeypatch.setattr(module, "run", lambda arguments, *_: module.runs.append(arguments) or 0)
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    monkeypatch.setattr(module, "make_venv", lambda: fake_venv(module))
    return module


def fake_venv(module):
    module.PYTHON.parent.mkdir(parents=True, exist_ok=True)
    module.PYTHON.write_text("")
    (module.VENV / "pyvenv.cfg").write_text(f"version = {sys.version.split()[0]}\n")


def test_first_use_installs_the_constraints_with_hashes_and_the_second_does_not(run):
    assert run.main(["test", "-k", "schema"]) == 0
    others, project = run.calls
    assert others[-4:] == ["--no-deps", "--require-hashes", "-r", "constraints.txt"]
    assert project[-4:] == ["--no-deps", "--no-build-isolation", "-e", "."]
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


@pytest.mark.parametrize("task", ["lab", "voila"])
def test_lessons_need_their_part_alone_which_is_contained_in_test(run, task):
    run.main([task])
    assert run.calls[-2][-1] == "constraints-lab.txt"
    run.main(["test"])
    assert run.calls[-2][-1] == "constraints.txt"
    run.calls.clear()
    run.main([task])
    assert run.calls == []


def wheel(folder):
    """The smallest package that pip installs, made by hand."""
    path, info = folder / "tiny-1.0-py3-none-any.whl", "tiny-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("tiny.py", "")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    return path


@pytest.mark.parametrize("listed", ["its own", "another", "none"])
def test_a_file_without_its_hash_in_the_list_is_not_installed(run, listed, tmp_path):
    """What run.py says to pip, over a list of one package; the twin leaves its flag out."""
    run.main(["test"])
    flags = run.calls[0][run.calls[0].index("--no-deps") : -1]
    digest = hashlib.sha256(wheel(tmp_path).read_bytes()).hexdigest()
    hashes = {"its own": f" --hash=sha256:{digest}", "another": f" --hash=sha256:{digest[::-1]}"}
    (tmp_path / "list.txt").write_text(f"tiny==1.0{hashes.get(listed, '')}\n")

    def accepted(*flags):
        words = ["--no-index", "--find-links", tmp_path, "--target", tmp_path / "there"]
        pip = [sys.executable, "-m", "pip", "install", *flags, tmp_path / "list.txt", *words]
        return subprocess.run(pip, capture_output=True).returncode == 0

    assert accepted(*flags) == (listed == "its own")
    assert accepted(*(f for f in flags if f != "--require-hashes")) == (listed != "another")


@pytest.mark.parametrize("changed", INPUTS)
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


def test_a_folder_that_can_t_be_written_is_named(run, monkeypatch):
    def refuse():
        raise PermissionError(13, "Permission denied", str(run.VENV))

    monkeypatch.setattr(run, "make_venv", refuse)
    with pytest.raises(SystemExit, match=r"Permission denied.*a folder that you may write"):
        run.main(["lab"])
    assert run.runs == []


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
    named = f"home = C:\\Users\\\xc1lvaro\nversion = {sys.version.split()[0]}\n"
    (run.VENV / "pyvenv.cfg").write_bytes(named.encode("latin-1"))  # Windows decodes no UTF-8
    assert run.usable()


def test_missing_ensurepip_says_what_to_install(root, monkeypatch):
    module = load(root / "run.py")
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


def as_user(monkeypatch, number):
    monkeypatch.setattr(os, "geteuid", lambda: number, raising=False)


def test_root_alone_lets_jupyterlab_start_as_root_and_says_so(run, monkeypatch, capsys):
    as_user(monkeypatch, 0)
    for task in ("lab", "voila", "test", "site", "lint"):
        run.main([task, "--further"])
    assert [words for words in run.runs if "--allow-root" in words] == [
        ["-m", "jupyterlab", "notebooks/00_start_here.ipynb", "--allow-root", "--further"]
    ]
    assert capsys.readouterr().out.count("runs as root") == 1


def test_others_are_not_told_to_allow_root(run, monkeypatch, capsys):
    as_user(monkeypatch, 1000)
    run.main(["lab"])
    monkeypatch.delattr(os, "geteuid")  # Windows
    run.main(["lab"])
    assert run.runs == [["-m", "jupyterlab", "notebooks/00_start_here.ipynb"]] * 2
    assert "root" not in capsys.readouterr().out


class Interrupted:
    """A program that ends with exit code 7 after Ctrl-C was pressed twice."""

    def __init__(self, *_, **__):
        self.presses = 2

    def wait(self):
        self.presses -= 1
        if self.presses >= 0:
            raise KeyboardInterrupt
        return 7


def test_ctrl_c_is_for_the_program(root, monkeypatch):
    module = load(root / "run.py")
    monkeypatch.setattr(module.subprocess, "Popen", Interrupted)
    monkeypatch.setattr(module.signal, "signal", lambda *_: None)
    assert module.run(["-m", "jupyterlab"]) == 7
    with pytest.raises(KeyboardInterrupt):  # twin: without the loop it would be for run.py
        module.subprocess.Popen().wait()


# run.py with the Python of the tests in place of an installation; then what a test changes.
DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
import run
run.PYTHON, run.installed = Path(sys.executable), lambda *_: True
{change}
sys.exit(run.main(sys.argv[1:]))
"""


@contextmanager
def started(root, home, *words, change=""):
    """A task in a process group and a home of its own; gives it and the file of what it says."""
    settings = {f"JUPYTER_{name}_DIR": str(home / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    env = {**os.environ, **settings, "HOME": str(home), "PYTHONPATH": str(root)}
    log = home / "log"
    with log.open("wb") as file:
        code = DRIVER.format(root=str(root), change=change)
        child = subprocess.Popen(
            [sys.executable, "-c", code, *words],
            cwd=home,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
        try:
            yield child, log
        finally:
            end(child)


def end(child):
    """Stop the whole group, kernels included."""
    if os.name == "nt":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(child.pid)], capture_output=True)
    else:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(child.pid, number)
            with suppress(subprocess.TimeoutExpired):
                child.wait(30)
    child.wait()


def address(child, log):
    """Where a server says that it answers; fails with its words if it ends first."""
    for _ in range(1200):
        found = re.search(r"https?://(?:localhost|127\.0\.0\.1):\d+/\S*", log.read_text("utf-8"))
        if found:
            return found[0]
        if child.poll() is not None:
            break
        time.sleep(0.25)
    pytest.fail(log.read_text("utf-8")[-3000:])


def answer(url):
    """Status and text of a page; it is asked until the server listens."""
    for _ in range(1200):
        try:
            with urllib.request.urlopen(url) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, ""
        except urllib.error.URLError:
            time.sleep(0.25)
    pytest.fail(f"nobody listens at {url}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_lab_opens_the_course_for_this_user_and_wants_its_token(root, tmp_path):
    words = ["lab", "--no-browser", f"--port={free_port()}"]
    with started(root, tmp_path, *words) as (child, log):
        base, token = re.fullmatch(r"(.*)/lab\?(token=\w+)", address(child, log)).groups()
        status, text = answer(f"{base}/lab/tree/00_start_here.ipynb?{token}")
        assert status == 200 and "jupyter-config-data" in text
        status, text = answer(f"{base}/api/status?{token}")
        assert status == 200 and "kernels" in json.loads(text)
        path = "api/contents/00_start_here.ipynb"  # of the folder of the notebook it opens
        status, text = answer(f"{base}/{path}?content=0&{token}")
        assert status == 200 and json.loads(text)["type"] == "notebook"
        assert answer(f"{base}/api/status")[0] == 403
        assert ("runs as root" in log.read_text("utf-8")) == is_root()


def is_root():
    return hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.mark.skipif(not is_root(), reason="these tests don't run as root")
def test_twin_without_the_permission_lab_ends_as_root(root, tmp_path):
    words = ["lab", "--no-browser", f"--port={free_port()}"]
    with started(root, tmp_path, *words, change="run.permission = lambda task: []") as (child, log):
        assert child.wait() == 1
        assert "Running as root is not recommended" in log.read_text("utf-8")


@pytest.mark.notebook
def test_voila_lists_the_lessons_and_renders_one_for_this_user(root, tmp_path):
    words = ["voila", "--no-browser", f"--port={free_port()}"]
    with started(root, tmp_path, *words) as (child, log):
        base = address(child, log)
        status, text = answer(base)
        assert status == 200 and "Voilà" in text
        status, text = answer(f"{base}voila/render/glossary.ipynb")
        assert status == 200 and re.search(r"<h1[^>]*>\s*Notation and glossary", text)


PROGRAMS = {  # the first sign of each task that isn't a server
    "test": (["--collect-only", "-n", "0", "tests/project/test_run.py"], [__name__.split(".")[-1]]),
    "lint": (
        ["--help"],
        ["ruff check", "ruff format", "set of contracts", "mypy [-h]"],
    ),
    "site": (["--help"], ["usage: build.py", "--lessons"]),
    "pdsynth": (["plan", "survey.csv", "survey.toml", "--epsilon", "1"], ["6,000 rows"]),
    "figures": (["--help"], ["usage: make.py", "--out"]),
}


@pytest.mark.parametrize("task", PROGRAMS)
def test_the_other_tasks_start_for_this_user(root, tmp_path, task):
    words, signs = PROGRAMS[task]
    with started(root, tmp_path, task, *words) as (child, log):
        code, text = child.wait(), log.read_text("utf-8")
    assert code == 0, text[-3000:]
    assert [sign for sign in signs if sign not in text] == []


def test_a_file_of_one_s_own_is_named_from_the_folder_where_one_is(root, tmp_path):
    (tmp_path / "mine.csv").write_text("age,sex\n" + "34,f\n61,m\n" * 20)
    with started(root, tmp_path, "pdsynth", "outline", "mine.csv") as (child, log):
        assert child.wait() == 0 and "34 | 61" in log.read_text("utf-8")


def test_every_task_is_started_by_a_test(run):
    assert {task.split()[0] for task in run.TASKS} == {"lab", "voila", *PROGRAMS}
