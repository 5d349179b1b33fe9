"""abs: Out = |X|."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, integers_of, unary_tests
from harness import run_op

test_abs = unary_tests(
    "abs", np.abs, domain=(-1, 1), special=[*ZEROS, *NOT_FINITE], values_only=integers_of(3, 5), wrong_type=None
)


def test_gradient_at_zero():
    found = run_op("abs_grad", {"X": np.array([-2.0, 0.0, 2.0]), "Out@GRAD": np.array([3.0, 4.0, 5.0])})
    np.testing.assert_array_equal(found["X@GRAD"], [-3, 0, 5])
