"""reduce_max: max of X over some axes."""

import numpy as np

from extreme_cases import check_nan, check_of_nothing, check_out_dtype, extreme_tests, whole_number_tests
from harness import run_op

test_reduce_max = extreme_tests("reduce_max", np.max)
test_numbers = whole_number_tests("reduce_max", np.max)


def test_of_nothing():
    check_of_nothing("reduce_max")


def test_nan():
    check_nan("reduce_max")


def test_every_extreme_gets_the_gradient():
    found = run_op("reduce_max_grad", {"X": np.array([2.0, 2.0]), "Out": np.array(2.0), "Out@GRAD": np.array(3.0)})
    np.testing.assert_array_equal(found["X@GRAD"], [3.0, 3.0])


def test_out_dtype_does_not_matter():
    check_out_dtype("reduce_max")
