# Operators that take numbers from attributes or from tensors: both ways must give the same results.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import paddle_mini as pm
from paddle_mini import _core
from paddle_mini.testing.numeric_gradients import analytic_gradients
from paddle_mini.testing.one_op import OneOp, array, ints

i32 = lambda *v: np.array(v, "int32")
i64 = lambda *v: np.array(v, "int64")
some = lambda *v: [np.array([n], "int32") for n in v]
X = {"X": array(4, 6)}
V = {"X": array(1, 2, 3, 4, 5)}
I = {"X": array(1, 2, 4, 5)}
L = {"X": array(1, 2, 5)}
METHODS = ("nearest", "bilinear", "bicubic")
WIDTH, PIXELS, VOLUME = {"out_w": 7}, {"out_h": 3, "out_w": 7}, {"out_d": 4, "out_h": 3, "out_w": 7}
TEN = {"low": 0, "high": 10, "seed": 7}
S = dict(axes=[0, 1])
# name: (operator, inputs, attributes, tensors that replace some of these, the remaining attributes, inputs with a
# gradient).
CASES: dict[str, Any] = {
    "affine_grid": (
        "affine_grid",
        {"Theta": array(2, 2, 3)},
        {"output_shape": [2, 3, 4, 5]},
        {"OutputShape": i32(2, 3, 4, 5)},
        {},
        ["Theta"],
    ),
    "slice": (
        "slice",
        {"Input": array(4, 6)},
        {**S, "starts": [1, -3], "ends": [9, -1]},
        {"StartsTensor": i64(1, -3), "EndsTensor": i64(2**40, -1)},
        S,
        ["Input"],
    ),
    "slice list": (
        "slice",
        {"Input": array(4, 6)},
        {**S, "starts": [1, 2], "ends": [2, 5], "decrease_axis": [0]},
        {"StartsTensorList": some(1, 2), "EndsTensorList": some(2, 5)},
        {**S, "starts": [-1, 2], "ends": [-1, 5], "decrease_axis": [0]},
        ["Input"],
    ),
    "slice last": (
        "slice",
        {"Input": array(4)},
        {"axes": [0], "starts": [-1], "ends": [9], "decrease_axis": [0]},
        {"StartsTensorList": some(-1), "EndsTensorList": some(0)},
        {"axes": [0], "infer_flags": [-1], "decrease_axis": [0]},
        ["Input"],
    ),
    "slice no rows": (
        "slice",
        {"Input": array(0, 6)},
        {"axes": [0], "starts": [0], "ends": [3]},
        {"StartsTensor": i32(0)},
        {"axes": [0], "ends": [3]},
        ["Input"],
    ),
    "strided": (
        "strided_slice",
        {"Input": array(4, 6)},
        {**S, "starts": [3, 0], "ends": [0, 6], "strides": [-2, 2]},
        {"StartsTensor": i32(3, 0), "EndsTensorList": some(0, 6), "StridesTensor": i64(-2, 2)},
        S,
        ["Input"],
    ),
    "reshape2": ("reshape2", X, {"shape": [0, 2, -1]}, {"Shape": i32(0, 2, -1)}, {}, []),
    "reshape2 list": ("reshape2", X, {"shape": [8, -1]}, {"ShapeTensor": some(8, -1)}, {"shape": [8, -1]}, []),
    "reshape": ("reshape", X, {"shape": [8, -1]}, {"ShapeTensor": some(8, -1)}, {"shape": [-1, -1]}, ["X"]),
    "fill": (
        "fill_constant",
        {},
        {"shape": [2, 3], "value": 2.5},
        {"ShapeTensor": i64(2, 3), "ValueTensor": np.array([2.5], "float32")},
        {},
        [],
    ),
    "fill list": ("fill_constant", {}, {"shape": [0, 3]}, {"ShapeTensorList": some(0, 3)}, {"shape": [-1, 3]}, []),
    "uniform": ("uniform_random", {}, {"shape": [2, 3], "seed": 3}, {"ShapeTensor": i64(2, 3)}, {"seed": 3}, []),
    "gauss": ("gaussian_random", {}, {"shape": [2], "seed": 3}, {"ShapeTensorList": some(2)}, {"seed": 3}, []),
    "expand_v2": ("expand_v2", X, {"shape": [2, -1, 6]}, {"Shape": i32(2, -1, 6)}, {}, ["X"]),
    "expand_v2 list": (
        "expand_v2",
        X,
        {"shape": [2, 4, 6]},
        {"expand_shapes_tensor": some(2, 4, 6)},
        {"shape": [-2, 4, 6]},
        ["X"],
    ),
    "expand": ("expand", X, {"expand_times": [2, 1]}, {"ExpandTimes": i32(2, 1)}, {}, ["X"]),
    "tile": ("tile", X, {"repeat_times": [2, 1, 3]}, {"repeat_times_tensor": some(2, 1, 3)}, {}, ["X"]),
    "top_k": ("top_k", X, {"k": 3}, {"K": i32(3)}, {}, []),
    "top_k_v2": ("top_k_v2", X, {"k": 3, "axis": 0}, {"K": i64(3)}, {"axis": 0}, ["X"]),
    "one_hot": ("one_hot_v2", {"X": ints(3, high=4)}, {"depth": 4}, {"depth_tensor": i32(4)}, {}, []),
    "concat": ("concat", {"X": [array(2, 3), array(2, 2)]}, {"axis": -1}, {"AxisTensor": i32(-1)}, {}, ["X"]),
    "pad3d": ("pad3d", V, {"paddings": [1, 0, 2, 1, 0, 1]}, {"Paddings": i32(1, 0, 2, 1, 0, 1)}, {"paddings": []}, ["X"]),
    "unsqueeze2": ("unsqueeze2", X, {"axes": [0, -1]}, {"AxesTensorList": some(0, -1)}, {}, []),
    "unsqueeze2 one": ("unsqueeze2", X, {"axes": [1]}, {"AxesTensor": i32(1)}, {}, []),
    "gather": ("gather", {"X": array(4, 6), "Index": i64(5, 1)}, {"axis": 1}, {"Axis": i64(1)}, {}, ["X"]),
    "crop": (
        "crop_tensor",
        X,
        {"shape": [2, -1], "offsets": [1, 3]},
        {"Shape": i32(2, -1), "OffsetsTensor": some(1, 3)},
        {},
        ["X"],
    ),
    **{
        f"{method}{version} {name}": (f"{method}_interp{version}", x, of, tensors, left, ["X"])
        for method, x, sizes in (("linear", L, WIDTH), *((method, I, PIXELS) for method in METHODS), ("trilinear", V, VOLUME))
        for version in ("", "_v2")
        for left in [{"interp_method": method}]
        for name, of, tensors in (
            ("size", {**left, **sizes}, {"OutSize": i32(*sizes.values())}),
            ("list", {**left, **sizes}, {"SizeTensor": some(*sizes.values())}),
            ("scale", {**left, "scale": [1.5] * len(sizes) if version else 1.5}, {"Scale": np.array([1.5], "float32")}),
        )
    },
    "randint": ("randint", {}, {**TEN, "shape": [2, 3]}, {"ShapeTensor": i64(2, 3)}, TEN, []),
    "randint list": ("randint", {}, {**TEN, "shape": [2, 3]}, {"ShapeTensorList": some(2, 3)}, TEN, []),
    "empty": ("empty", {}, {"shape": [2, 3], "dtype": 5}, {"ShapeTensor": i64(2, 3)}, {"dtype": 5}, []),
    "empty list": ("empty", {}, {"shape": [2, 3], "dtype": 5}, {"ShapeTensorList": some(2, 3)}, {"dtype": 5}, []),
    "dropout": ("dropout", X, {"seed": 7, "fix_seed": True}, {"Seed": i32(7)}, {}, []),
    "set_value": (
        "set_value",
        {"Input": array(5, 4), "ValueTensor": array(2, 4)},
        {"axes": [0], "starts": [4], "ends": [0], "steps": [-2]},
        {"StartsTensorList": some(4), "EndsTensorList": some(0), "StepsTensorList": some(-2)},
        {"axes": [0]},
        [],
    ),
    "slice, ends of another kind": (
        "slice",
        {"Input": array(4, 6)},
        {**S, "starts": [1, 2], "ends": [2, 5]},
        {"StartsTensorList": some(1, 2), "EndsTensor": i32(2, 5)},
        S,
        ["Input"],
    ),
    "strided list": (
        "strided_slice",
        {"Input": array(4, 6)},
        {**S, "starts": [3, 0], "ends": [0, 6], "strides": [-2, 2]},
        {"StartsTensorList": some(3, 0), "EndsTensor": i64(0, 6), "StridesTensorList": some(-2, 2)},
        S,
        ["Input"],
    ),
    "reshape of a tensor": ("reshape", X, {"shape": [8, -1]}, {"Shape": i32(8, -1)}, {}, ["X"]),
    "uniform list": ("uniform_random", {}, {"shape": [2, 3], "seed": 3}, {"ShapeTensorList": some(2, 3)}, {"seed": 3}, []),
    "gauss of a tensor": ("gaussian_random", {}, {"shape": [2, 3], "seed": 3}, {"ShapeTensor": i32(2, 3)}, {"seed": 3}, []),
    "gauss list": ("gaussian_random", {}, {"shape": [2, 3], "seed": 3}, {"ShapeTensorList": some(2, 3)}, {"seed": 3}, []),
    "expand list": ("expand", X, {"expand_times": [2, 1]}, {"expand_times_tensor": some(2, 1)}, {}, ["X"]),
    "tile of a tensor": ("tile", X, {"repeat_times": [2, 1, 3]}, {"RepeatTimes": i32(2, 1, 3)}, {}, ["X"]),
    "split axis": ("split", X, {"num": 2, "axis": 1}, {"AxisTensor": i32(1)}, {"num": 2}, ["X"]),
    "split sections": (
        "split",
        X,
        {"sections": [2, 4], "axis": 1},
        {"SectionsTensorList": some(2, 4)},
        {"sections": [-1, -1], "axis": 1},
        ["X"],
    ),
    "crop list": (
        "crop_tensor",
        X,
        {"shape": [2, 3], "offsets": [1, 3]},
        {"ShapeTensor": some(2, 3), "Offsets": i32(1, 3)},
        {"shape": [-1, -1]},
        ["X"],
    ),
    "crop offsets": ("crop", X, {"shape": [2, 3], "offsets": [1, 3]}, {"Offsets": i32(1, 3)}, {"shape": [2, 3]}, ["X"]),
    "set_value block": (
        "set_value",
        {"Input": array(5, 4), "ValueTensor": array(2, 2)},
        {**S, "starts": [4, 0], "ends": [0, 4], "steps": [-2, 2]},
        {"StartsTensorList": some(4, 0), "EndsTensorList": some(0, 4), "StepsTensorList": some(-2, 2)},
        S,
        [],
    ),
}


def check_tensors(
    op_type: str,
    inputs: dict[str, Any],
    attrs: dict[str, Any],
    tensors: dict[str, Any],
    left: dict[str, Any] | None = None,
    outputs: Any = None,
    gradients: Sequence[str] = (),
) -> None:
    """`tensors` are inputs that replace some of `attrs`; `left` are the remaining attributes.

    Runs the operator with `attrs`, then with `tensors` and `left`; outputs and the gradients of the inputs
    named in `gradients` must be the same, bit for bit."""
    first, second = OneOp(op_type, inputs, attrs, outputs), OneOp(op_type, {**inputs, **tensors}, left or {}, outputs)
    expected, found = first.run(), second.run()
    for port in expected:
        _check_same(port, expected[port], found[port])
        values = found[port] if isinstance(found[port], list) else [found[port]]
        for name, value in zip(second.outputs[port], values):
            var = second.block.var(name)
            agree = len(var.shape) == value.ndim and all(a in (-1, b) for a, b in zip(var.shape, value.shape))
            assert agree and var.dtype == value.dtype, f"{port}: infer says {var}, the kernel made {value.shape}"
    second.check_inputs_unchanged()
    again = pm.Program.from_bytes(second.program.to_bytes())
    for port, value in second.run(again).items():
        _check_same(port, expected[port], value)
    if gradients:
        gradient = _gradients(second, gradients)
        for name, value in _gradients(first, gradients).items():
            _check_same(name + "@GRAD", value, gradient[name])


def _gradients(one: OneOp, wanted: Sequence[str]) -> dict[str, Any]:
    values = one.run()
    for port, names in one.outputs.items():
        held = values[port] if isinstance(values[port], list) else [values[port]]
        for i, (name, value) in enumerate(zip(names, held)):
            one.put(name + "@GRAD", array(*value.shape, seed=3 + i).astype(value.dtype))
    names = [name for port in wanted for name in one.arguments[port]]
    return analytic_gradients(one, _core.gradient(one.op.describe()), names)


def _check_same(port: str, expected: Any, found: Any) -> None:
    pairs = zip(expected, found) if isinstance(expected, list) else [(expected, found)]
    for one, other in pairs:
        assert one.dtype == other.dtype and one.shape == other.shape, f"{port}: {one.shape}, not {other.shape}"
        np.testing.assert_array_equal(other, one, port)
