"""Rows of an experiment on disk: appended as they come, whole after any interruption."""

import csv
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import SchemaError

COLUMNS = ("method", "guarantee", "epsilon", "repeat", "seed", "measure", "value", "seconds",
           "note", "parameters", "dataset", "key")
KINDS = {"epsilon": float, "repeat": int, "seed": int, "value": float, "seconds": float}


class Store:
    """Rows keyed by (task key, measure); with a path, a CSV that is safe to stop and to resume."""

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        if self.path is not None:
            self._open(self.path)

    def _open(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        # a line without its end was being written when the run stopped
        whole = text[: text.rfind("\n") + 1]
        head, *lines = csv.reader(whole.splitlines(keepends=True)) if whole else [COLUMNS]
        if tuple(head) != COLUMNS:
            raise SchemaError(f"{path} holds other columns than a compare file: "
                              "give another file name to resume")
        for line in lines:
            if len(line) == len(COLUMNS):
                cells = zip(COLUMNS, line, strict=True)
                row = {name: KINDS.get(name, str)(value) for name, value in cells}
                self.rows[row["key"], row["measure"]] = row
        if not whole:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
        elif whole != text:
            os.truncate(path, len(whole.encode()))

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Keep the rows of one task, and write them through to the disk."""
        fresh = [{name: _one_line(row[name]) for name in COLUMNS} for row in rows]
        self.rows.update({(row["key"], row["measure"]): row for row in fresh})
        if self.path is None:
            return
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(row.values() for row in fresh)
            file.flush()
            os.fsync(file.fileno())


def _one_line(value: Any) -> Any:
    """A text without line breaks: a stopped run could cut a record of several lines."""
    return " ".join(value.split()) if isinstance(value, str) else value
