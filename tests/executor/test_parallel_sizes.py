"""tests/parallel_sizes.json, which the documentation shows, says what the kernels do."""

import json

import pytest

from parallel_sizes import FILE, measured, size_of
from thorough import some

STORED = json.loads(FILE.read_text())


def test_all_operators_are_listed():
    assert sorted(STORED) == list(measured()), "run .venv/bin/python docs/make_operators.py"


@pytest.mark.parametrize("op_type", some(sorted(STORED), 4))
def test_size(op_type):
    found, stored = size_of(op_type), STORED[op_type]
    message = f"{op_type}: {found}, not {stored}; run PYTHONPATH=tests .venv/bin/python tests/parallel_sizes.py {op_type}"
    if isinstance(stored, bool) or isinstance(found, bool):
        assert found is stored, message
    else:  # the expected time of some loops depends on the width of the CPU's registers
        assert stored / 3 < found < stored * 3, message
