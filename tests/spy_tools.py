"""A spy on raw records, for tests of the one door."""

import functools
import inspect
import sys
from pathlib import Path

from pdsynth.core import records as tables
from pdsynth.core.curator import Curator
from pdsynth.core.records import Records
from pdsynth.published import partitions


class Spy:
    """Notes who reads raw records, and which questions to the curator read them unpaid."""

    def __init__(self, monkeypatch):
        self.readers: list[tuple[str, str]] = []
        self.unpaid: list[str] = []
        spy = self

        def noticed(frame):
            # What a door counts with: its callers are asked who they are.
            between = {tables.__file__, partitions.__file__, functools.__file__}
            while frame.f_code.co_filename in between or frame.f_code.co_name.startswith("spied_"):
                frame = frame.f_back
            spy.readers.append((Path(frame.f_code.co_filename).name, frame.f_code.co_name))

        def keep(records, counter):
            records.__dict__["counter"] = counter

        table, lattice = Records.table, Records.__dict__["lattice"]
        codes = Records.__dict__["codes"]

        def spied_table(records, columns):
            noticed(sys._getframe(1))
            return table(records, columns)

        def spied_lattice(records):
            noticed(sys._getframe(1))
            return lattice.__get__(records)

        def spied_codes(records):
            noticed(sys._getframe(1))
            return codes.__get__(records)

        def spied_counter(records):
            noticed(sys._getframe(1))
            return records.__dict__["counter"]

        monkeypatch.setattr(Records, "table", spied_table)
        monkeypatch.setattr(Records, "lattice", property(spied_lattice))
        monkeypatch.setattr(Records, "codes", property(spied_codes))
        monkeypatch.setattr(Records, "counter", property(spied_counter, keep), raising=False)
        silent = ("prepare", "expect", "binary")  # they answer nothing
        for name, method in inspect.getmembers(Curator, inspect.isfunction):  # inherited ones, too
            if not name.startswith("_") and name not in silent:
                monkeypatch.setattr(Curator, name, self.watch(name, method))

    def watch(self, name, method):
        def ask(curator, *args, **kwargs):
            reads, lines = len(self.readers), len(curator.ledger.entries)
            answer = method(curator, *args, **kwargs)
            if len(self.readers) > reads:
                new = curator.ledger.entries[lines:]
                if not any(
                    e.kind == "unaccounted_access" or (e.kind == "mechanism" and e.cost > 0)
                    for e in new
                ):
                    self.unpaid.append(name)
            return answer

        return ask

    @property
    def outside(self):
        """Readers that are not the curator."""
        return [r for r in self.readers if r[0] != "curator.py"]
