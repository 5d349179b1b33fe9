# Shared tests of operators that search, gather or reverse the elements of X along an axis.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests

Function = Callable[..., Any]


def position_tests(op_type: str, function: Function) -> Callable[..., None]:
    """Tests arg_max and arg_min."""

    def reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
        x = inputs["X"]
        axis = None if attrs["flatten"] or not x.ndim else attrs["axis"]
        keep = {"keepdims": True} if attrs["keepdims"] else {}
        return {"Out": np.asarray(function(x, axis=axis, **keep)).astype("int32" if attrs["dtype"] == 2 else "int64")}

    return op_tests(
        op_type,
        reference,
        cases={
            "last axis": ({"X": array(3, 9)}, {"axis": -1}),
            "first axis": ({"X": array(5, 4)}, {"axis": 0}),
            "middle axis": ({"X": array(2, 5, 3)}, {"axis": 1}),
            "kept": ({"X": array(2, 5, 3)}, {"axis": 1, "keepdims": True}),
            "one line": ({"X": array(3, 4)}, {"axis": 0, "flatten": True}),
            "one line kept": ({"X": array(3, 4)}, {"axis": 0, "flatten": True, "keepdims": True}),
            "int32": ({"X": array(3, 4)}, {"axis": 0, "dtype": 2}),
            "ties": ({"X": ints(6, 20, high=3)}, {"axis": 1}),
            "small numbers": ({"X": ints(3, 4, dtype="uint8")}, {"axis": 0}),
            "one element": ({"X": array()}, {"axis": 0}),
            "no rows": ({"X": array(0, 4)}, {"axis": 1}),
        },
        refusals={
            "of nothing": ({"X": array(0, 4)}, {"axis": 0}, pm.ShapeError, "[0, 4] no elements"),
            "no such axis": ({"X": array(3)}, {"axis": 1}, pm.ShapeError, "axis 1"),
            "float positions": ({"X": array(3)}, {"axis": 0, "dtype": 5}, pm.ProgramError, "dtype float32"),
            "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {"axis": 0}, pm.ShapeError, "X selected rows"),
        },
    )


def pick_tests(op_type: str, axis: str) -> Callable[..., None]:
    """Tests gather and index_select; axis: the name of the attribute."""

    def reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
        index = inputs["Index"]
        return {"Out": np.take(inputs["X"], index.reshape(-1) if index.ndim else index, axis=attrs[axis])}

    return op_tests(
        op_type,
        reference,
        cases={
            "rows": ({"X": array(5, 4), "Index": np.array([3, 0, 3])}, {}),
            "last axis": ({"X": array(3, 5), "Index": np.array([1, 4, 4, 1])}, {axis: -1}),
            "middle axis": ({"X": array(2, 3, 4), "Index": np.array([2, 0], "int32")}, {axis: 1}),
            "a column": ({"X": array(5, 4), "Index": np.array([[3], [0]])}, {}),
            "one number": ({"X": array(5, 4), "Index": np.array(2)}, {}),
            "one element": ({"X": array(1), "Index": np.array([0])}, {}),
            "nothing picked": ({"X": array(3, 4), "Index": np.zeros(0, "int64")}, {}),
            "no columns": ({"X": array(3, 0), "Index": np.array([1])}, {}),
        },
        gradients=["X"],
        values_only={"integers": ({"X": ints(5, 2), "Index": np.array([3, 0])}, {})},
        refusals={
            "too high": ({"X": array(3, 4), "Index": np.array([0, 3])}, {}, pm.OpError, "3 position 1"),
            "negative": ({"X": array(3, 4), "Index": np.array([-1])}, {}, pm.OpError, "-1"),
            "from nothing": ({"X": array(0, 4), "Index": np.array([0])}, {}, pm.OpError, "0"),
            "no such axis": ({"X": array(3), "Index": np.array([0])}, {axis: 1}, pm.ShapeError, f"{axis} 1"),
            "a number": ({"X": array(), "Index": np.array([0])}, {}, pm.ShapeError, "X no dimensions"),
            "a matrix": ({"X": array(3), "Index": np.zeros((2, 2), "int64")}, {}, pm.ShapeError, "Index [2, 2]"),
            "float positions": ({"X": array(3), "Index": array(2)}, {}, pm.ShapeError, "Index float64"),
        },
    )


def reversal_tests(op_type: str) -> Callable[..., None]:
    """Tests flip and reverse."""
    return op_tests(
        op_type,
        lambda inputs, attrs: {"Out": np.flip(inputs["X"], attrs["axis"])},
        cases={
            "rows": ({"X": array(3, 4)}, {"axis": [0]}),
            "last axis": ({"X": array(3, 4)}, {"axis": [-1]}),
            "both": ({"X": array(3, 4, 2)}, {"axis": [0, 2]}),
            "none": ({"X": array(3, 4)}, {"axis": []}),
            "one element": ({"X": array(1)}, {"axis": [0]}),
            "no rows": ({"X": array(0, 4)}, {"axis": [0, 1]}),
        },
        gradients=["X"],
        values_only={"integers": ({"X": ints(3, 4)}, {"axis": [1]})},
        refusals={
            "no such axis": ({"X": array(3)}, {"axis": [1]}, pm.ShapeError, "axis 1"),
            "twice": ({"X": array(3)}, {"axis": [0, -1]}, pm.ProgramError, "twice"),
        },
    )


def slab_tests(op_type: str, out: str) -> Callable[..., None]:
    """Tests unstack and unbind; out: the name of the output."""

    def reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
        x = inputs["X"]
        return {out: [np.take(x, i, axis=attrs["axis"]) for i in range(x.shape[attrs["axis"]])]}

    return op_tests(
        op_type,
        reference,
        cases={
            "first axis": ({"X": array(3, 4)}, {}),
            "last axis": ({"X": array(3, 4)}, {"axis": -1}),
            "middle": ({"X": array(3, 2, 4)}, {"axis": 1}),
            "one element": ({"X": array(1)}, {}),
            "no columns": ({"X": array(2, 0)}, {}),
        },
        gradients=["X"],
        values_only={"integers": ({"X": ints(3, 4)}, {"axis": 1})},
        refusals={
            "no axis": ({"X": array()}, {}, pm.ShapeError, "X no dimensions"),
            "no such axis": ({"X": array(1)}, {"axis": 1}, pm.ShapeError, "axis 1"),
            "other count": ({"X": array(3)}, {}, pm.ShapeError, f"1 {out} [3]"),
        },
    )
