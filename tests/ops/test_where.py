"""where: X where Condition holds, Y elsewhere."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.where(inputs["Condition"], inputs["X"], inputs["Y"])}


def condition(*shape):
    return ints(*shape, high=2) > 0


test_where = op_tests(
    "where",
    reference,
    cases={
        "matrix": ({"Condition": condition(3, 4), "X": array(3, 4), "Y": array(3, 4, seed=1)}, {}),
        "nan elsewhere": ({"Condition": np.array([True]), "X": array(1), "Y": np.array([np.nan])}, {}),
        "one element": ({"Condition": np.array(False), "X": array(), "Y": array(seed=1)}, {}),
        "no rows": ({"Condition": condition(0, 4), "X": array(0, 4), "Y": array(0, 4)}, {}),
    },
    values_only={"integers": ({"Condition": condition(5), "X": ints(5), "Y": ints(5, seed=1)}, {})},
    refusals={
        "other shape": ({"Condition": condition(3), "X": array(3), "Y": array(4)}, {}, pm.ShapeError, "X [3] [4]"),
        "other condition": ({"Condition": condition(2), "X": array(3), "Y": array(3)}, {}, pm.ShapeError, "[2] [3]"),
        "other dtype": ({"Condition": condition(3), "X": array(3), "Y": ints(3)}, {}, pm.ShapeError, "Y int64"),
        "no truth": ({"Condition": ints(3), "X": array(3), "Y": array(3)}, {}, pm.ShapeError, "Condition int64"),
    },
)

test_gradient = op_tests(
    "where",
    reference,
    gradients=["X", "Y"],
    cases={
        "matrix": ({"Condition": condition(3, 4), "X": array(3, 4), "Y": array(3, 4, seed=1)}, {}),
        "no rows": ({"Condition": condition(0, 4), "X": array(0, 4), "Y": array(0, 4)}, {}),
    },
)
