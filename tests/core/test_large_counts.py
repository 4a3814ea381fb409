"""Tables of hundreds of millions of records: whole numbers stay whole, or n is refused.

A double scales the tables of a few records, so that no test holds more.
"""

import itertools
import math
from fractions import Fraction as Q

import numpy as np
import pytest
from contract_cases import spending
from privacy_tools import Silent, schema_of

from pdsynth import ConsistentBayes, HPPrivBayes, Ledger, PrivBayes, SchemaError, plan
from pdsynth.algorithms.privabn import growth_penalty
from pdsynth.core import measures as bits
from pdsynth.core import recipe
from pdsynth.core.curator import Curator
from pdsynth.core.measures import SCORES, association
from pdsynth.core.recipe import MOST_RECORDS
from pdsynth.core.records import Codes, Records
from pdsynth.core.views import BitTables

TIED = 15  # columns, all equal: every K is n²


class Scaled:
    """A counter whose every record stands for ``times`` records."""

    def __init__(self, codes, sizes, times):
        self.codes, self.sizes, self.times = Codes(codes, sizes), tuple(sizes), times
        self.n = self.codes.n * times
        self.at_once = self.codes.n

    def tables(self, sets):
        return (table * self.times for table in self.codes.tables(sets))

    def cells(self, sets):
        return ((rows, table * self.times) for rows, table in self.codes.cells(sets))

    def bits(self, encoding):
        twin = self.codes.encoded(encoding)
        return Scaled(twin.codes, twin.sizes, self.times)


def tied(times, sizes=(2,) * TIED):
    """Two values in all columns, so that the columns say the same."""
    rows = np.repeat([[0], [1]], len(sizes), axis=1).astype(np.uint8)
    return Records(Scaled(np.asfortranarray(rows), sizes, times), schema_of(sizes))


def mixed(times, seed=0):
    sizes = (2, 3, 5, 2, 4)
    codes = np.random.Generator(np.random.PCG64(seed)).integers(0, sizes, size=(40, len(sizes)))
    codes[:, 3] = codes[:, 0]
    return Records(
        Scaled(np.asfortranarray(codes.astype(np.uint8)), sizes, times), schema_of(sizes)
    )


def exact(table):
    """K of a table in Python's integers."""
    cells, n = table.tolist(), int(table.sum())
    rows, columns = (
        [sum(row) for row in cells],
        [sum(column) for column in zip(*cells, strict=True)],
    )
    return sum(
        abs(n * cells[i][j] - rows[i] * columns[j])
        for i, j in itertools.product(range(len(rows)), range(len(columns)))
    )


def curator(records):
    return Curator(records, Ledger(Q(1), "strict"), Silent())


LARGEST = [MOST_RECORDS // 40, MOST_RECORDS // 80 + 1, 7]


class TestAssociations:
    @pytest.mark.parametrize("times", LARGEST)
    @pytest.mark.parametrize("size", [2, 3, 4])
    def test_every_k_equals_the_one_in_pythons_integers(self, times, size):
        records = mixed(times)
        for members in itertools.combinations(range(5), size):
            for child, *parents in itertools.permutations(members, size):
                table = records.table((child, *parents)).reshape(records.schema.sizes[child], -1)
                wanted = exact(table)
                found = records.lattice.association(np.array([child]), np.array([parents]))
                assert found.tolist() == [wanted] == [association(table)]
                scores = records.scores(SCORES["R"], np.array([child]), np.array([parents]))
                assert scores.tolist() == [wanted]

    def test_pairs_of_two_valued_columns_counted_together(self):
        records = tied(MOST_RECORDS // 2)
        found = records.pairwise("K")
        assert set(found[~np.eye(TIED, dtype=bool)].tolist()) == {MOST_RECORDS**2}

    def test_twin_beyond_the_bound_k_wraps(self):
        records = tied(2**32)
        assert exact(records.table((0, 1))) == 2**66
        assert records.pairwise("K")[0, 1] != 2**66

    def test_the_mean_over_pairs(self):
        records = tied(MOST_RECORDS // 2)
        pairs = list(itertools.combinations(range(TIED), 2))
        found = curator(records).mean_association(pairs, Q(1), step="look", source="test")
        assert found == 0.5

    def test_the_strongest_of_pairs(self):
        """K = n²: less chance, which is none, and with the noise of all of ε."""
        records = tied(MOST_RECORDS // 2)
        pairs = list(itertools.combinations(range(TIED), 2))
        offsets = np.full(len(pairs), -(MOST_RECORDS**2) // 2)
        found, _ = curator(records).strongest_association(
            pairs, Q(1), step="gate", source="test", offsets=offsets
        )
        assert found == 0.25


class TestTheBound:
    def test_what_fits_64_bits_at_the_largest_n(self):
        """K with the noise of the largest scale, less the largest public penalty; and steps of
        2^-30 of conditionals."""
        n, word = MOST_RECORDS, 2**52
        k = 2 * n**2
        assert k + 700 * word < 2**63  # noise beyond 700 scales has probability e^-700
        assert k + growth_penalty(60, n, 1000, Q(1, 10**6)) < 2**63
        assert n * 2**30 < 2**63

    @pytest.mark.parametrize("n", [MOST_RECORDS + 1, 10**12])
    @pytest.mark.parametrize(
        "made", [PrivBayes(), ConsistentBayes(), HPPrivBayes(sensitive="x4")], ids=repr
    )
    def test_more_records_are_refused_before_anything_is_spent(self, made, n, monkeypatch):
        schema = schema_of((2,) * TIED)
        with pytest.raises(SchemaError, match="1 to 1,000,000,000, got"):
            made.prepare(schema, n)
        made.prepare(schema, MOST_RECORDS)
        with spending(monkeypatch) as seen, pytest.raises(SchemaError, match="1 to 1,000,000"):
            made.fit(tied(10**9))
        assert seen == []
        with pytest.raises(SchemaError, match="1 to 1,000,000,000, got"):
            plan(schema, n, 1.0)

    def test_twin_without_the_bound_a_fit_runs_on_wrapped_numbers(self, monkeypatch):
        monkeypatch.setattr(recipe, "MOST_RECORDS", 10**12)
        fit = PrivBayes(1, k=1, random_state=0).fit(tied(2**32))
        assert fit.n_ == 2**33

    def test_integers_of_numpy_become_pythons(self):
        facts = PrivBayes(k=1).prepare(schema_of((2, 2)), np.int32(10**9)).facts
        assert type(facts.n) is int

    def test_the_order_of_a_fit_on_the_largest_table(self):
        """A whole fit: scores and sums at n = 10^9 choose as they do at n = 10^9 / 10^6."""
        networks = []
        for times in (MOST_RECORDS // 40, MOST_RECORDS // 40 // 10**6):
            made = HPPrivBayes(10**6, k=2, random_state=1, sensitive="x4", theta=0.1)
            networks.append(made.fit(mixed(times)).network_)
        assert networks[0] == networks[1]


class TestNarrowTypes:
    def test_moments_of_many_records_are_kept_in_64_bits(self):
        """Only their type is looked at: 2^31 records are too many for a test."""
        few = BitTables([np.zeros(8, dtype=np.uint8)] * 2, 8)
        assert few._kind == np.int32
        many = BitTables([None, None], 2**31)
        assert many._kind == np.int64
        assert np.iinfo(few._kind).max >= 2**31 - 1

    def test_twin_32_bits_hold_no_more(self):
        assert np.array([2**31], dtype=np.int64).astype(np.int32).item() != 2**31

    def test_logarithms_of_counts_fit_for_every_n(self):
        for n in (2**22 + 1, 10**9):
            logs = bits.CountLogs(n)
            assert logs.take(np.array([n])).item() <= 2**61
            assert logs.take(np.array([n])).item() * logs.unit == pytest.approx(n * math.log2(n))
