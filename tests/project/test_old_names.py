"""Names that a released notebook could have used give a sentence with the new one."""

import pytest

import pdsynth

LINES = {
    "from pdsynth import panels": "pdsynth.course.panels",
    "from pdsynth.panels.hpprivbayes import ledger_summary": "pdsynth.course.panels",
    "from pdsynth.lessons import lesson_07": "pdsynth.course.exercises",
    "from pdsynth.mechanisms import ExactNoise": "pdsynth.privacy.mechanisms",
    "from pdsynth.ledger import histogram_cost": "pdsynth.privacy.ledger",
    "from pdsynth.encoding import BinaryEncoding": "pdsynth.domain.encoding",
    "from pdsynth.partition import affinity": "pdsynth.structure.clustering",
    "from pdsynth.synthesizers.groups import TwoGroups": "SensitivityGroups",
    "from pdsynth.structure import Usefulness": "MaxCells",
    "from pdsynth.structure import exact": "exact_search",
    "import pdsynth; pdsynth.price": "plan(schema, n, epsilon).price",
    "import pdsynth; pdsynth.BudgetDegenerate": "pdsynth.errors.BudgetDegenerate",
    "import pdsynth.counts": "pdsynth.counting.tables",
}


@pytest.mark.parametrize("line", LINES)
def test_an_old_name_says_the_new_one(line):
    with pytest.raises((ImportError, AttributeError)) as found:
        exec(line, {})
    assert LINES[line] in str(found.value)


def test_attributes_of_the_package_too():
    with pytest.raises(ImportError, match=r"course\.panels"):
        pdsynth.panels  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        pdsynth.nonsense  # noqa: B018
