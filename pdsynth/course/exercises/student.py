"""A student: own numbers, an own table and own games from a name, and a log of attempts if wanted.

>>> student("Ada").lesson(4).q1 == student("Ada").lesson(4).q1
True
"""

import importlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from .exercise import Message
from .formula import draw, make_seed
from .lesson import Log, exercises, read


@dataclass(frozen=True)
class Student:
    """What a name stands for. The same name gives the same numbers on every machine."""

    name: str
    log: Path | None = None

    def lesson(self, number: int) -> SimpleNamespace:
        """The exercises of a lesson with this student's own numbers: ``.q1``, ``.q2``, …"""
        name = f"lesson_{number:02d}"
        module = importlib.import_module(f"{__package__}.{name}")
        judges = {
            key: getattr(module, key).examine
            for key, question in read(name).items()
            if "numbers" not in question
        }
        tasks = exercises(name, seed=make_seed(self.name), log=self._writer(name), **judges)
        return SimpleNamespace(**{f"q{i}": one for i, one in enumerate(tasks, 1)})

    def numbers(self, task: str, choices: Mapping[str, list[str]]) -> dict[str, Fraction]:
        """One of the choices of each number of a task."""
        return draw(choices, make_seed(make_seed(self.name), task))

    def table(self, frame: pd.DataFrame, size: int) -> pd.DataFrame:
        """``size`` rows of ``frame`` that belong to this student, with a new index.

        **Privacy:** plain sampling for teaching with public tables: no noise, no guarantee.
        """
        seed = make_seed(self.name, "table") % 2**32
        return frame.sample(size, random_state=seed).reset_index(drop=True)

    def _writer(self, lesson: str) -> Log | None:
        if self.log is None:
            return None
        path = self.log

        def write(question: str, message: Message) -> None:
            line = {
                "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                "student": self.name,
                "lesson": lesson,
                "question": question,
                "verdict": message.kind,
                "message": message.text,
            }
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")

        return write


def student(name: str, log: str | Path | None = None) -> Student:
    """The student of this name; ``log`` is a file to which every attempt adds a line.

    Nothing is written without ``log``, and nothing leaves the machine.
    """
    if not name.strip():
        raise ValueError("a student has a name: student('Ada')")
    return Student(" ".join(name.split()), None if log is None else Path(log))
