# Shared tests of operators that answer one question about all elements of X.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import array, ints, op_tests

from .unary import NO_ROWS_TAKEN


def of_all_tests(op_type: str, answer: Callable[[np.ndarray], Any]) -> Callable[..., None]:
    """Tests Out = [answer(X)]."""
    return op_tests(
        op_type,
        lambda inputs, attrs: {"Out": np.array([bool(answer(inputs["X"]))])},
        cases={
            "finite": ({"X": array(3, 4)}, {}),
            "NaN": ({"X": with_last(np.nan)}, {}),
            "infinity": ({"X": with_last(np.inf)}, {}),
            "minus infinity": ({"X": with_last(-np.inf)}, {}),
            "one element": ({"X": array()}, {}),
            "no elements": ({"X": array(0, 4)}, {}),
            "int64": ({"X": ints(3, 4)}, {}),
            "int32": ({"X": ints(3, 4, dtype="int32")}, {}),
        },
        refusals=NO_ROWS_TAKEN,
    )


def with_last(value: float) -> np.ndarray:
    x = array(7, 143)
    x[-1, -1] = value
    return x
