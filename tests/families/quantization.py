# Shared parts of the tests of operators of quantized models.
from __future__ import annotations

from typing import Any

import numpy as np

from harness import array

# Halves of the scales below, which the two ways of rounding round differently.
HALVES = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 127.0, -3.3]).reshape(2, 4)
X = {"X": array(3, 4, low=-2, high=2)}


def quantized(x: np.ndarray, scale: np.ndarray, attrs: dict[str, Any]) -> np.ndarray:
    """The integers of X."""
    bins = 2.0 ** (attrs["bit_length"] - 1) - 1
    inverse = bins / np.where(scale <= 1e-6, scale + 1e-6, scale)
    if attrs["round_type"] == 0:
        return np.clip(np.rint(x * inverse), -bins - 1, bins)
    products = np.clip(x, -scale, scale) * inverse
    return np.copysign(np.floor(np.abs(products) + 0.5), products)


def dequantized(x: np.ndarray, scale: np.ndarray, attrs: dict[str, Any]) -> np.ndarray:
    return x * scale / (2.0 ** (attrs["bit_length"] - 1) - 1)


def by_channel(values: np.ndarray, x: np.ndarray, axis: int) -> np.ndarray:
    """The values along an axis of X, or one value for -1."""
    return values.reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def largest(x: np.ndarray, axis: int) -> np.ndarray:
    return np.abs(x).max(tuple(i for i in range(x.ndim) if i != axis), initial=0).reshape(-1)


def moved(inputs: dict[str, Any], rate: float) -> dict[str, np.ndarray]:
    """OutState, OutAccum and OutScale of a step of training."""
    rate = float(np.float32(rate))
    state, total = rate * inputs["InState"] + 1, rate * inputs["InAccum"] + np.abs(inputs["X"]).max(initial=0)
    return {"OutState": state, "OutAccum": total, "OutScale": total / state}


def kept(inputs: dict[str, Any]) -> dict[str, np.ndarray]:
    """OutState and OutAccum of a step that leaves them."""
    return {f"Out{name}": inputs[f"In{name}"] for name in ("State", "Accum") if f"In{name}" in inputs}
