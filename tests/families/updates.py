# Shared tests of optimizers' operators: inputs of one step, and rejections.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import paddle_mini as pm
from harness import Rows, array

Inputs = dict[str, Any]


def steps(rate: float, *, scalars: dict[str, float] = {}, **state: dict[str, Any]) -> Callable[..., Inputs]:
    """Returns step(*shape, grad=None, **others), which makes the inputs of one step.

    state: inputs of the shape of Param, and the ranges they are drawn from; scalars: inputs of one element.
    """

    def step(*shape: int, grad: Any = None, **others: Any) -> Inputs:
        return {
            "Param": array(*shape),
            "Grad": array(*shape, seed=1) if grad is None else grad,
            **{port: array(*shape, **how) for port, how in state.items()},
            "LearningRate": np.full(1, rate),
            **{port: np.full(1, number) for port, number in scalars.items()},
            **others,
        }

    return step


def other_shape(step: Callable[..., Inputs], attrs: Inputs = {}) -> dict[str, Any]:
    return {"other shape": (step(3, grad=array(4)), attrs, pm.ShapeError, "Param [3] Grad [4]")}


def dense_only(step: Callable[..., Inputs], attrs: Inputs = {}) -> dict[str, Any]:
    rows = step(6, 3, grad=Rows([2], array(1, 3), 6))
    return {**other_shape(step, attrs), "selected rows": (rows, attrs, pm.ShapeError, "Grad selected rows tensor")}
