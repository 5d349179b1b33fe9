"""Every feature works; those that do not exist are listed here."""

import pytest

from features.report import outcome
from features.rows import ROWS
from thorough import some

# runner.py of the golden tests leaves closing its files to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
MAY_BE_MISSING: set[int] = set()


def test_the_table_has_all_rows():
    assert sorted(ROWS) == list(range(1, 33))


@pytest.mark.parametrize("number", some(sorted(ROWS), 2))
def test_feature(number, tmp_path):
    found = outcome(number, tmp_path)
    assert found == "yes" or (number in MAY_BE_MISSING and len(found) > len("no: ")), found
