"""is_empty: whether a tensor has 0 elements."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests

test_is_empty = op_tests(
    "is_empty",
    lambda inputs, attrs: {"Out": np.bool_(inputs["X"].size == 0)},
    cases={
        "matrix": ({"X": array(3, 4)}, {}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "no columns": ({"X": ints(4, 0)}, {}),
    },
    refusals={"selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows")},
)
