"""nextafter: out = the number after x, in the direction of y."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op

X = [0.0, -0.0, 1.0, -1.0, 5.0, np.inf, np.nan, 1.0, -3.0]
Y = [1.0, -1.0, 2.0, 1.0, 5.0, 0.0, 1.0, np.nan, -np.inf]

# The harness compares floats with a tolerance, so it can't see a step to a neighbour; the bits are tested below.
test_nextafter = op_tests(
    "nextafter",
    lambda inputs, attrs: {"out": np.nextafter(inputs["x"], inputs["y"])},
    cases={
        "matrix": ({"x": array(3, 4), "y": array(3, 4, seed=1)}, {}),
        "one element": ({"x": array(), "y": array(seed=1)}, {}),
        "nothing": ({"x": array(0, 2), "y": array(0, 2)}, {}),
    },
    refusals={
        "other shape": ({"x": array(3), "y": array(1)}, {}, pm.ShapeError, "x [3] y [1]"),
        "integers": ({"x": ints(2), "y": ints(2)}, {}, pm.Error, "int64"),
    },
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_neighbours(dtype):
    x, y = np.resize(np.array(X, dtype), 37), np.resize(np.array(Y, dtype), 37)
    np.testing.assert_array_equal(run_op("nextafter", {"x": x, "y": y}, {}, ["out"])["out"], np.nextafter(x, y))
