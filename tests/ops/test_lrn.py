"""lrn: Out = X / (k + alpha sum of X^2 over n neighbouring channels)^beta."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    k, alpha, beta = (np.float64(np.float32(attrs[name])) for name in ("k", "alpha", "beta"))
    last = attrs["data_format"] == "NHWC"
    x = np.moveaxis(inputs["X"], -1, 1) if last else inputs["X"]
    reach, middle = attrs["n"] // 2, np.zeros_like(x)
    for c in range(x.shape[1]):
        middle[:, c] = k + alpha * (x[:, max(c - reach, 0) : c + reach + 1] ** 2).sum(axis=1)
    found = {"Out": x * middle**-beta, "MidOut": middle}
    return {port: np.moveaxis(value, 1, -1) if last else value for port, value in found.items()}


STRONG = {"k": 1.0, "alpha": 0.5}
test_lrn = op_tests(
    "lrn",
    reference,
    cases={
        "images": ({"X": array(2, 7, 3, 4)}, {}),
        "strong": ({"X": array(2, 7, 3, 4)}, STRONG),
        "three": ({"X": array(2, 7, 3, 4)}, {"n": 3, "beta": 0.5, **STRONG}),
        "more neighbours than channels": ({"X": array(2, 3, 2, 2)}, {"n": 2**31 - 1, **STRONG}),
        "channels last": ({"X": array(2, 3, 4, 7)}, {"data_format": "NHWC", **STRONG}),
        "one element": ({"X": array(1, 1, 1, 1)}, {"n": 1, **STRONG}),
        "no images": ({"X": array(0, 7, 3, 4)}, {}),
        "no channels": ({"X": array(2, 0, 3, 4)}, {}),
    },
    gradients=["X"],
    gradient_of=["Out"],
    refusals={
        "three axes": ({"X": array(2, 7, 3)}, {}, pm.ShapeError, "X 3 4"),
        "even": ({"X": array(2, 7, 3, 4)}, {"n": 4}, pm.ProgramError, "n 4 odd"),
        "negative": ({"X": array(2, 7, 3, 4)}, {"n": -3}, pm.ProgramError, "n -3"),
        "negative alpha": ({"X": array(2, 7, 3, 4)}, {"alpha": -1.0}, pm.ProgramError, "alpha -1"),
    },
)
