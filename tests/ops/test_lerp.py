"""lerp: between X and Y."""

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    x, y, weight = inputs["X"], inputs["Y"], inputs["Weight"]
    return {"Out": x + weight * (y - x)}


test_lerp = op_tests(
    "lerp",
    reference,
    cases={
        "same shapes": ({"X": array(3, 4), "Y": array(3, 4) + 1, "Weight": array(3, 4)}, {}),
        "one weight": ({"X": array(3, 4), "Y": array(3, 4) + 1, "Weight": array(1)}, {}),
        "a number": ({"X": array(3, 4), "Y": array(3, 4) + 1, "Weight": array()}, {}),
        "all broadcast": ({"X": array(3, 1), "Y": array(4) + 1, "Weight": array(2, 1, 1)}, {}),
        "one element": ({"X": array(), "Y": array() + 1, "Weight": array()}, {}),
        "no rows": ({"X": array(0, 4), "Y": array(4), "Weight": array(1)}, {}),
    },
    gradients=["X", "Y"],
    refusals={
        "other shape": ({"X": array(3, 4), "Y": array(3), "Weight": array(1)}, {}, pm.ShapeError, "[3, 4] [3]"),
        "other weights": ({"X": array(3, 4), "Y": array(4), "Weight": array(2)}, {}, pm.ShapeError, "[3, 4] [2]"),
    },
)
