"""reduce_prod: prod of X over some axes."""

import numpy as np

from families.reductions import check_nan, check_out_dtype, folding_tests
from harness import array, run_op

test_reduce_prod = folding_tests("reduce_prod", np.prod)


def test_of_nothing():
    found = run_op("reduce_prod", {"X": array(0, 4)})["Out"]
    np.testing.assert_array_equal(found, [1.0] * 4)


def test_nan():
    check_nan("reduce_prod")


def test_gradient_at_zero():
    """PaddlePaddle divides by the factor."""
    found = run_op("reduce_prod_grad", {"X": np.array([0.0, 2.0]), "Out": np.array(0.0), "Out@GRAD": np.array(1.0)})
    np.testing.assert_array_equal(found["X@GRAD"], [np.nan, 0.0])


def test_out_dtype_does_not_matter():
    check_out_dtype("reduce_prod")
