"""roll: X shifted cyclically along axes."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    if "ShiftsTensor" in inputs:
        attrs = {**attrs, "shifts": inputs["ShiftsTensor"].tolist()}
    if not attrs["axis"]:
        return {"Out": np.roll(x, attrs["shifts"][0])}
    for shift, axis in zip(attrs["shifts"], attrs["axis"]):
        x = np.roll(x, shift, axis)
    return {"Out": x}


test_roll = op_tests(
    "roll",
    reference,
    cases={
        "rows": ({"X": array(5, 4)}, {"shifts": [2], "axis": [0]}),
        "last axis": ({"X": array(3, 7)}, {"shifts": [-10], "axis": [-1]}),
        "both": ({"X": array(3, 4)}, {"shifts": [1, -1], "axis": [0, 1]}),
        "one axis twice": ({"X": array(5)}, {"shifts": [1, 3], "axis": [0, 0]}),
        "one line": ({"X": array(3, 4)}, {"shifts": [5]}),
        "very far": ({"X": array(5)}, {"shifts": [-(2**63)], "axis": [0]}),
        "one element": ({"X": array(1)}, {"shifts": [3], "axis": [0]}),
        "shifts in a tensor": ({"X": array(5, 4), "ShiftsTensor": np.array([2, -1])}, {"axis": [0, 1]}),
        "one shift in a tensor": ({"X": array(3, 4), "ShiftsTensor": np.array([5], "int32")}, {"shifts": [1]}),
        "no rows": ({"X": array(0, 4)}, {"shifts": [1, 1], "axis": [0, 1]}),
    },
    gradients=["X"],
    values_only={"integers": ({"X": ints(3, 4)}, {"shifts": [1], "axis": [1]})},
    refusals={
        "no such axis": ({"X": array(3)}, {"shifts": [1], "axis": [1]}, pm.ShapeError, "axis 1"),
        "one shift for two axes": (
            {"X": array(3, 4), "ShiftsTensor": np.array([1])},
            {"axis": [0, 1]},
            pm.ProgramError,
            "shifts 1",
        ),
        "no shifts": ({"X": array(3)}, {"axis": [0]}, pm.ProgramError, "shifts 0"),
    },
)
