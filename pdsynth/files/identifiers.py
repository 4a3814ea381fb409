"""Columns that tell records apart: by what they are called, or by their numbers.

Of a name the last word counts: ``customer_id`` and ``customerId`` are ids, and ``idea`` is none.
Accents and a dot behind it don't count.
"""

import re
import unicodedata

import pandas as pd

# What tells one person from another, in English, German, French, Spanish, Italian and Dutch.
IDENTIFIER = (
    "id uuid surname e[_ -]?mail phone telephone address ssn iban "
    "kennung adresse anschrift telefon nachname vorname "
    "identifiant matricule courriel prenom "
    "identificador apellidos? correo telefono direccion dni nif "
    "matricola cognome indirizzo codice[_ -]fiscale "
    "achternaam voornaam telefoon adres bsn"
).split()
# Numbers that things and persons have, unless a few of them come again and again.
NUMBER = (
    "no num nr nummer number numero n° account konto compte cuenta conto rekening "
    "[phu]id hhid guid id[_ -]?code mergeid (user|person|pat|patient(en)?|u?subj|subject|case|"
    "client|customer|kunden|member|study|resp|respondent|participant|student|employee|household)id"
).split()
GLUED = "nr nummer number numero".split()  # also behind another word: Kundennr
AHEAD = "numero n°".split()  # also before one: numéro client
# Whose number stands there where numbers do, with the same exception; of codes outline asks it.
PERSON = (
    "person customer client patient user member household subject participant respondent employee "
    "student kunde kundin klient mitglied haushalt proband teilnehmer usager menage persona "
    "cliente paciente paziente klant"
).split()
# Names and texts, with the same exception.
WORDS = (
    "(first|last|given|fore|middle|full|maiden)?[_ -]?names? first last given maiden "
    "notes? comments? remarks? text nom nombre nome naam"
).split()
FEWEST = 100  # records whose numbers may be an identifier
ALIKE = 0.01  # of them whose number another one has, too: a slip
LONG = 10**7  # a number of eight digits
EVERY = "? every record has its own number: an identifier? Then drop"


def _behind(words: list[str]) -> str:
    return rf"(.*[_ .-])?({'|'.join(words)})\.?"


NAMES = {
    "identifier": re.compile(_behind(IDENTIFIER)),
    "number": re.compile(
        rf"{_behind(NUMBER)}|.*({'|'.join(GLUED)})\.?|({'|'.join(AHEAD)})[_ .-].*"
    ),
    "words": re.compile(_behind(WORDS)),
    "person": re.compile("|".join(PERSON)),
}


def kind_of(name: str) -> str:
    """What a column's name calls it: an identifier, a number, words or a person; else "".

    >>> [kind_of(name) for name in ("customerId", "Vorgesetzten-Nr.", "pid", "idea")]
    ['identifier', 'number', 'number', '']
    """
    apart = re.sub("([a-z])([A-Z])", r"\1_\2", name)
    plain = "".join(c for c in unicodedata.normalize("NFKD", apart) if not unicodedata.combining(c))
    return next((kind for kind, at in NAMES.items() if at.fullmatch(plain.strip().lower())), "")


def tell_apart(numbers: pd.Series) -> bool:
    """Whether whole numbers are more different than measured ones of their range would be.

    Of n numbers that are spread evenly over a range, n²/2 pairs, one by chance in a range's length
    is a pair of equal ones; amounts, which aren't spread evenly, are equal more often. Where there
    should be five, and ten times more than there are, they were given so that they differ. So
    were long numbers of one length that differ.

    **Privacy:** read off the records.
    """
    n, again = len(numbers), len(numbers) - numbers.nunique()
    if n < FEWEST or again > ALIKE * n or (numbers != numbers.round()).any():
        return False
    low, high = float(numbers.min()), float(numbers.max())
    by_chance = n * (n - 1) / 2 / (high - low + 1)
    long = low >= LONG and len(f"{low:.0f}") == len(f"{high:.0f}")
    return long or by_chance >= 5 + 10 * again
