"""bmm: Out = X Y for each pair of matrices of two stacks."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.matmul(inputs["X"], inputs["Y"])}


test_bmm = op_tests(
    "bmm",
    reference,
    cases={
        "stacks": ({"X": array(3, 2, 4), "Y": array(3, 4, 5)}, {}),
        "one matrix": ({"X": array(1, 2, 4), "Y": array(1, 4, 5)}, {}),
        "large": ({"X": array(2, 37, 70), "Y": array(2, 70, 41)}, {}),
        "one element": ({"X": array(1, 1, 1), "Y": array(1, 1, 1)}, {}),
        "no matrices": ({"X": array(0, 2, 4), "Y": array(0, 4, 5)}, {}),
        "no rows": ({"X": array(3, 0, 4), "Y": array(3, 4, 5)}, {}),
        "nothing to add": ({"X": array(3, 2, 0), "Y": array(3, 0, 5)}, {}),
    },
    gradients=["X", "Y"],
    refusals={
        "other width": ({"X": array(3, 2, 4), "Y": array(3, 5, 6)}, {}, pm.ShapeError, "X 4 Y 5"),
        "other number of matrices": ({"X": array(1, 2, 4), "Y": array(3, 4, 5)}, {}, pm.ShapeError, "1 3 matrices"),
        "one matrix without a stack": ({"X": array(2, 4), "Y": array(4, 5)}, {}, pm.ShapeError, "X 2 3"),
        "integers": ({"X": ints(1, 3, 4), "Y": ints(1, 4, 5)}, {}, pm.Error, "int64"),
    },
)
