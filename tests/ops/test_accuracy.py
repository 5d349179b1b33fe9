"""accuracy: the fraction of rows whose label is among their k best indices."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    indices, label = inputs["Indices"], inputs["Label"].reshape(-1, 1)
    correct = int((indices == label).any(axis=1).sum())
    return {"Accuracy": np.float32(correct / max(len(indices), 1)), "Correct": np.int32(correct), "Total": np.int32(len(indices))}


def best(rows, k, label, dtype="int64"):
    # Out is not read; integers keep the harness from expecting its dtype of Accuracy, which is float32.
    return {"Out": ints(rows, k), "Indices": ints(rows, k, high=4, dtype=dtype), "Label": label}


test_accuracy = op_tests(
    "accuracy",
    reference,
    cases={
        "best of one": (best(50, 1, ints(50, 1, high=4, seed=1)), {}),
        "best of three": (best(50, 3, ints(50, 1, high=4, seed=1)), {}),
        "int32, label of one axis": (best(9, 2, ints(9, high=4, dtype="int32"), "int32"), {}),
        "one row": (best(1, 1, ints(1, 1, high=4)), {}),
        "no rows": (best(0, 2, ints(0, 1)), {}),
    },
    refusals={
        "fewer labels": (best(4, 2, ints(3, 1)), {}, pm.ShapeError, "Label [3, 1] Indices [4, 2]"),
        "two labels a row": (best(4, 2, ints(4, 2)), {}, pm.ShapeError, "Label [4, 2]"),
        "float label": (best(4, 2, array(4, 1)), {}, pm.ShapeError, "Label float"),
    },
)
