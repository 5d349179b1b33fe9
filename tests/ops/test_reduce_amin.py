"""reduce_amin: min of X over some axes."""

import numpy as np

from families.reductions import check_equal_extremes, check_nan, check_of_nothing, check_out_dtype, folding_tests

test_reduce_amin = folding_tests("reduce_amin", np.min)


def test_of_nothing():
    check_of_nothing("reduce_amin")


def test_nan():
    check_nan("reduce_amin")


def test_equal_extremes_share_the_gradient():
    check_equal_extremes("reduce_amin", [1.5, 1.5])


def test_out_dtype_does_not_matter():
    check_out_dtype("reduce_amin")
