"""Programs that lie outside the package, loaded as modules."""

import importlib.util
import sys


def load(path):
    """A new module of this file, under a name of its own; ``sys.path`` stays as it was."""
    name = f"{path.parent.name}_{path.stem}_loaded"
    spec = importlib.util.spec_from_file_location(name, path)
    module, before = importlib.util.module_from_spec(spec), list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module
