"""bincount: how often each number occurs."""

import numpy as np

import paddle_mini as pm
from harness import op_tests, run_op

X = {"X": np.array([1, 2, 1, 5])}
WEIGHTS = np.array([0.5, 1.0, 2.0, -1.0])


def reference(inputs, attrs):
    weights = inputs.get("Weights")
    out = np.bincount(inputs["X"], weights, attrs["minlength"])
    return {"Out": out if weights is None or weights.dtype.kind == "f" else out.astype("float64")}


test_bincount = op_tests(
    "bincount",
    reference,
    cases={
        "counts": (X, {}),
        "int32": ({"X": X["X"].astype("int32")}, {}),
        "longer": (X, {"minlength": 9}),
        "weights": ({**X, "Weights": WEIGHTS}, {}),
        "one element": ({"X": np.array([0])}, {}),
        "no elements": ({"X": np.zeros(0, "int64")}, {"minlength": 3}),
    },
    open_shapes=True,
    refusals={
        "negative": ({"X": np.array([1, -1])}, {}, pm.OpError, "-1 element 1"),
        "matrix": ({"X": np.array([[1]])}, {}, pm.ShapeError, "X 2 1"),
        "other weights": ({**X, "Weights": WEIGHTS[:2]}, {}, pm.ShapeError, "Weights [2] [4]"),
        "huge": ({"X": np.array([1 << 50])}, {}, pm.OpError, "element 0"),
    },
)


def test_weights_of_integers_are_added_as_float64():
    for dtype in ("int32", "int64"):
        out = run_op("bincount", {**X, "Weights": np.array([1, 2, 3, 4], dtype)})["Out"]
        assert out.dtype == "float64"
        np.testing.assert_array_equal(out, [0, 4, 2, 0, 0, 4])
