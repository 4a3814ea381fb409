"""Exercises of lesson 03, Bayesian networks and mutual information."""

from __future__ import annotations

import math

import numpy as np

from ...measures import mutual_information
from .judges import Computation
from .lesson import exercises

information = Computation(
    mutual_information,
    cases=[(np.array(table),) for table in
           ([[3, 1], [1, 3]], [[4, 0, 1], [0, 5, 2]], [[2, 2], [2, 2]])],
    faults={
        "information gives NaN for an empty cell: 0 · log 0 counts as 0, so leave those cells out.":
            lambda got, table: np.isnan(got),
    },
    mistakes={
        "information is in nats: use np.log2.":
            lambda table: mutual_information(table) * math.log(2),
        "information has the wrong sign: it is log p/q, not log q/p.":
            lambda table: -mutual_information(table),
    },
    otherwise="information({case[0]}) gives {got:.4f}, expected {wanted:.4f}: "
              "p log2(p / (row share · column share)), summed.",
)

q1, q2, q3, q4 = exercises("lesson_03", q2=information)
