"""cumprod: Out[j] = the product of X up to j along an axis."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    return {"Out": np.cumprod(x, axis=attrs["dim"]) if x.ndim else x}


def with_zeros(*places):
    x = array(4, 6)
    for i, j in places:
        x[i, j] = 0
    return {"X": x}


test_cumprod = op_tests(
    "cumprod",
    reference,
    cases={
        "rows": ({"X": array(3, 4)}, {"dim": 0}),
        "columns": ({"X": array(3, 4)}, {"dim": -1}),
        "middle": ({"X": array(2, 3, 4)}, {"dim": 1}),
        "zeros": (with_zeros((0, 0), (1, 2), (2, 1), (2, 4), (3, 5)), {"dim": 1}),
        "number": ({"X": array()}, {"dim": 0}),
        "one element": ({"X": array(1)}, {"dim": 0}),
        "no rows": ({"X": array(0, 4)}, {"dim": 0}),
        "no columns": ({"X": array(3, 0)}, {"dim": 0}),
    },
    gradients=["X"],
    values_only={"int64": ({"X": ints(3, 4)}, {"dim": 1})},
    refusals={
        "no such axis": ({"X": array(3, 4)}, {"dim": 2}, pm.ShapeError, "axis 2"),
        "no axis": ({"X": array(3, 4)}, {}, pm.ProgramError, "dim"),
    },
)
