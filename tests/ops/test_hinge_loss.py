"""hinge_loss: Loss = max(0, 1 - Logits (2 Labels - 1))."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Loss": np.maximum(1 - inputs["Logits"] * (2 * inputs["Labels"] - 1), 0)}


def pair(*shape):
    return {"Logits": array(*shape, low=-3, high=3), "Labels": ints(*shape, high=2).astype("float64")}


test_hinge_loss = op_tests(
    "hinge_loss",
    reference,
    cases={"column": (pair(40, 1), {}), "one element": (pair(), {}), "no rows": (pair(0, 1), {})},
    gradients=["Logits"],
    refusals={
        "another shape": ({"Logits": array(3, 1), "Labels": array(4, 1)}, {}, pm.ShapeError, "Logits [3, 1] Labels [4, 1]"),
        "int labels": ({"Logits": array(3, 1), "Labels": ints(3, 1)}, {}, pm.ShapeError, "Labels int64"),
    },
)
