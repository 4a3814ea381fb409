"""Big Five: 19,719 answers to a personality test on the web, the 57 attributes of the HMPrivBayes paper."""

from __future__ import annotations

import os
from functools import cache

from ..domain.schema import Attribute, Schema
from .dataset import Dataset
from .files import find, read_table

SOURCE = "openpsychometrics.org, Answers to the IPIP Big Five Factor Markers (BIG5.zip), collected in 2012"
LICENCE = "no formal licence: keep local"
ROWS = 19_719
AGE = (13, 100)  # the codebook: people below 13 were not recorded; 100 is this loader's top code
UNKNOWN = "unknown"

# The codebook's numbers; 0 is a question left out, a level of its own.
CODES = {"race": 14, "engnat": 3, "gender": 4, "hand": 4}
ITEMS = tuple(f"{trait}{i}" for trait in "ENACO" for i in range(1, 11))
COLUMNS = ("race", "age", "engnat", "gender", "hand", "source", "country", *ITEMS)

# ISO 3166's 249 countries; then what MaxMind's free GeoIP of 2012 says beside them: two kinds of proxy, the former Netherlands
# Antilles, Asia/Pacific, Europe, elsewhere. Read from those lists, not from the records.
COUNTRIES = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH "
    "CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN "
    "GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI "
    "LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM "
    "PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD "
    "TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW A1 A2 AN AP EU O1"
)
NOTE = (
    "Ages above 100 (83 rows: years of birth, jokes) are set to the top code 100; an empty or broken country is 'unknown'; "
    "an answer of 0 is a question left out and stays a level of its own; NA is Namibia."
)


def load_big5(path: str | os.PathLike[str] | None = None) -> Dataset:
    """Big Five's 19,719 answers with their public schema: 50 items of six levels and seven facts about the person.

    ``path``: the file or its folder; None looks in ``$PDSYNTH_DATA``. The binary encoding of its schema has 175 bits, as in
    the HMPrivBayes paper (Table 1): 50 items of 3, race 4, age 4 (16 bins), engnat, gender and hand 2, source 3, country 8.

    Every row is kept. What happens to odd values depends on that value alone: ages above 100 become the top code 100; an
    empty or broken country becomes "unknown". Raises FileNotFoundError, or ValueError for a file that isn't this table.

    **Privacy:** raw records; the schema comes from the codebook and ISO 3166, not from them.
    """
    frame = read_table("big5", find("big5", path), COLUMNS, ROWS).astype({name: "int64" for name in COLUMNS if name != "country"})
    frame["age"] = frame["age"].clip(upper=AGE[1])
    listed = frame["country"].astype("str")
    frame["country"] = listed.where(listed.isin(COUNTRIES.split()), UNKNOWN)
    _schema().encode(frame)
    return Dataset(frame, _schema(), "big5", "age", "race", SOURCE, LICENCE, note=NOTE)


@cache
def _schema() -> Schema:
    def attribute(name: str) -> Attribute:
        if name == "age":
            return Attribute.numeric(name, *AGE, bins=16, integer=True)
        if name == "country":
            return Attribute.categorical(name, [*COUNTRIES.split(), UNKNOWN])
        return Attribute.categorical(name, range(1, 6) if name == "source" else range(CODES.get(name, 6)))

    return Schema(tuple(attribute(name) for name in COLUMNS))
