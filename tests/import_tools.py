"""Who imports whom inside the package, read from the sources: nothing is imported to find out."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pdsynth

PACKAGE = Path(pdsynth.__file__).parent


def sources() -> list[tuple[Path, str]]:
    """The path inside the package and the text of every module."""
    return [
        (path.relative_to(PACKAGE), path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    ]


def imported(path, text: str) -> Iterator[str]:
    """What of the package a module imports, anywhere in its code: ``core.records.Records``."""
    package = ("pdsynth", *Path(path).parts[:-1])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *filter(None, [node.module])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (n.removeprefix("pdsynth.") for n in names if n.startswith("pdsynth."))


def graph(texts: Mapping[Path, str]) -> dict[str, set[str]]:
    """Each module's dotted name, and the names of the modules that it imports."""
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in texts}
    return {
        name: {owner(found, names) for found in imported(path, texts[path])} - {name, ""}
        for name, path in names.items()
    }


def owner(name: str, modules: Iterable[str]) -> str:
    """The module that an imported name stands in, or is; empty for the package itself."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def circle(imports: Mapping[str, set[str]]) -> list[str]:
    """One circle of modules that import each other, first and last alike; empty where none is."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as found:
        return found.args[1]
    return []
