"""reduce_prod: prod of X over some axes."""

import numpy as np

from extreme_cases import CASES, REFUSALS, check_out_dtype, reference_of
from harness import array, ints, op_tests, run_op

reference = reference_of(np.prod)
test_reduce_prod = op_tests("reduce_prod", reference, cases=CASES, gradients=["X"], refusals=REFUSALS)


def test_of_nothing():
    found = run_op("reduce_prod", {"X": array(0, 4)})["Out"]
    np.testing.assert_array_equal(found, [1.0] * 4)


def test_nan():
    assert np.isnan(run_op("reduce_prod", {"X": np.array([1.0, np.nan, 3.0])})["Out"])


def test_gradient_at_zero():
    """PaddlePaddle divides by the factor."""
    found = run_op("reduce_prod_grad", {"X": np.array([0.0, 2.0]), "Out": np.array(0.0), "Out@GRAD": np.array(1.0)})
    np.testing.assert_array_equal(found["X@GRAD"], [np.nan, 0.0])


test_numbers = op_tests("reduce_prod", reference, cases={"whole numbers": ({"X": ints(3, 4, high=3)}, {})})


def test_out_dtype_does_not_matter():
    check_out_dtype("reduce_prod")
