"""What every kernel of a lesson has loaded once its start-up is over, and nothing else."""

from run_notebook import DICE

exec(DICE, {})
import ipykernel.kernelapp  # noqa: E402, F401
import IPython.core.completer  # noqa: E402, F401
import plotly.graph_objects  # noqa: E402, F401

import pdsynth.course.widgets.still  # noqa: E402, F401
