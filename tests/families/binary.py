# Shared tests of elementwise operators of X and Y: shapes that they must support, and NumPy's view of `axis`.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import paddle_mini as pm
from harness import Cases, Reference, array, ints, op_tests, run_op

# name: shape of X, shape of Y, axis
SHAPES = {
    "same shape": ((3, 4), (3, 4), -1),
    "long": ((7, 143), (7, 143), -1),
    "bias": ((5, 37), (37,), -1),
    "bias by axis": ((2, 3, 4, 5), (3,), 1),
    "bias on the left by axis": ((3,), (2, 3, 4, 5), 1),
    "middle axes on the left": ((3, 4), (2, 3, 4, 5), 1),
    "middle axes": ((2, 3, 4, 5), (3, 4), 1),
    "column": ((3, 4), (3, 1), -1),
    "row on the left": ((1, 4), (3, 4), -1),
    "both broadcast": ((3, 1, 20), (1, 5, 20), -1),
    "both broadcast at the end": ((3, 1), (1, 5), -1),
    "inner one": ((2, 3, 4), (2, 1, 4), -1),
    "number on the right": ((3, 40), (), -1),
    "number on the left": ((), (3, 4), -1),
    "one element on the right": ((3, 4), (1,), -1),
    "trailing ones by axis": ((2, 3), (3, 1, 1), 1),
    "two numbers": ((), (), -1),
    "no rows": ((0, 4), (4,), -1),
    "no rows in both": ((0, 4), (0, 4), -1),
    "one against none": ((1, 4), (0, 4), -1),
}


def binary_tests(
    op_type: str,
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    x: tuple[float, float] = (-1, 1),
    y: tuple[float, float] = (-1, 1),
    gradients: Sequence[str] = ("X", "Y"),
    values_only: Cases | None = None,
    refusals: dict[str, Any] = {},
) -> Callable[..., None]:
    """Tests Out = function(X, Y) with broadcasting; x, y: the ranges that X and Y are drawn from.

    values_only: cases without gradients; None: two of integers.
    """
    return op_tests(
        op_type,
        binary_reference(function),
        {
            name: (
                {"X": array(*left, low=x[0], high=x[1], seed=1), "Y": array(*right, low=y[0], high=y[1], seed=2)},
                {"axis": axis},
            )
            for name, (left, right, axis) in SHAPES.items()
        },
        gradients=gradients,
        values_only=integer_cases() if values_only is None else values_only,
        refusals={
            "other size": ({"X": array(3, 4), "Y": array(3)}, {}, pm.ShapeError, "X Y [3, 4] [3]"),
            "axis beyond X": ({"X": array(3, 4), "Y": array(4)}, {"axis": 2}, pm.ShapeError, "axis 2"),
            "negative axis": ({"X": array(3, 4), "Y": array(4)}, {"axis": -2}, pm.ProgramError, "axis -2"),
            "other dtype": ({"X": array(3, 4), "Y": array(4).astype("float32")}, {}, pm.ShapeError, "float64 float32"),
            **refusals,
        },
    )


def binary_reference(function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Reference:
    def reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
        with np.errstate(all="ignore"):
            return {"Out": function(*operands(inputs, attrs))}

    return reference


def integer_cases(x: tuple[int, int] = (-20, 20), y: tuple[int, int] = (1, 10)) -> Cases:
    return {
        dtype: ({"X": ints(3, 5, low=x[0], high=x[1], dtype=dtype), "Y": ints(5, low=y[0], high=y[1], dtype=dtype)}, {})
        for dtype in ("int32", "int64")
    }


def extreme_tests(op_type: str, function: Callable[..., np.ndarray], to_x: list[int], to_y: list[int]) -> Any:
    """Tests elementwise_max and elementwise_min, which return NaN for it, and the gradient's way.

    to_x, to_y: the gradients of [1, 2, 3] and [2, 2, 2] from [5, 6, 7].
    """

    def test_ties() -> None:
        """Where X and Y are equal, Y gets the gradient."""
        inputs = {"X": np.array([1.0, 2.0, 3.0]), "Y": np.array([2.0, 2.0, 2.0]), "Out@GRAD": np.array([5.0, 6.0, 7.0])}
        found = run_op(f"{op_type}_grad", inputs, outputs=["X@GRAD", "Y@GRAD"])
        np.testing.assert_array_equal(found["X@GRAD"], to_x)
        np.testing.assert_array_equal(found["Y@GRAD"], to_y)

    def test_nan() -> None:
        nan = np.nan
        for n in (3, 40):
            x, y = np.resize([nan, 1.0, nan], n), np.resize([1.0, nan, nan], n)
            assert np.isnan(run_op(op_type, {"X": x, "Y": y})["Out"]).all()

    return binary_tests(op_type, function), test_ties, test_nan


def number_extreme_tests(op_type: str, function: Callable[..., np.ndarray], to_x: list[int], to_y: list[int]) -> Any:
    """Tests elementwise_fmax and elementwise_fmin, which leave NaN out, and the gradient's way."""
    special = [1.0, -1.0, np.inf, -np.inf, np.nan]

    def test_ties_and_nan() -> None:
        """Where X and Y are equal, or both are NaN, X gets the gradient."""
        nan = np.nan
        inputs = {
            "X": np.array([1.0, 2.0, 3.0, nan, 1.0, nan]),
            "Y": np.array([2.0, 2.0, 2.0, 1.0, nan, nan]),
            "Out@GRAD": np.array([5.0, 6.0, 7.0, 8.0, 9.0, 4.0]),
        }
        found = run_op(f"{op_type}_grad", inputs, outputs=["X@GRAD", "Y@GRAD"])
        np.testing.assert_array_equal(found["X@GRAD"], to_x)
        np.testing.assert_array_equal(found["Y@GRAD"], to_y)

    return binary_tests(op_type, function, values_only={**integer_cases(), **each_with_each(special)}), test_ties_and_nan


def division_cases(*dtypes: str) -> Cases:
    """X has both signs; Y is negative, or positive."""
    by_negative = {
        dtype: ({"X": ints(40, 5, low=-99, high=99, dtype=dtype), "Y": ints(40, 5, low=-7, high=0, dtype=dtype)}, {})
        for dtype in dtypes
        if dtype != "uint8"
    }
    by_positive = {
        f"{dtype} by positive": ({"X": ints(40, 5, low=-99, high=99, dtype=dtype), "Y": ints(5, low=1, high=9, dtype=dtype)}, {})
        for dtype in dtypes
        if dtype != "uint8"
    }
    unsigned = {"uint8": ({"X": ints(40, 5, high=99, dtype="uint8"), "Y": ints(40, 5, low=1, high=9, dtype="uint8")}, {})}
    return {**by_negative, **by_positive, **(unsigned if "uint8" in dtypes else {})}


BY_ZERO = {"integer by 0": ({"X": ints(3), "Y": np.array([1, 0, 2])}, {}, pm.OpError, "Y[1] is 0")}


def each_with_each(numbers: Sequence[float]) -> Cases:
    count = len(numbers)
    return {"each with each": ({"X": np.repeat(numbers, count), "Y": np.tile(numbers, count)}, {})}


def each_with_each_broadcast(numbers: Sequence[float]) -> Cases:
    return {"each with each, broadcast": ({"X": np.reshape(numbers, (-1, 1)), "Y": np.array(numbers)}, {})}


def operands(inputs: dict[str, Any], attrs: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """X and Y with dimensions that NumPy broadcasts as the operator does."""
    x, y = np.asarray(inputs["X"]), np.asarray(inputs["Y"])
    axis = attrs["axis"]
    if axis == -1:
        return x, y
    if x.ndim < y.ndim:
        y, x = operands({"X": y, "Y": x}, attrs)
        return x, y
    while y.ndim and axis + y.ndim > x.ndim and y.shape[-1] == 1:
        y = y[..., 0]
    return x, y.reshape(y.shape + (1,) * (x.ndim - axis - y.ndim))
