"""split: the parts of X along an axis."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x, axis = inputs["X"], attrs["axis"]
    if attrs["num"]:
        return {"Out": np.split(x, attrs["num"], axis=axis)}
    sections = list(attrs["sections"])
    if -1 in sections:
        sections[sections.index(-1)] = x.shape[axis] - sum(sections) - 1
    return {"Out": np.split(x, np.cumsum(sections)[:-1], axis=axis)}


test_split = op_tests(
    "split",
    reference,
    cases={
        "equal": ({"X": array(6, 4)}, {"num": 3}),
        "equal columns": ({"X": array(3, 8)}, {"num": 2, "axis": -1}),
        "sections": ({"X": array(3, 7, 2)}, {"sections": [2, 4, 1], "axis": 1}),
        "worked out": ({"X": array(7)}, {"sections": [2, -1, 1]}),
        "an empty one": ({"X": array(3)}, {"sections": [3, 0]}),
        "one": ({"X": array(3)}, {"num": 1}),
        "one element": ({"X": array(1)}, {"sections": [1]}),
        "no rows": ({"X": array(0, 4)}, {"num": 2, "axis": 1}),
    },
    gradients=["X"],
    values_only={"integers": ({"X": ints(4, 2)}, {"num": 2})},
    refusals={
        "not equal": ({"X": array(5)}, {"num": 1, "axis": 1}, pm.ShapeError, "axis 1"),
        "other count": ({"X": array(5)}, {"sections": [2, 3]}, pm.ProgramError, "2 1"),
        "other sum": ({"X": array(5)}, {"sections": [4]}, pm.ShapeError, "[4] 5"),
        "negative": ({"X": array(5)}, {"sections": [-2]}, pm.ProgramError, "sections -2"),
        "nothing said": ({"X": array(5)}, {}, pm.ProgramError, "num 0"),
        "no axis": ({"X": array()}, {"num": 1}, pm.ShapeError, "X no dimensions"),
    },
)
