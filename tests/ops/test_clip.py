"""clip: Out = min(max(X, low), high)."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    low = np.reshape(inputs.get("Min", attrs["min"]), ())
    high = np.reshape(inputs.get("Max", attrs["max"]), ())
    if not isinstance(x, Rows):
        return {"Out": np.clip(x, low, high).astype(x.dtype)}
    touched = sorted(set(x.rows))
    return {"Out": Rows(touched, np.clip(x.dense()[touched], low, high), x.height)}


HALF = {"min": -0.5, "max": 0.5}

test_clip = op_tests(
    "clip",
    reference,
    cases={
        "matrix": ({"X": array(3, 4)}, HALF),
        "long": ({"X": array(1003)}, HALF),
        "bounds are tensors": ({"X": array(3, 4), "Min": np.array([-0.25]), "Max": np.array(0.75)}, HALF),
        "one bound is a tensor": ({"X": array(3, 4), "Max": np.array(0.75)}, HALF),
        "one element": ({"X": array()}, HALF),
        "no rows": ({"X": array(0, 4)}, HALF),
    },
    gradients=["X"],
    values_only={
        "int32": ({"X": ints(5, 7, dtype="int32")}, {"min": 2.0, "max": 6.0}),
        "int64": ({"X": ints(5, 7)}, {"min": 2.0, "max": 6.0}),
        "integers without bounds": ({"X": ints(5, 7)}, {"min": -3.4e38, "max": 3.4e38}),
        "nan and infinity": ({"X": np.resize([np.nan, np.inf, -np.inf, 0.0], 37)}, HALF),
        "selected rows": ({"X": Rows([4, 1, 4], array(3, 5), 6)}, HALF),  # the sum 4 of both rows is clipped
    },
    refusals={
        "bounds in the wrong order": ({"X": array(3)}, {"min": 1.0, "max": 0.0}, pm.ProgramError, "min 1 max 0"),
        "tensors in the wrong order": ({"X": array(3), "Min": np.array(1.0)}, HALF, pm.OpError, "lower bound 1 0.5"),
        "two bounds": ({"X": array(3), "Min": array(2)}, HALF, pm.ShapeError, "Min [2] one element"),
        "no bounds": ({"X": array(3)}, {}, pm.ProgramError, "min missing"),
    },
)


def test_the_gradient_passes_strictly_inside():
    inputs = {"X": np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), "Out@GRAD": np.full(5, 3.0)}
    found = run_op("clip_grad", inputs, {"min": -1.0, "max": 1.0})["X@GRAD"]
    np.testing.assert_array_equal(found, [0, 0, 3, 0, 0])
