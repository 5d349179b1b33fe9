"""bilinear_tensor_product: Out[b, s] = X[b] Weight[s] Y[b]' + Bias[s]."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    out = np.einsum("bm,smn,bn->bs", inputs["X"], inputs["Weight"], inputs["Y"])
    return {"Out": out + inputs.get("Bias", 0.0)}


def four(batch, m, n, size):
    return {
        "X": array(batch, m),
        "Y": array(batch, n, seed=1),
        "Weight": array(size, m, n, seed=2),
        "Bias": array(1, size, seed=3),
    }


def without_bias(inputs):
    return {port: value for port, value in inputs.items() if port != "Bias"}


test_bilinear_tensor_product = op_tests(
    "bilinear_tensor_product",
    reference,
    cases={
        "batch": (four(5, 4, 3, 6), {}),
        "wide": (four(2, 20, 30, 3), {}),
        "one element": (four(1, 1, 1, 1), {}),
        "no rows": (four(0, 4, 3, 6), {}),
        "no width": (four(5, 0, 3, 6), {}),
        "no size": (four(5, 4, 3, 0), {}),
    },
    gradients=["X", "Y", "Weight", "Bias"],
    refusals={
        "other width": ({**four(5, 4, 3, 6), "X": array(5, 2)}, {}, pm.ShapeError, "Weight X [5, 2]"),
        "other batch": ({**four(5, 4, 3, 6), "Y": array(4, 3)}, {}, pm.ShapeError, "5 4 rows"),
        "other bias": ({**four(5, 4, 3, 6), "Bias": array(6)}, {}, pm.ShapeError, "Bias [6] [1, 6]"),
        "matrix Weight": ({**four(5, 4, 3, 6), "Weight": array(4, 3)}, {}, pm.ShapeError, "Weight 2 3"),
    },
)

test_without_bias = op_tests(
    "bilinear_tensor_product", reference, {"batch": (without_bias(four(5, 4, 3, 6)), {})}, ["X", "Y", "Weight"]
)
