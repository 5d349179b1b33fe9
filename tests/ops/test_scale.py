"""scale: Out = scale * X + bias."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    values = x.values if isinstance(x, Rows) else x
    factor = np.reshape(inputs["ScaleTensor"], ()) if "ScaleTensor" in inputs else attrs["scale"]
    if values.dtype.kind == "i":
        factor = int(factor)
    bias = attrs["bias"] if values.dtype.kind == "f" else int(attrs["bias"])
    out = factor * values + bias if attrs["bias_after_scale"] else factor * (values + bias)
    return {"Out": Rows(x.rows, out, x.height) if isinstance(x, Rows) else out}


test_scale = op_tests(
    "scale",
    reference,
    cases={
        "as it is": ({"X": array(3, 4)}, {}),
        "factor": ({"X": array(7, 33)}, {"scale": 2.5}),
        "factor and bias": ({"X": array(3, 4)}, {"scale": -0.5, "bias": 3.0}),
        "bias first": ({"X": array(3, 4)}, {"scale": -0.5, "bias": 3.0, "bias_after_scale": False}),
        "one element": ({"X": array()}, {"scale": 2.0}),
        "no rows": ({"X": array(0, 4)}, {"scale": 2.0, "bias": 1.0}),
        "factor is a tensor": ({"X": array(3, 4), "ScaleTensor": array(1)}, {"scale": 9.0, "bias": 2.0}),
    },
    gradients=["X"],
    values_only={
        "int32": ({"X": ints(3, 4, dtype="int32")}, {"scale": 3.0, "bias": -2.0}),
        "int64": ({"X": ints(3, 4)}, {"scale": 3.0, "bias": -2.0, "bias_after_scale": False}),
        "selected rows": ({"X": Rows([4, 1, 4], array(3, 5), 6)}, {"scale": 0.5}),
        "no selected rows": ({"X": Rows([], array(0, 5), 6)}, {"scale": 0.5}),
    },
    refusals={"two factors": ({"X": array(3), "ScaleTensor": array(2)}, {}, pm.ShapeError, "ScaleTensor [2] one element")},
)
