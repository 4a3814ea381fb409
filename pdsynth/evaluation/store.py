"""Rows of an experiment on disk: appended as they come, whole after any interruption."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import SchemaError

COLUMNS = ("method", "guarantee", "epsilon", "repeat", "seed", "measure", "value", "seconds", "note", "parameters", "dataset", "key")
KINDS = {"epsilon": float, "repeat": int, "seed": int, "value": float, "seconds": float}


class Store:
    """Rows keyed by (task key, measure); with a path, kept in a CSV that is safe to stop and to take up again."""

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        if self.path is not None:
            self._open(self.path)

    def _open(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # a line without its end was being written when the run stopped
        lines = list(csv.reader(whole.splitlines(keepends=True)))
        if lines and tuple(lines[0]) != COLUMNS:
            raise SchemaError(f"{path} holds other columns than a compare file: give another file name to resume")
        for line in lines[1:]:
            if len(line) == len(COLUMNS):
                row = {name: KINDS.get(name, str)(value) for name, value in zip(COLUMNS, line, strict=True)}
                self.rows[row["key"], row["measure"]] = row
        if not whole:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
        elif whole != text:
            os.truncate(path, len(whole.encode()))

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Keep the rows of one task, and write them through to the disk."""
        # line breaks in a note would make one record of several lines, which a stopped run could cut
        fresh = [{name: " ".join(v.split()) if isinstance(v := row[name], str) else v for name in COLUMNS} for row in rows]
        self.rows.update({(row["key"], row["measure"]): row for row in fresh})
        if self.path is None:
            return
        with self.path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([[row[name] for name in COLUMNS] for row in fresh])
            file.flush()
            os.fsync(file.fileno())
