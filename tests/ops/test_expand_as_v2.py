"""expand_as_v2: X with its axes of 1 broadcast."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    return {"Out": np.broadcast_to(x, inputs["Y"].shape if "Y" in inputs else attrs["target_shape"])}


test_expand_as_v2 = op_tests(
    "expand_as_v2",
    reference,
    cases={
        "rows": ({"X": array(1, 4), "Y": array(3, 4)}, {}),
        "columns": ({"X": array(3, 1), "Y": array(3, 4)}, {}),
        "new axis": ({"X": array(3, 4), "Y": array(2, 3, 4)}, {}),
        "between": ({"X": array(2, 1, 3), "Y": array(2, 4, 3)}, {}),
        "same": ({"X": array(2, 3), "Y": array(2, 3)}, {}),
        "one element": ({"X": array(), "Y": array(2, 3)}, {}),
        "no rows": ({"X": array(0, 1), "Y": array(0, 4)}, {}),
        "named": ({"X": array(1, 4)}, {"target_shape": [3, 4]}),
    },
    gradients=["X"],
    values_only={"integers": ({"X": ints(1, 4), "Y": array(3, 4)}, {})},
    refusals={
        "does not fit": ({"X": array(3, 4), "Y": array(3, 5)}, {}, pm.ShapeError, "[3, 4] [3, 5]"),
        "fewer axes": ({"X": array(3, 4), "Y": array(4)}, {}, pm.ShapeError, "X 3, 4"),
        "negative": ({"X": array(3)}, {"target_shape": [-1]}, pm.ProgramError, "target_shape -1"),
    },
)
