# Shared tests of the modified Bessel functions i0, i0e, i1, i1e.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def scaled(order: int, x: np.ndarray) -> np.ndarray:
    """exp(-|x|) I(x) = mean of exp(x cos t - |x|) cos(order t) over a period, where equal steps are exact."""
    t = 2 * np.pi * np.arange(512) / 512
    with np.errstate(all="ignore"):
        means = (np.exp(x[..., None] * np.cos(t) - np.abs(x[..., None])) * np.cos(order * t)).mean(-1)
    return np.where(np.isinf(x), 0, means)


def bessel_tests(op_type: str, order: int, is_scaled: bool) -> Callable[..., None]:
    """Tests out = I(x), or exp(-|x|) I(x)."""

    def reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
        x = inputs["x"]
        with np.errstate(all="ignore"):
            plain = np.where(np.isinf(x), x if order else np.abs(x), scaled(order, x) * np.exp(np.abs(x)))
        return {"out": scaled(order, x) if is_scaled else plain}

    return op_tests(
        op_type,
        reference,
        cases={
            "matrix": ({"x": array(3, 4, low=0.1, high=4)}, {}),
            "negative": ({"x": array(8, low=-4, high=-0.1)}, {}),
            "long": ({"x": array(1003, low=0.5, high=3)}, {}),
            "one element": ({"x": array(low=0.5, high=2)}, {}),
            "nothing": ({"x": array(0, 2)}, {}),
        },
        gradients=["x"],
        values_only={
            "large": ({"x": array(1003, low=0.5, high=60)}, {}),
            "special values": ({"x": np.resize([0.0, -0.0, 19.999, 20.0, -80.0, np.inf, -np.inf, np.nan], 37)}, {}),
        },
        refusals={"integers": ({"x": ints(2)}, {}, pm.Error, "int64")},
    )
