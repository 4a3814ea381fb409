"""Runs one notebook in an IPython shell in this process: ``python run_notebook.py PATH``; exits 1 with what went wrong."""

import json
import sys

from IPython.core.interactiveshell import InteractiveShell

from pdsynth.lessons.exercise import Message
from pdsynth.widgets import LivePanel

shell = InteractiveShell.instance()
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] != "code":
        continue
    source = "".join(cell["source"])
    result = shell.run_cell(source)
    if not result.success:
        sys.exit(f"failed cell:\n{source}")
    shown = result.result
    if isinstance(shown, LivePanel) and shown.error is not None:
        sys.exit(f"the live panel shows an error: {shown.error!r}")
    if isinstance(shown, Message) and ".check(" in source and not shown.right:
        sys.exit(f"an exercise of the solutions notebook doesn't pass: {shown.text}\n{source}")
