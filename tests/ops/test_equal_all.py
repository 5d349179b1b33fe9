"""equal_all: whether two tensors are equal everywhere."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op

test_equal_all = op_tests(
    "equal_all",
    lambda inputs, attrs: {"Out": np.bool_(np.array_equal(inputs["X"], inputs["Y"]))},
    cases={
        "equal": ({"X": array(3, 4), "Y": array(3, 4)}, {}),
        "different": ({"X": array(3, 4), "Y": array(3, 4, seed=1)}, {}),
        "other shape": ({"X": np.zeros((3, 4)), "Y": np.zeros((4, 3))}, {}),
        "one element": ({"X": array(), "Y": array()}, {}),
        "no rows": ({"X": array(0, 4), "Y": array(0, 4)}, {}),
        "no rows, other shape": ({"X": array(0, 4), "Y": array(0, 3)}, {}),
        "integers": ({"X": ints(5), "Y": ints(5)}, {}),
        "truths": ({"X": np.array([True, False]), "Y": np.array([True, True])}, {}),
    },
    refusals={"other type": ({"X": array(3), "Y": ints(3)}, {}, pm.ShapeError, "float64 int64")},
)


@pytest.mark.parametrize(
    "x, y, equal",
    [
        (1.0, 1.0 + 9e-9, True),
        (1.0, 1.0 + 2e-8, False),
        (np.nan, np.nan, False),
        (np.inf, np.inf, True),
        (np.inf, -np.inf, False),
    ],
)
def test_nearly_equal(x, y, equal):
    assert run_op("equal_all", {"X": np.array([x]), "Y": np.array([y])})["Out"] == equal
