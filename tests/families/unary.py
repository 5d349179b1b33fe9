# Shared tests of operators with one input X and an output Out of its shape.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import paddle_mini as pm
from harness import Cases, Reference, Rows, array, ints, op_tests

TWO_ROWS = Rows([1], array(1, 2), 3)
NO_ROWS_TAKEN = {"selected rows": ({"X": TWO_ROWS}, {}, pm.ShapeError, "X selected rows")}
WRONG_TYPES = {
    "int64": {"integers": ({"X": ints(3, 4)}, {}, pm.Error, "int64")},
    "bool": {"truth": ({"X": ints(3, 4) > 5}, {}, pm.Error, "bool")},
    None: {},
}
ZEROS = [0.0, -0.0]
NOT_FINITE = [np.inf, -np.inf, np.nan]
SPECIAL = [*ZEROS, 1.0, -1.0, 100.0, -100.0, *NOT_FINITE]


def unary_tests(
    op_type: str,
    function: Callable[..., np.ndarray],
    domain: tuple[float, float],
    special: Sequence[float] = SPECIAL,
    attrs: dict[str, Any] = {},
    cases: Cases = {},
    values_only: Cases = {},
    wrong_type: str | None = "int64",
    refusals: dict[str, Any] = {},
) -> Callable[..., None]:
    """Tests Out = function(X); X is drawn from the domain, a half-open range.

    special: numbers at which gradients are not tested. attrs: values of attributes other than the defaults; then it is
    function(X, all attributes). wrong_type: an element type that the operator has no kernel for.
    """
    low, high = domain
    return op_tests(
        op_type,
        unary_reference(function if attrs else lambda x, attrs: function(x)),
        cases={
            "matrix": ({"X": array(3, 4, low=low, high=high)}, {}),
            "long": ({"X": array(1003, low=low, high=high)}, {}),
            "one element": ({"X": array(low=low, high=high)}, {}),
            "no rows": ({"X": array(0, 4)}, {}),
            **({"attributes": ({"X": array(7, 33, low=low, high=high)}, attrs)} if attrs else {}),
            **cases,
        },
        gradients=["X"],
        values_only={**(special_values(special) if len(special) else {}), **values_only},
        refusals={**NO_ROWS_TAKEN, **WRONG_TYPES[wrong_type], **refusals},
    )


def unary_reference(function: Callable[..., np.ndarray]) -> Reference:
    def reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
        with np.errstate(all="ignore"):
            return {"Out": function(inputs["X"], attrs)}

    return reference


def special_values(numbers: Sequence[float], attrs: dict[str, Any] = {}) -> Cases:
    """The numbers repeated: more than registers hold, and a remainder."""
    return {"special values": ({"X": np.resize(numbers, 37)}, attrs)}


def integers_of(*shape: int) -> Cases:
    return {dtype: ({"X": ints(*shape, low=-9, dtype=dtype)}, {}) for dtype in ("int32", "int64")}
