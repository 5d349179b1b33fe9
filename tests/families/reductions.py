# Shared tests of reductions of X over the axes `dim`.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle_mini as pm
from families.unary import NO_ROWS_TAKEN
from harness import Cases, Reference, array, ints, op_tests, run_op

REFUSALS = {"no such axis": ({"X": array(3, 4)}, {"dim": [2]}, pm.ShapeError, "dim 2"), **NO_ROWS_TAKEN}
Function = Callable[..., Any]


def reduction(function: Function, axes: str = "dim", keep: str = "keep_dim") -> Reference:
    """The reference function(x, axis=..., keepdims=...); axes, keep: names of the attributes."""

    def reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
        x = inputs["X"]
        axis = tuple(attrs[axes]) if attrs[axes] and not attrs["reduce_all"] and x.ndim else None
        return {"Out": np.asarray(function(x, axis=axis, keepdims=attrs[keep]))}

    return reference


def reduction_cases(draw: Callable[..., np.ndarray] = array) -> Cases:
    return {
        "first axis": ({"X": draw(3, 4)}, {}),
        "last axis": ({"X": draw(3, 5)}, {"dim": [-1]}),
        "middle axis": ({"X": draw(3, 4, 5)}, {"dim": [1]}),
        "two axes": ({"X": draw(3, 2, 4)}, {"dim": [0, 2]}),
        "kept": ({"X": draw(3, 2, 4)}, {"dim": [0, -1], "keep_dim": True}),
        "reduce_all": ({"X": draw(3, 4)}, {"reduce_all": True}),
        "no axes named": ({"X": draw(3, 4)}, {"dim": []}),
        "one element": ({"X": draw()}, {}),
        "no rows": ({"X": draw(0, 4)}, {"dim": [1]}),
    }


def folding_tests(op_type: str, function: Function) -> Callable[..., None]:
    """Tests reduce_prod and the extremes: reduce_max, reduce_min, reduce_amax, reduce_amin."""
    integers = {"integers": ({"X": ints(3, 4, high=3)}, {})}
    return op_tests(op_type, reduction(function), reduction_cases(), ["X"], REFUSALS, values_only=integers)


def truth_tests(op_type: str, function: Function) -> Callable[..., None]:
    """Tests reduce_all and reduce_any."""
    truth = lambda *shape: ints(*shape, high=2) > 0
    return op_tests(
        op_type,
        reduction(function),
        cases={**reduction_cases(truth), "integers": ({"X": ints(3, 4, high=3)}, {})},
        refusals={
            **REFUSALS,
            "no such axis": ({"X": truth(3, 4)}, {"dim": [2]}, pm.ShapeError, "dim 2"),
            "another axis of a number": ({"X": truth()}, {"dim": [2**32]}, pm.ShapeError, "dim"),
        },
    )


def sum_tests(op_type: str, function: Function) -> Callable[..., None]:
    """Tests reduce_sum and reduce_mean, which have an out_dtype."""
    of_any_type = reduction(function)

    def reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
        out = of_any_type(inputs, attrs)["Out"]
        return {"Out": out.astype("float64") if attrs["out_dtype"] == 6 else out}

    return op_tests(
        op_type,
        reference,
        cases={
            "first axis": ({"X": array(3, 4)}, {}),
            "last axis": ({"X": array(3, 1003)}, {"dim": [-1]}),
            "middle axis": ({"X": array(3, 4, 5)}, {"dim": [1]}),
            "two axes": ({"X": array(3, 4, 5)}, {"dim": [0, 2]}),
            "neighbouring axes": ({"X": array(2, 3, 4, 5)}, {"dim": [1, 2]}),
            "axes kept": ({"X": array(3, 4, 5)}, {"dim": [0, -1], "keep_dim": True}),
            "every axis": ({"X": array(3, 4)}, {"dim": [1, 0]}),
            "reduce_all": ({"X": array(3, 4)}, {"dim": [1], "reduce_all": True}),
            "reduce_all kept": ({"X": array(3, 4)}, {"reduce_all": True, "keep_dim": True}),
            "no axes named": ({"X": array(3, 4)}, {"dim": []}),
            "one element": ({"X": array()}, {}),
            "no rows": ({"X": array(0, 4)}, {"dim": [1]}),
        },
        gradients=["X"],
        values_only={"as float64": ({"X": array(3, 4)}, {"out_dtype": 6})},
        refusals={**REFUSALS, "no such type": ({"X": array(3, 4)}, {"out_dtype": 77}, pm.ProgramError, "out_dtype 77")},
    )


def check_out_dtype_of_sums(op_type: str, function: Function, gradient: np.ndarray) -> None:
    """X is converted before it is reduced, and the gradient is converted back."""
    x = array(3, 4).astype("float32")
    out = run_op(op_type, {"X": x}, {"out_dtype": 6})["Out"]
    assert out.dtype == "float64"
    np.testing.assert_allclose(out, function(x.astype("float64"), axis=0), rtol=1e-15)
    back = run_op(op_type + "_grad", {"X": x, "Out@GRAD": np.arange(4.0)}, {"out_dtype": 6})["X@GRAD"]
    assert back.dtype == "float32"
    np.testing.assert_allclose(back, gradient, rtol=1e-6)


def check_of_nothing(op_type: str) -> None:
    """An extreme of zero elements raises an error."""
    for inputs, attrs in (
        (array(0, 4), {}),
        (array(2, 0), {"dim": [1]}),
        (array(0, 4), {"reduce_all": True}),
        (array(0), {"dim": []}),
    ):
        with pytest.raises(pm.ShapeError, match=r"X has shape .*, which has no elements, so there is no extreme"):
            run_op(op_type, {"X": inputs}, attrs)


def check_out_dtype(op_type: str) -> None:
    """The attribute is ignored, as in PaddlePaddle."""
    for dtype in ("float32", "float64", "int32", "int64"):
        x = np.array([[1, 2], [3, 4]], dtype)
        for number in range(2, 7):
            assert run_op(op_type, {"X": x}, {"out_dtype": number})["Out"].dtype == dtype


def check_nan(op_type: str) -> None:
    """A NaN among the elements is the result."""
    assert np.isnan(run_op(op_type, {"X": np.array([1.0, np.nan, 3.0])})["Out"])


def check_equal_extremes(op_type: str, gradients: list[float]) -> None:
    """X has two equal extremes, and the gradient of Out is 3."""
    found = run_op(op_type + "_grad", {"X": np.array([2.0, 2.0]), "Out": np.array(2.0), "Out@GRAD": np.array(3.0)})
    np.testing.assert_array_equal(found["X@GRAD"], gradients)
