"""What tells records apart is no attribute: a draft leaves it out or asks, by name or number."""

import tomllib

import numpy as np
import pandas as pd
import pytest

from pdsynth.course.declaration import propose
from pdsynth.datasets import outline

NAMELESS = "drop: identifier or free text"
EVERY = "? every record has its own number: an identifier? Then drop"


def line_of(name, cells):
    """What the draft says of a column."""
    frame = pd.DataFrame({name: cells}).assign(g=["mw"[at % 2] for at in range(len(cells))])
    entry = tomllib.loads(outline(frame.to_csv(index=False).encode()))["attributes"][name]
    return entry if isinstance(entry, str) else entry["domain"]


@pytest.mark.parametrize(
    "name",
    "customer_id customerId SSN Telefon Vorname identifiant matricule Prénom Apellidos teléfono "
    "cognome achternaam BSN Courriel".split(),
)
def test_a_name_of_persons_is_left_out_whatever_it_holds(name):
    assert line_of(name, [1, 2] * 30) == NAMELESS
    assert propose([name, "age"]).splitlines() == [f"{name}: drop", "age: ?"]


@pytest.mark.parametrize(
    "name",
    [
        *"Personalnummer Vorgesetzten-Nr. Kundennr personnel_no account Matrikelnummer Nº".split(),
        *("numéro client", "order no.", "Numero", "n° dossier", "Konto", "accountNumber"),
        *"pid hhid userid USUBJID patientid kundenid IDcode".split(),
    ],
)
def test_a_number_of_persons_is_left_out_unless_few_come_again(name):
    rng = np.random.default_rng(3)
    assert line_of(name, rng.permutation(9000)[:60] + 1000) == NAMELESS
    assert line_of(name, [f"K{at}" for at in range(60)]) == NAMELESS
    assert line_of(name, [f"{at}/{at % 7}" for at in range(60)]) == NAMELESS
    assert line_of(name, [*range(1000, 1130, 3)] * 3) == "? identifier or free text"  # some again
    assert line_of(name, [1, 2, 3] * 20) == "1 | 2 | 3"  # as the number of a class
    assert line_of(name, np.linspace(0.5, 99.5, 60)) == "0.0 to 100.0 in 16 bins"  # an amount


@pytest.mark.parametrize(
    "name", "idea paid grid covid casino genre num_medications number_of_rooms capital-gain".split()
)
def test_other_names_say_nothing(name):
    assert line_of(name, [*range(1000, 1130, 3)] * 3) == "1000 to 1130 in 16 bins"
    assert propose([name]) == f"{name}: ?"


def test_numbers_are_open_in_a_proposal_from_names():
    """A personnel number of few records can't be told from education-num, of 16 values."""
    assert propose(["education-num", "account"]) == "education-num: ?\naccount: ?"


APART = [*range(0, 990, 10)]  # 99 different numbers; one more makes 4950 pairs


@pytest.mark.parametrize(
    ("numbers", "open_"),
    [
        ([*APART, 989], True),  # 4950 pairs, 990 numbers: five of them should be equal
        ([*APART, 990], False),  # a little fewer than five
        ([*APART[1:], 989], False),  # 99 records
        ([*range(0, 198, 2), 0, 335], True),  # 5050 pairs, 336 numbers: 15 to one that is equal
        ([*range(0, 198, 2), 0, 336], False),
        ([*range(0, 194, 2), 0, 2, 194, 196], False),  # two per cent are equal
        ([10**7 + 7**7 * at for at in range(100)], True),  # 10000000 … 91531357
        ([10**7 - 1 + 7**7 * at for at in range(100)], False),  # 9999999 has seven digits
        ([at + 0.5 for at in [*APART, 989]], False),  # no whole numbers
    ],
)
def test_numbers_that_differ_more_than_measured_ones_are_asked_about(numbers, open_):
    said = line_of("x", np.random.default_rng(5).permutation(numbers))
    assert (said == EVERY) == open_ and (open_ or " in 16 bins" in said)


@pytest.mark.parametrize("n", [100, 400, 2000, 20_000])
def test_salaries_and_weights_are_none(n):
    rng = np.random.default_rng(n)
    for cells in (rng.normal(48_000, 9000, n), rng.gamma(3, 63_000, n) + 12_000):  # as fnlwgt is
        assert "in 16 bins" in line_of("x", cells.round().astype(int))
