"""Whatever a fit leaves behind under a name with an underscore stands in an Attributes section."""

import inspect
import re

import pytest
from contract_cases import ALGORITHMS, binary, make


def documented(cls):
    """Names in the Attributes sections of a class and its base classes."""
    found = set()
    for base in cls.__mro__:
        text = inspect.getdoc(base) if "__doc__" in vars(base) else ""
        section = re.search(r"^Attributes\n-+\n(.*?)(?=\n\n)", text or "", re.MULTILINE | re.DOTALL)
        found |= set(re.findall(r"\b(\w+_)(?!\w)", section.group(1))) if section else set()
    return found


@pytest.mark.parametrize("guarantee", ["strict", "published"])
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.filterwarnings("ignore")
def test_every_fitted_attribute_is_documented(name, guarantee):
    frame, schema = binary()
    fitted = make(name, schema, epsilon=20, guarantee=guarantee).fit(frame, schema)
    left = {key for key in vars(fitted) if key.endswith("_") and not key.startswith("_")}
    assert left and left <= documented(type(fitted))


def test_twin_an_attribute_that_nobody_documents_is_found():
    class Quiet(ALGORITHMS["PrivBayes"]):
        """Nothing said."""

    assert "secret_" not in documented(Quiet)
    assert "ledger_" in documented(Quiet)


def test_an_attribute_before_fit_says_what_to_do():
    with pytest.raises(AttributeError, match=r"no 'ledger_': call fit"):
        ALGORITHMS["PrivBayes"]().ledger_  # noqa: B018
