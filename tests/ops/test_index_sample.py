"""index_sample: elements of each row at the positions in Index."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.take_along_axis(inputs["X"], inputs["Index"].astype("int64"), axis=1)}


test_index_sample = op_tests(
    "index_sample",
    reference,
    cases={
        "rows": ({"X": array(3, 5), "Index": ints(3, 7, high=5)}, {}),
        "int32": ({"X": array(3, 5), "Index": ints(3, 2, high=5, dtype="int32")}, {}),
        "one element": ({"X": array(1, 1), "Index": np.array([[0]])}, {}),
        "no rows": ({"X": array(0, 4), "Index": ints(0, 2)}, {}),
        "no positions": ({"X": array(3, 4), "Index": ints(3, 0)}, {}),
    },
    gradients=["X"],
    values_only={"integers": ({"X": ints(3, 5), "Index": ints(3, 4, high=5, seed=1)}, {})},
    refusals={
        "too high": ({"X": array(1, 3), "Index": np.array([[0, 3]])}, {}, pm.OpError, "3 position 1"),
        "negative": ({"X": array(1, 3), "Index": np.array([[-1]])}, {}, pm.OpError, "-1"),
        "other rows": ({"X": array(2, 3), "Index": np.array([[1]])}, {}, pm.ShapeError, "Index [1, 1] [2, 3]"),
        "a list": ({"X": array(3), "Index": np.array([1])}, {}, pm.ShapeError, "X 1 2"),
        "float positions": ({"X": array(1, 3), "Index": array(1, 2)}, {}, pm.ShapeError, "Index float64"),
    },
)
