# Shared tests of slice and strided_slice.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import paddle_mini as pm
from harness import Cases, Rows, array, ints, op_tests


def reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, np.ndarray]:
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


def slice_tests(
    op_type: str, strided: bool, cases: Cases = {}, refusals: dict[str, Any] = {}
) -> tuple[Callable[..., None], Callable[..., None]]:
    """Tests an operator, and it with other element types."""

    def part(x: Any, axes: list[int], starts: list[int], ends: list[int], strides: list[int] | None = None, **more: Any) -> Any:
        steps = {"strides": strides or [1] * len(axes)} if strided else {}
        return {"Input": x}, {"axes": axes, "starts": starts, "ends": ends, **steps, **more}

    test = op_tests(
        op_type,
        reference,
        cases={
            "first axis": part(array(5, 4), [0], [1], [4]),
            "last axis": part(array(3, 9), [1], [-7], [-1], [2]),
            "two axes": part(array(3, 4, 5), [0, 2], [1, 1], [3, 4], [1, 3]),
            "beyond": part(array(3, 4), [1], [-9], [2147483647]),
            "dropped": part(array(3, 4), [0], [1], [2], decrease_axis=[0]),
            "all dropped": part(array(3), [0], [2], [3], decrease_axis=[0]),
            "nothing": part(array(3, 4), [1], [3], [1]),
            "one element": part(array(1), [0], [0], [1]),
            "no rows": part(array(0, 4), [0, 1], [0, 1], [2, 3]),
            **cases,
        },
        gradients=["Input"],
        refusals={
            "no such axis": (*part(array(3), [1], [0], [1]), pm.ShapeError, "axes 1"),
            "other counts": (*part(array(3), [0], [], [1]), pm.ProgramError, "starts 0"),
            "twice": (*part(array(3), [0, -1], [0, 0], [1, 1]), pm.ProgramError, "twice"),
            "dropped but long": (*part(array(3), [0], [0], [2], decrease_axis=[0]), pm.ShapeError, "decrease_axis 2"),
            "selected rows": (*part(Rows([1], array(1, 2), 3), [0], [0], [2]), pm.ShapeError, "Input selected rows"),
            **refusals,
        },
    )
    kinds = {
        dtype: part(ints(5, 3, high=2).astype(dtype), [0], [1], [4], [2])
        for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64")
    }
    return test, op_tests(op_type, reference, cases=kinds)
