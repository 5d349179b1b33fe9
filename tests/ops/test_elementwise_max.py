"""elementwise_max: Out = max(X, Y)."""

import numpy as np

from families.binary import binary_tests
from harness import run_op

test_elementwise_max = binary_tests("elementwise_max", np.maximum)


def test_ties():
    """Where X and Y are equal, Y gets the gradient."""
    inputs = {"X": np.array([1.0, 2.0, 3.0]), "Y": np.array([2.0, 2.0, 2.0]), "Out@GRAD": np.array([5.0, 6.0, 7.0])}
    found = run_op("elementwise_max_grad", inputs, outputs=["X@GRAD", "Y@GRAD"])
    np.testing.assert_array_equal(found["X@GRAD"], [0, 0, 7])
    np.testing.assert_array_equal(found["Y@GRAD"], [5, 6, 0])


def test_nan():
    nan = np.nan
    for n in (3, 40):
        x, y = np.resize([nan, 1.0, nan], n), np.resize([1.0, nan, nan], n)
        assert np.isnan(run_op("elementwise_max", {"X": x, "Y": y})["Out"]).all()
