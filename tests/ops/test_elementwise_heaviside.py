"""elementwise_heaviside: Out = 0 where X < 0, Y where X = 0, else 1."""

import numpy as np

from families.binary import binary_tests
from harness import run_op


def heaviside(x, y):
    return np.where(x == 0, y, (x > 0).astype(x.dtype))


test_elementwise_heaviside = binary_tests("elementwise_heaviside", heaviside)


def test_zero_and_nan():
    x, y = np.array([0.0, -0.0, 1, -1, np.nan]), np.full(5, 0.25)
    np.testing.assert_array_equal(run_op("elementwise_heaviside", {"X": x, "Y": y})["Out"], [0.25, 0.25, 1, 0, 0])
    found = run_op("elementwise_heaviside_grad", {"X": x, "Y": y, "Out@GRAD": y}, {}, ["X@GRAD", "Y@GRAD"])
    np.testing.assert_array_equal(found["X@GRAD"], np.zeros(5))
    np.testing.assert_array_equal(found["Y@GRAD"], [0.25, 0.25, 0, 0, 0])
