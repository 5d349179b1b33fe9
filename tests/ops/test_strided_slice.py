"""strided_slice: the part of Input between starts and ends, by steps."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["Input"]
    strides = attrs.get("strides") or [1] * len(attrs["axes"])
    at = [slice(None)] * x.ndim
    for axis, start, end, stride in zip(attrs["axes"], attrs["starts"], attrs["ends"], strides):
        if stride < 0:  # Trap: only -1 is before the first; positions further back stop there and exclude it.
            size = x.shape[axis]
            start, end = max(start + size if start < 0 else start, 0), end if end >= -1 else max(end + size, 0)
            end = None if end == -1 else end
        at[axis] = slice(start, end, stride)
    out = x[tuple(at)]
    return {"Out": out.reshape([d for i, d in enumerate(out.shape) if i not in attrs["decrease_axis"]])}


test_strided_slice = op_tests(
    "strided_slice",
    reference,
    cases={
        "first axis": ({"Input": array(5, 4)}, {"axes": [0], "starts": [1], "ends": [4], "strides": [1]}),
        "last axis": ({"Input": array(3, 9)}, {"axes": [1], "starts": [-7], "ends": [-1], "strides": [2]}),
        "two axes": ({"Input": array(3, 4, 5)}, {"axes": [0, 2], "starts": [1, 1], "ends": [3, 4], "strides": [1, 3]}),
        "beyond": ({"Input": array(3, 4)}, {"axes": [1], "starts": [-9], "ends": [2147483647], "strides": [1]}),
        "dropped": ({"Input": array(3, 4)}, {"axes": [0], "starts": [1], "ends": [2], "decrease_axis": [0], "strides": [1]}),
        "all dropped": ({"Input": array(3)}, {"axes": [0], "starts": [2], "ends": [3], "decrease_axis": [0], "strides": [1]}),
        "backwards": ({"Input": array(3, 7)}, {"axes": [1], "starts": [-1], "ends": [-9], "strides": [-2]}),
        "backwards to the first": ({"Input": array(3, 7)}, {"axes": [1], "starts": [2147483647], "ends": [-1], "strides": [-1]}),
        "from before the first": ({"Input": array(5)}, {"axes": [0], "starts": [-9], "ends": [-1], "strides": [-1]}),
        "rows backwards": ({"Input": array(4, 3)}, {"axes": [0], "starts": [3], "ends": [0], "strides": [-1]}),
        "far steps": ({"Input": array(4)}, {"axes": [0], "starts": [1], "ends": [4], "strides": [2147483647]}),
        "nothing": ({"Input": array(3, 4)}, {"axes": [1], "starts": [3], "ends": [1], "strides": [1]}),
        "one element": ({"Input": array(1)}, {"axes": [0], "starts": [0], "ends": [1], "strides": [1]}),
        "no rows": ({"Input": array(0, 4)}, {"axes": [0, 1], "starts": [0, 1], "ends": [2, 3], "strides": [1, 1]}),
    },
    gradients=["Input"],
    refusals={
        "no such axis": ({"Input": array(3)}, {"axes": [1], "starts": [0], "ends": [1], "strides": [1]}, pm.ShapeError, "axes 1"),
        "other counts": (
            {"Input": array(3)},
            {"axes": [0], "starts": [], "ends": [1], "strides": [1]},
            pm.ProgramError,
            "starts 0",
        ),
        "twice": (
            {"Input": array(3)},
            {"axes": [0, -1], "starts": [0, 0], "ends": [1, 1], "strides": [1, 1]},
            pm.ProgramError,
            "twice",
        ),
        "dropped but long": (
            {"Input": array(3)},
            {"axes": [0], "starts": [0], "ends": [2], "decrease_axis": [0], "strides": [1]},
            pm.ShapeError,
            "decrease_axis 2",
        ),
        "selected rows": (
            {"Input": Rows([1], array(1, 2), 3)},
            {"axes": [0], "starts": [0], "ends": [2], "strides": [1]},
            pm.ShapeError,
            "Input selected rows",
        ),
        "no step": ({"Input": array(3)}, {"axes": [0], "starts": [0], "ends": [1], "strides": [0]}, pm.ProgramError, "strides 0"),
    },
)

test_kinds = op_tests(
    "strided_slice",
    reference,
    cases={
        dtype: ({"Input": ints(5, 3, high=2).astype(dtype)}, {"axes": [0], "starts": [1], "ends": [4], "strides": [2]})
        for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64")
    },
)


def test_the_last_one():
    """x[-1] is given as start -1, end 0."""
    attrs = {"axes": [0], "starts": [-1], "ends": [0], "strides": [1], "infer_flags": [-1], "decrease_axis": [0]}
    np.testing.assert_array_equal(run_op("strided_slice", {"Input": array(3, 2)}, attrs)["Out"], array(3, 2)[-1])
