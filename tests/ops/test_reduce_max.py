"""reduce_max: max of X over some axes."""

import numpy as np

from families.reductions import check_equal_extremes, check_nan, check_of_nothing, check_out_dtype, folding_tests

test_reduce_max = folding_tests("reduce_max", np.max)


def test_of_nothing():
    check_of_nothing("reduce_max")


def test_nan():
    check_nan("reduce_max")


def test_every_extreme_gets_the_gradient():
    check_equal_extremes("reduce_max", [3.0, 3.0])


def test_out_dtype_does_not_matter():
    check_out_dtype("reduce_max")
