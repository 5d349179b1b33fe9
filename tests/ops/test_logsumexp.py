"""logsumexp: Out = log of the sum of exp(X) over some axes."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    axes = tuple(attrs["axis"]) if x.ndim and attrs["axis"] and not attrs["reduce_all"] else None
    with np.errstate(divide="ignore"):
        return {"Out": np.asarray(np.log(np.exp(x).sum(axis=axes, keepdims=attrs["keepdim"])))}


test_logsumexp = op_tests(
    "logsumexp",
    reference,
    cases={
        "first axis": ({"X": array(3, 4)}, {}),
        "last axis": ({"X": array(3, 40)}, {"axis": [-1]}),
        "two axes": ({"X": array(2, 3, 4)}, {"axis": [0, 2]}),
        "kept": ({"X": array(2, 3, 4)}, {"axis": [1], "keepdim": True}),
        "all": ({"X": array(2, 3, 4)}, {"reduce_all": True}),
        "all kept": ({"X": array(2, 3)}, {"axis": [], "keepdim": True}),
        "number": ({"X": array()}, {}),
        "one element": ({"X": array(1)}, {}),
        "no columns": ({"X": array(3, 0)}, {}),
    },
    gradients=["X"],
    refusals={
        "no such axis": ({"X": array(3, 4)}, {"axis": [2]}, pm.ShapeError, "dim 2"),
        "integers": ({"X": ints(3, 4)}, {}, pm.Error, "int64"),
    },
)

test_nothing = op_tests("logsumexp", reference, {"empty sums": ({"X": array(0, 3)}, {})})


def test_large_numbers_do_not_overflow():
    x = np.array([[1000.0, -1000.0, np.inf, -np.inf], [1000.0, -1000.0, 1.0, -np.inf]], np.float32)
    expected = [1000 + np.log(2), -1000 + np.log(2), np.inf, -np.inf]
    np.testing.assert_allclose(run_op("logsumexp", {"X": x})["Out"], expected, rtol=1e-6)
