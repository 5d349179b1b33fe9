# Shared tests of operators whose output is bool or bits: comparisons, logical and bitwise ones.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import paddle_mini as pm
from families.binary import binary_tests, each_with_each, each_with_each_broadcast, integer_cases
from families.unary import NO_ROWS_TAKEN, NOT_FINITE, ZEROS
from harness import Cases, Rows, array, ints, op_tests

TWO_INPUTS_WITH_ROWS = {
    "selected rows": ({"X": Rows([1], array(1, 2), 3), "Y": array(3, 2)}, {}, pm.ShapeError, "X selected rows")
}
OTHER_INPUT = {
    "other size": ({"X": ints(3, 4), "Y": ints(3)}, {}, pm.ShapeError, "X Y [3, 4] [3]"),
    "other dtype": ({"X": ints(3), "Y": ints(3, dtype="int32")}, {}, pm.ShapeError, "int64 int32"),
}
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")
Function = Callable[..., np.ndarray]


def comparison_tests(op_type: str, function: Function) -> Callable[..., None]:
    """Tests a comparison of X and Y, of numbers and bool."""
    special = [*ZEROS, 1.0, *NOT_FINITE]
    few = {dtype: (pair(dtype, 3), {}) for dtype in (*INTEGERS, "bool")}
    broadcast = {
        f"{dtype} broadcast": ({"X": ints(4, 9, high=2, dtype=dtype), "Y": ints(9, high=2, dtype=dtype)}, {})
        for dtype in ("int8", "uint8", "int16", "bool")
    }
    return binary_tests(
        op_type,
        function,
        gradients=(),
        values_only={
            **{f"{dtype} and a row": case for dtype, case in integer_cases().items()},
            **few,
            **broadcast,
            **each_with_each(special),
            **each_with_each_broadcast(special),
        },
        refusals=TWO_INPUTS_WITH_ROWS,
    )


def pair(dtype: str, high: int) -> dict[str, np.ndarray]:
    """X and Y, some of whose elements are equal."""
    return {"X": ints(4, 9, high=high, dtype=dtype), "Y": ints(4, 9, high=high, dtype=dtype, seed=1)}


def logical_tests(op_type: str, function: Function) -> Callable[..., None]:
    """Tests a logical operator of X and Y; logical_not has its own test."""
    return op_tests(
        op_type,
        lambda inputs, attrs: {"Out": function(inputs["X"], inputs["Y"])},
        cases={
            "matrix": ({"X": ints(3, 4, high=2, dtype="bool"), "Y": ints(3, 4, high=2, dtype="bool", seed=1)}, {}),
            "long": ({"X": ints(1003, high=2, dtype="bool"), "Y": ints(1003, high=2, dtype="bool", seed=1)}, {}),
            "one element": ({"X": np.array(True), "Y": np.array(False)}, {}),
            "no rows": ({"X": np.zeros((0, 4), bool), "Y": np.zeros(4, bool)}, {}),
            "numbers": ({"X": np.array([0.0, -0.0, 0.5, np.nan, np.inf]), "Y": np.array([0.0, 1.0, 0.0, 2.0, -0.0])}, {}),
            "broadcast": ({"X": ints(5, 1, 4, high=2, dtype="bool"), "Y": ints(3, 1, high=2, dtype="bool", seed=1)}, {}),
            "numbers, broadcast": ({"X": np.array([[0.0], [-0.0], [np.nan]]), "Y": np.array([0.0, 1.0, np.nan])}, {}),
            "number on the left": ({"X": np.array(3), "Y": ints(2, 3, high=2)}, {}),
            **{dtype: (pair(dtype, 2), {}) for dtype in ("int8", "int16", "int32", "int64", "bool")},
        },
        refusals={**OTHER_INPUT, **TWO_INPUTS_WITH_ROWS},
    )


def bitwise_tests(op_type: str, function: Function) -> Callable[..., None]:
    """Tests a bitwise operator of X and Y; bitwise_not has its own test."""
    kinds = {
        dtype: ({"X": ints(4, 9, high=100, dtype=dtype), "Y": ints(9, high=100, dtype=dtype, seed=1)}, {}) for dtype in INTEGERS
    }
    return op_tests(
        op_type,
        lambda inputs, attrs: {"Out": function(inputs["X"], inputs["Y"])},
        cases={
            **kinds,
            "bool": (pair("bool", 2), {}),
            "below 0": ({"X": ints(300, low=-99, high=99), "Y": ints(300, low=-99, high=99, seed=1)}, {}),
            "both broadcast": ({"X": ints(3, 1), "Y": ints(1, 5, seed=1)}, {}),
            "one element": ({"X": np.array(6), "Y": np.array(3)}, {}),
            "number on the left": ({"X": np.array(6), "Y": ints(2, 3)}, {}),
            "no rows": ({"X": ints(0, 4), "Y": ints(4)}, {}),
        },
        refusals={**OTHER_INPUT, "floating point": ({"X": array(3), "Y": array(3)}, {}, pm.Error, "float64")},
    )


def class_tests(op_type: str, function: Function) -> Callable[..., None]:
    """Tests whether elements of X are in a class of floating-point numbers: finite, infinite, NaN."""
    special = [*ZEROS, 1.0, -1.0e30, *NOT_FINITE]
    cases: Cases = {
        "special values": ({"X": np.resize(special, 37)}, {}),
        "matrix": ({"X": np.resize(special, (5, 4))}, {}),
        "one element": ({"X": np.array(np.nan)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "int32": ({"X": ints(3, 4, dtype="int32")}, {}),
        "int64": ({"X": ints(3, 4)}, {}),
    }
    refusals: dict[str, Any] = {**NO_ROWS_TAKEN, "bool": ({"X": np.array([True])}, {}, pm.Error, "bool")}
    return op_tests(op_type, lambda inputs, attrs: {"Out": function(inputs["X"])}, cases, refusals=refusals)
