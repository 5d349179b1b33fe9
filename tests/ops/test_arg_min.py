"""arg_min: the index of the smallest element of X along an axis."""

import numpy as np

from families.axes import position_tests
from harness import run_op

test_arg_min = position_tests("arg_min", np.argmin)


def test_nan_comes_first():
    x = np.array([1.0, np.nan, -3.0, np.nan, 5.0])
    assert run_op("arg_min", {"X": x}, {"axis": 0})["Out"] == 1
