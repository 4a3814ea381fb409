"""A JupyterLab server and a browser for the tests of this folder."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from browser_tools import CHROMIUM, FLAGS, ROOT, small


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab server of our own, with settings of our own, over a copy of the notebooks."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(
        ROOT / "notebooks", home / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints")
    )
    (home / "notebooks" / "small.ipynb").write_text(json.dumps(small()), encoding="utf-8")
    shutil.copytree(
        ROOT / "figures", home / "figures", ignore=shutil.ignore_patterns("*.csv", "*.json", "*.py")
    )
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    own = {
        f"JUPYTER{name}_DIR": str(home / name)
        for name in ("_CONFIG", "_DATA", "_RUNTIME", "LAB_SETTINGS", "LAB_WORKSPACES")
    }
    whole = (
        home / "LAB_SETTINGS" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    )
    whole.parent.mkdir(parents=True)
    whole.write_text('{"windowingMode": "none"}')  # every cell is laid out, also outside the window
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "lab",
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--LabApp.expose_app_in_browser=True",
        "--IdentityProvider.token=t",
        f"--ServerApp.root_dir={home}",
    ]
    env = {**os.environ, **own, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    for _ in range(240):
        try:
            urllib.request.urlopen(f"{url}/api/status?token=t")
            break
        except OSError:
            time.sleep(0.25)
    yield url
    server.terminate()
    server.wait(20)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()
