"""Every public function of PaddlePaddle: its programs run here with its numbers; docs/compatibility.md says which do not."""

import pytest

import census
import census_calls
from docs_modules import docs_module


@pytest.fixture(scope="module")
def calls(paddle, tmp_path_factory):
    return census.all_calls(paddle, tmp_path_factory.mktemp("names"))


@pytest.mark.parametrize("table", census_calls.TABLES)
def test_functions(paddle, calls, tmp_path, table):
    functions, without = calls[table]
    page = docs_module("make_compatibility")
    section = page.section(table, census.results(paddle, tmp_path, table, functions), without)
    assert section in page.PAGE.read_text(), "run .venv/bin/python docs/make_compatibility.py"
