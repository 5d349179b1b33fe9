"""arg_max: the index of the largest element of X along an axis."""

import numpy as np

from families.axes import position_tests
from harness import run_op

test_arg_max = position_tests("arg_max", np.argmax)


def test_nan_comes_first():
    x = np.array([1.0, np.nan, -3.0, np.nan, 5.0])
    assert run_op("arg_max", {"X": x}, {"axis": 0})["Out"] == 1
