"""unsqueeze2: X with new axes of one element."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    for axis in attrs["axes"]:
        x = np.expand_dims(x, axis)
    return {"Out": x}


test_unsqueeze2 = op_tests(
    "unsqueeze2",
    reference,
    cases={
        "front": ({"X": array(3, 4)}, {"axes": [0]}),
        "end": ({"X": array(3, 4)}, {"axes": [-1]}),
        "several": ({"X": array(3, 4)}, {"axes": [1, 0, 4]}),
        "none": ({"X": array(3, 4)}, {}),
        "one element": ({"X": array()}, {"axes": [0, 1]}),
        "no rows": ({"X": array(0, 4)}, {"axes": [1]}),
    },
    gradients=["X"],
    unchecked=["XShape"],
    refusals={
        "no such axis": ({"X": array(3)}, {"axes": [2]}, pm.ShapeError, "axes 2"),
        "too many": ({"X": array(3)}, {"axes": [0] * 9}, pm.ShapeError, ""),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
    },
)

test_kinds = op_tests(
    "unsqueeze2",
    reference,
    unchecked=["XShape"],
    cases={dtype: ({"X": ints(3, 1, 4, high=2).astype(dtype)}, {}) for dtype in ("bool", "uint8", "int64")},
)


def test_x_shape():
    """XShape has no data; it carries X's shape to the gradient."""
    found = run_op("unsqueeze2", {"X": array(3, 1)}, {}, outputs=["Out", "XShape"])
    assert found["XShape"].shape == (0, 3, 1)
