"""take_along_axis: elements along an axis at the positions in Index."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x, index, axis = inputs["Input"], inputs["Index"].astype("int64"), attrs["Axis"]
    others = [slice(None) if a == axis % x.ndim else slice(size) for a, size in enumerate(index.shape)]
    return {"Result": np.take_along_axis(x[tuple(others)], index, axis=axis)}


test_take_along_axis = op_tests(
    "take_along_axis",
    reference,
    cases={
        "rows": ({"Input": array(5, 3), "Index": ints(7, 3, high=5)}, {}),
        "last axis": ({"Input": array(2, 3, 5), "Index": ints(2, 3, 2, high=5)}, {"Axis": -1}),
        "middle axis": ({"Input": array(2, 3, 5), "Index": ints(2, 4, 5, high=3, dtype="int32")}, {"Axis": 1}),
        "from the end": ({"Input": array(3), "Index": np.array([-1, -3, 2])}, {}),
        "one element": ({"Input": array(1), "Index": np.array([0])}, {}),
        "no rows": ({"Input": array(0, 4), "Index": ints(0, 2)}, {"Axis": 1}),
        "smaller": ({"Input": array(4, 5), "Index": ints(1, 3, high=4)}, {}),
        "smaller, middle axis": ({"Input": array(3, 4, 5), "Index": ints(2, 6, 3, high=4)}, {"Axis": 1}),
        "smaller, last axis": ({"Input": array(3, 4, 5), "Index": ints(1, 2, 7, low=-5, high=5, dtype="int32")}, {"Axis": -1}),
        "smaller, no rows": ({"Input": array(4, 5), "Index": ints(0, 3)}, {"Axis": 1}),
        "no positions": ({"Input": array(3, 4), "Index": ints(3, 0)}, {"Axis": 1}),
    },
    gradients=["Input"],
    values_only={"integers": ({"Input": ints(3, 5), "Index": ints(2, 5, high=3, seed=1)}, {})},
    refusals={
        "too high": ({"Input": array(3), "Index": np.array([0, 3])}, {}, pm.OpError, "3 position 1"),
        "too low": ({"Input": array(3), "Index": np.array([-4])}, {}, pm.OpError, "-4"),
        "more columns": ({"Input": array(2, 3), "Index": ints(2, 4)}, {}, pm.ShapeError, "Index [2, 4] [2, 3]"),
        "fewer dimensions": ({"Input": array(2, 3), "Index": ints(2)}, {}, pm.ShapeError, "Index [2] [2, 3]"),
        "a number": ({"Input": array(), "Index": np.array(0)}, {}, pm.ShapeError, "axis 0"),
        "no such axis": ({"Input": array(3), "Index": np.array([0])}, {"Axis": 1}, pm.ShapeError, "axis 1"),
    },
)
