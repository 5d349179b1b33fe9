"""shape: the dimensions of Input."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.array(inputs["Input"].shape, "int32")}


test_shape = op_tests(
    "shape",
    reference,
    cases={
        "matrix": ({"Input": array(3, 4)}, {}),
        "integers": ({"Input": ints(2)}, {}),
        "one element": ({"Input": array()}, {}),
        "no rows": ({"Input": array(0, 4)}, {}),
    },
    refusals={"selected rows": ({"Input": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "Input selected rows")},
)
