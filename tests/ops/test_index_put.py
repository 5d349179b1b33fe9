"""index_put: values at the positions that tensors name."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    out = inputs["x"].copy()
    at = tuple(one if one.dtype == bool else one.astype("int64") for one in inputs["indices"])
    if attrs["accumulate"]:
        np.add.at(out, at, inputs["value"])
    else:
        out[at] = inputs["value"]
    return {"out": out}


X = array(3, 4)
ROWS = np.array([0, 2])
PAIRS = [np.array([0, -1]), np.array([1, 0], "int32")]
MASK = np.array([[True, False, False, True], [False] * 4, [True, True, False, False]])
ADD = {"accumulate": True}

test_index_put = op_tests(
    "index_put",
    reference,
    cases={
        "elements": ({"x": X, "indices": PAIRS, "value": array(2)}, {}),
        "rows": ({"x": X, "indices": [ROWS], "value": array(2, 4)}, {}),
        "one row for all": ({"x": X, "indices": [ROWS], "value": array(4)}, {}),
        "one number": ({"x": X, "indices": [ROWS], "value": array(1)}, {}),
        "a grid": ({"x": X, "indices": [np.array([[0], [2]]), np.array([1, 3, 0])], "value": array(2, 3)}, {}),
        "added": ({"x": X, "indices": [np.array([1, 1, 0])], "value": array(3, 4)}, ADD),
        "mask": ({"x": X, "indices": [MASK], "value": array(4)}, {}),
        "mask of rows": ({"x": X, "indices": [np.array([True, False, True])], "value": array(2, 4)}, ADD),
        "one element": ({"x": array(1), "indices": [np.array([0])], "value": array(1)}, {}),
        "no positions": ({"x": X, "indices": [np.zeros(0, "int64")], "value": array(0, 4)}, {}),
        "no columns": ({"x": array(3, 0), "indices": [ROWS], "value": array(2, 0)}, {}),
    },
    gradients=["x", "value"],
    values_only={
        "the last value remains": ({"x": X, "indices": [np.array([1, 1])], "value": array(2, 4)}, {}),
        "int64": ({"x": ints(3, 4), "indices": [ROWS], "value": ints(4)}, ADD),
        "bool": ({"x": MASK, "indices": [ROWS], "value": np.array([True])}, {}),
    },
    refusals={
        "too high": ({"x": X, "indices": [np.array([3])], "value": array(1)}, {}, pm.OpError, "3 x 2"),
        "too low": ({"x": X, "indices": [np.array([-4])], "value": array(1)}, {}, pm.OpError, "-4"),
        "other value": ({"x": X, "indices": [ROWS], "value": array(3)}, {}, pm.ShapeError, "[2, 4] [3]"),
        "too many": ({"x": array(3), "indices": PAIRS, "value": array(2)}, {}, pm.ShapeError, "indices 2 x [3]"),
        "other mask": ({"x": X, "indices": [MASK.T], "value": array(1)}, {}, pm.ShapeError, "mask [4, 3] [3, 4]"),
        "other indices": (
            {"x": X, "indices": [np.zeros(2, "int64"), np.zeros(3, "int64")], "value": array(1)},
            {},
            pm.ShapeError,
            "[2] [3]",
        ),
        "floats": ({"x": X, "indices": [array(2)], "value": array(1)}, {}, pm.ShapeError, "indices[0] float"),
    },
)
