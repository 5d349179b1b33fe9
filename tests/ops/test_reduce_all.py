"""reduce_all: all of X over some axes."""

import numpy as np

from families.reductions import truth_tests
from harness import run_op

test_reduce_all = truth_tests("reduce_all", np.all)


def test_of_nothing():
    found = run_op("reduce_all", {"X": np.zeros((0, 4), bool)})["Out"]
    np.testing.assert_array_equal(found, [True] * 4)


def test_numbers_are_true_unless_zero():
    np.testing.assert_array_equal(run_op("reduce_all", {"X": np.float32([[0, 2], [0, np.nan]])})["Out"], [False, True])
