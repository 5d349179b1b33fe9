"""fused_softmax_mask, fused_softmax_mask_upper_triangle: rows of attention that sum to 1, where a mask allows it."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def softmax(x):
    exponents = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    return exponents / exponents.sum(-1, keepdims=True)


def up_to_diagonal(inputs, attrs):
    x = inputs["X"]
    return {"Out": softmax(np.where(np.tri(x.shape[-1], dtype=bool), x, -np.inf))}


def some_hidden(*shape):
    return np.where(array(*shape) > 0.5, -10000.0, 0.0)


test_fused_softmax_mask = op_tests(
    "fused_softmax_mask",
    lambda inputs, attrs: {"Out": softmax(inputs["X"] + inputs["Mask"])},
    cases={
        "heads": ({"X": array(2, 3, 4, 5), "Mask": array(2, 1, 4, 5)}, {}),
        "some hidden": ({"X": array(2, 2, 8, 32), "Mask": some_hidden(2, 1, 8, 32)}, {}),
        "one element": ({"X": array(1, 1, 1, 1), "Mask": array(1, 1, 1, 1)}, {}),
        "no heads": ({"X": array(2, 0, 4, 5), "Mask": array(2, 1, 4, 5)}, {}),
    },
    gradients=["X"],
    refusals={
        "a matrix": ({"X": array(3, 4), "Mask": array(2, 1, 3, 4)}, {}, pm.ShapeError, "X 2 4"),
        "a mask of a matrix": ({"X": array(2, 2, 3, 4), "Mask": array(3, 4)}, {}, pm.ShapeError, "Mask 2 4"),
        "a mask of each head": (
            {"X": array(2, 2, 3, 4), "Mask": array(2, 2, 3, 4)},
            {},
            pm.ShapeError,
            "Mask [2, 2, 3, 4] 1 head",
        ),
        "two types": (
            {"X": array(1, 1, 3, 4), "Mask": array(1, 1, 3, 4).astype("float32")},
            {},
            pm.ShapeError,
            "float32 float64",
        ),
    },
)

test_fused_softmax_mask_upper_triangle = op_tests(
    "fused_softmax_mask_upper_triangle",
    up_to_diagonal,
    cases={
        "heads": ({"X": array(2, 3, 4, 4)}, {}),
        "longer rows": ({"X": array(1, 2, 33, 33)}, {}),
        "one element": ({"X": array(1, 1, 1, 1)}, {}),
        "no rows": ({"X": array(2, 3, 0, 0)}, {}),
    },
    gradients=["X"],
    refusals={
        "a matrix": ({"X": array(3, 3)}, {}, pm.ShapeError, "X 2 4"),
        "not square": ({"X": array(1, 1, 3, 4)}, {}, pm.ShapeError, "X [1, 1, 3, 4] equal"),
    },
)
