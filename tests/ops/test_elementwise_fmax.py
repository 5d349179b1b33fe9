"""elementwise_fmax: Out = max(X, Y) where both are numbers."""

import numpy as np

from families.binary import binary_tests, each_with_each, integer_cases
from harness import run_op

SPECIAL = [1.0, -1.0, np.inf, -np.inf, np.nan]
test_elementwise_fmax = binary_tests("elementwise_fmax", np.fmax, values_only={**integer_cases(), **each_with_each(SPECIAL)})


def test_ties_and_nan():
    """Where X and Y are equal, or both are NaN, X gets the gradient."""
    nan = np.nan
    inputs = {
        "X": np.array([1.0, 2.0, 3.0, nan, 1.0, nan]),
        "Y": np.array([2.0, 2.0, 2.0, 1.0, nan, nan]),
        "Out@GRAD": np.array([5.0, 6.0, 7.0, 8.0, 9.0, 4.0]),
    }
    found = run_op("elementwise_fmax_grad", inputs, outputs=["X@GRAD", "Y@GRAD"])
    np.testing.assert_array_equal(found["X@GRAD"], [0, 6, 7, 0, 9, 4])
    np.testing.assert_array_equal(found["Y@GRAD"], [5, 0, 0, 8, 0, 0])
