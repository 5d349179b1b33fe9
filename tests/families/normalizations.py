# Gradients of gradients of normalizations, by differences.
from __future__ import annotations

from collections.abc import Callable

import numpy as np

Gradients = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def first_gradients(
    x: np.ndarray, scale: np.ndarray, g: np.ndarray, axes: tuple[int, ...], channel: int, epsilon: float, running: object = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of X, Scale and Bias for g, that of the result: means and variances are over the axes, or those in
    `running`."""
    shape = [-1 if axis == channel else 1 for axis in range(x.ndim)]
    others = tuple(axis for axis in range(x.ndim) if axis != channel)
    mean, variance = (
        [x.mean(axes, keepdims=True), x.var(axes, keepdims=True)] if running is None else [one.reshape(shape) for one in running]
    )
    s = 1 / np.sqrt(variance + epsilon)
    xhat, scaled = (x - mean) * s, g * scale.reshape(shape)
    to_x = scaled * s
    if running is None:
        to_x = s * (scaled - scaled.mean(axes, keepdims=True) - xhat * (scaled * xhat).mean(axes, keepdims=True))
    return to_x, (g * xhat).sum(others), g.sum(others)


def second_gradients(first: Gradients, at: list[np.ndarray], weights: list[np.ndarray], step: float = 1e-6) -> list[np.ndarray]:
    """The gradients of x, scale and g in the sum of weights times first(x, scale, g), against differences."""

    def loss(values: list[np.ndarray]) -> float:
        return sum((one * weight).sum() for one, weight in zip(first(*values), weights))

    found = []
    for position, value in enumerate(at):
        slope = np.zeros(value.shape)
        for place in np.ndindex(value.shape):
            sides = []
            for sign in (1, -1):
                moved = value.copy()
                moved[place] += sign * step
                sides.append(loss([*at[:position], moved, *at[position + 1 :]]))
            slope[place] = (sides[0] - sides[1]) / (2 * step)
        found.append(slope)
    return found
