"""reduce_amax: max of X over some axes."""

import numpy as np

from families.reductions import check_equal_extremes, check_nan, check_of_nothing, check_out_dtype, folding_tests

test_reduce_amax = folding_tests("reduce_amax", np.max)


def test_of_nothing():
    check_of_nothing("reduce_amax")


def test_nan():
    check_nan("reduce_amax")


def test_equal_extremes_share_the_gradient():
    check_equal_extremes("reduce_amax", [1.5, 1.5])


def test_out_dtype_does_not_matter():
    check_out_dtype("reduce_amax")
