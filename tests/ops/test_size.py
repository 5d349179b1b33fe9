"""size: the number of elements."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests

test_size = op_tests(
    "size",
    lambda inputs, attrs: {"Out": np.int64(inputs["Input"].size)},
    cases={
        "matrix": ({"Input": array(3, 4)}, {}),
        "one element": ({"Input": array()}, {}),
        "no rows": ({"Input": array(0, 4)}, {}),
        "truths": ({"Input": ints(5, high=2).astype(bool)}, {}),
    },
    refusals={"selected rows": ({"Input": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "Input selected rows")},
)
