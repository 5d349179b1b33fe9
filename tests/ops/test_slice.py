"""slice: the part of Input between starts and ends."""

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["Input"]
    strides = attrs.get("strides") or [1] * len(attrs["axes"])
    at = [slice(None)] * x.ndim
    for axis, start, end, stride in zip(attrs["axes"], attrs["starts"], attrs["ends"], strides):
        at[axis] = slice(start, end, stride)
    out = x[tuple(at)]
    return {"Out": out.reshape([d for i, d in enumerate(out.shape) if i not in attrs["decrease_axis"]])}


test_slice = op_tests(
    "slice",
    reference,
    cases={
        "first axis": ({"Input": array(5, 4)}, {"axes": [0], "starts": [1], "ends": [4]}),
        "last axis": ({"Input": array(3, 9)}, {"axes": [1], "starts": [-7], "ends": [-1]}),
        "two axes": ({"Input": array(3, 4, 5)}, {"axes": [0, 2], "starts": [1, 1], "ends": [3, 4]}),
        "beyond": ({"Input": array(3, 4)}, {"axes": [1], "starts": [-9], "ends": [2147483647]}),
        "dropped": ({"Input": array(3, 4)}, {"axes": [0], "starts": [1], "ends": [2], "decrease_axis": [0]}),
        "all dropped": ({"Input": array(3)}, {"axes": [0], "starts": [2], "ends": [3], "decrease_axis": [0]}),
        "nothing": ({"Input": array(3, 4)}, {"axes": [1], "starts": [3], "ends": [1]}),
        "one element": ({"Input": array(1)}, {"axes": [0], "starts": [0], "ends": [1]}),
        "no rows": ({"Input": array(0, 4)}, {"axes": [0, 1], "starts": [0, 1], "ends": [2, 3]}),
    },
    gradients=["Input"],
    refusals={
        "no such axis": ({"Input": array(3)}, {"axes": [1], "starts": [0], "ends": [1]}, pm.ShapeError, "axes 1"),
        "other counts": ({"Input": array(3)}, {"axes": [0], "starts": [], "ends": [1]}, pm.ProgramError, "starts 0"),
        "twice": ({"Input": array(3)}, {"axes": [0, -1], "starts": [0, 0], "ends": [1, 1]}, pm.ProgramError, "twice"),
        "dropped but long": (
            {"Input": array(3)},
            {"axes": [0], "starts": [0], "ends": [2], "decrease_axis": [0]},
            pm.ShapeError,
            "decrease_axis 2",
        ),
        "selected rows": (
            {"Input": Rows([1], array(1, 2), 3)},
            {"axes": [0], "starts": [0], "ends": [2]},
            pm.ShapeError,
            "Input selected rows",
        ),
    },
)

test_kinds = op_tests(
    "slice",
    reference,
    cases={
        dtype: ({"Input": ints(5, 3, high=2).astype(dtype)}, {"axes": [0], "starts": [1], "ends": [4]})
        for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64")
    },
)
