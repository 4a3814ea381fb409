"""Runs one notebook in an IPython shell in this process: ``python run_notebook.py PATH``.

It exits 1 with what went wrong. With ``--student`` unanswered exercises are fine. A display that
fails counts as an error, as does a live panel that shows one.
"""

import json
import os
import sys
import tempfile

os.environ["IPYTHONDIR"] = tempfile.mkdtemp()  # no history in the user's home
os.environ["PLOTLY_RENDERER"] = "plotly_mimetype"  # outside a kernel Plotly would open a browser

from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
from ipywidgets.widgets import widget  # noqa: E402

from pdsynth.course.exercises.exercise import Message  # noqa: E402
from pdsynth.course.widgets import LivePanel  # noqa: E402


def run(cells, student):
    """The first problem of the notebook as text, or None."""
    shell = InteractiveShell.instance()
    failed = []
    # also called for a broken repr
    shell._showtraceback = lambda kind, value, trace: failed.append("\n".join(trace))
    for source in cells:
        shown = shell.run_cell(source).result
        if failed:
            return f"failed cell:\n{source}\n{failed[0]}"
        asked = isinstance(shown, Message) and ".check(" in source
        if asked and not (shown.right or student):
            return f"an exercise of this notebook doesn't pass: {shown.text}\n{source}"
    panels = [w for w in widget._instances.values() if isinstance(w, LivePanel)]
    broken = [panel.error for panel in panels if panel.error is not None]
    if len(panels) != 1 or broken:
        return f"expected one live panel without an error, found {len(panels)}; errors: {broken!r}"
    return None


if __name__ == "__main__":
    document = json.load(open(sys.argv[1], encoding="utf-8"))
    code = ["".join(c["source"]) for c in document["cells"] if c["cell_type"] == "code"]
    sys.exit(run(code, "--student" in sys.argv))
