"""flatten2: X as a matrix."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    rows = int(np.prod(x.shape[: attrs["axis"]])) if attrs["axis"] else 1
    columns = int(np.prod(x.shape[attrs["axis"] :])) if attrs["axis"] < x.ndim else 1
    return {"Out": x.reshape(rows, columns)}


test_flatten2 = op_tests(
    "flatten2",
    reference,
    cases={
        "first axis": ({"X": array(3, 4, 5)}, {}),
        "negative": ({"X": array(3, 4, 5)}, {"axis": -1}),
        "one row": ({"X": array(3, 4)}, {"axis": 0}),
        "one column": ({"X": array(3, 4)}, {"axis": 2}),
        "one element": ({"X": array()}, {"axis": 0}),
        "no rows": ({"X": array(0, 4, 2)}, {"axis": 2}),
    },
    gradients=["X"],
    unchecked=["XShape"],
    refusals={
        "no such axis": ({"X": array(3)}, {"axis": 2}, pm.ShapeError, "axis 2"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
    },
)

test_kinds = op_tests(
    "flatten2",
    reference,
    unchecked=["XShape"],
    cases={dtype: ({"X": ints(3, 1, 4, high=2).astype(dtype)}, {}) for dtype in ("bool", "uint8", "int64")},
)


def test_x_shape():
    """XShape has no data; it carries X's shape to the gradient."""
    found = run_op("flatten2", {"X": array(3, 1)}, {}, outputs=["Out", "XShape"])
    assert found["XShape"].shape == (0, 3, 1)
