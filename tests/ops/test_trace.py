"""trace: Out = the sums of diagonals."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x, offset = inputs["Input"], int(np.clip(attrs["offset"], -100, 100))
    return {"Out": np.asarray(np.trace(x, offset, attrs["axis1"], attrs["axis2"]))}


test_trace = op_tests(
    "trace",
    reference,
    cases={
        "matrix": ({"Input": array(4, 4)}, {}),
        "wide": ({"Input": array(3, 5)}, {"offset": 1}),
        "tall": ({"Input": array(5, 3)}, {"offset": -3}),
        "outside": ({"Input": array(3, 5)}, {"offset": 2**31 - 1}),
        "outside below": ({"Input": array(3, 5)}, {"offset": -(2**31)}),
        "stack": ({"Input": array(2, 3, 4)}, {"axis1": -2, "axis2": -1}),
        "axes the other way round": ({"Input": array(2, 3, 4)}, {"axis1": 2, "axis2": 0, "offset": 1}),
        "deep stack": ({"Input": array(2, 3, 4, 5)}, {"axis1": 1, "axis2": 3, "offset": -1}),
        "one element": ({"Input": array(1, 1)}, {}),
        "no rows": ({"Input": array(0, 4)}, {}),
        "no matrices": ({"Input": array(0, 3, 4)}, {"axis1": 1, "axis2": 2}),
    },
    gradients=["Input"],
    values_only={"int64": ({"Input": ints(3, 3)}, {})},
    refusals={
        "vector": ({"Input": array(4)}, {}, pm.ShapeError, "Input [4] 2"),
        "one axis": ({"Input": array(4, 4)}, {"axis1": 0, "axis2": -2}, pm.ShapeError, "axis1 axis2 0"),
        "no such axis": ({"Input": array(4, 4)}, {"axis2": 2}, pm.ShapeError, "axis2 2"),
    },
)
