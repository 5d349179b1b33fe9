"""top_k: the k largest elements along the last axis and their indices."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    if x.ndim == 0:
        return {"Out": x, "Indices": np.int64(0)}
    order = np.argsort(-x, axis=-1, kind="stable")[..., : attrs["k"]]
    return {"Out": np.take_along_axis(x, order, axis=-1), "Indices": order.astype("int64")}


test_top_k = op_tests(
    "top_k",
    reference,
    cases={
        "best": ({"X": array(3, 7)}, {}),
        "three": ({"X": array(2, 3, 7)}, {"k": 3}),
        "all": ({"X": array(7)}, {"k": 7}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {"k": 2}),
    },
    gradients=["X"],
    refusals={
        "k too large": ({"X": array(3, 4)}, {"k": 5}, pm.ShapeError, "k 5 4"),
        "no k": ({"X": array(3, 4)}, {"k": 0}, pm.ProgramError, "k 0"),
        "integers": ({"X": ints(3, 4)}, {}, pm.ShapeError, "int64"),
    },
)


def test_equal_elements_in_order_of_index():
    found = run_op("top_k", {"X": np.zeros((2, 6), "float32")}, {"k": 3})
    np.testing.assert_array_equal(found["Indices"], [range(3)] * 2)
