"""reduce_min: min of X over some axes."""

import numpy as np

from families.reductions import check_equal_extremes, check_nan, check_of_nothing, check_out_dtype, folding_tests

test_reduce_min = folding_tests("reduce_min", np.min)


def test_of_nothing():
    check_of_nothing("reduce_min")


def test_nan():
    check_nan("reduce_min")


def test_every_extreme_gets_the_gradient():
    check_equal_extremes("reduce_min", [3.0, 3.0])


def test_out_dtype_does_not_matter():
    check_out_dtype("reduce_min")
