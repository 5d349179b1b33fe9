# What every runtime computes: shapes, data and initial values, in NumPy. Rules of the steps stand beside them.
from __future__ import annotations

from typing import List, NamedTuple, Tuple

import numpy as np

Layer = Tuple[np.ndarray, np.ndarray]  # weight, bias


class Training(NamedTuple):
    """A network, one batch that is learned again and again, and a learning rate small enough for it to last.

    The loss is the mean over the batch of the softmax cross entropy.
    """

    x: np.ndarray      # float32
    label: np.ndarray  # int64 [batch]
    layers: List[Layer]
    rate: float


# p ← p - rate g
def tiny_mlp() -> Training:
    """64-128-10, relu between, batch 32, sgd."""
    return _mlp([64, 128, 10], batch=32, rate=0.01)


# Kingma & Ba 2015 with these constants; epsilon is added to the root of the corrected second moment
ADAM = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


def mlp() -> Training:
    """784-512-512-10, relu between, batch 128, adam."""
    return _mlp([784, 512, 512, 10], batch=128, rate=1e-5)


# v ← MOMENTUM v + g; p ← p - rate v
MOMENTUM = 0.9


def lenet() -> Training:
    """28x28 images; conv 20 5x5, maxpool 2, conv 50 5x5, maxpool 2, fc 500, relu, fc 10; batch 64, momentum."""
    draw = np.random.default_rng(3)
    shapes = [(20, 1, 5, 5), (50, 20, 5, 5), (800, 500), (500, 10)]
    return Training(_normal(draw, (64, 1, 28, 28), 1.0), draw.integers(0, 10, 64),
                    [_layer(draw, shape) for shape in shapes], rate=1e-4)


class Chain(NamedTuple):
    """x ← x * factor, x ← x + addend, and so on: `length` operators; the result is the sum of x."""

    x: np.ndarray
    factor: np.ndarray
    addend: np.ndarray
    length: int


def chain() -> Chain:
    draw = np.random.default_rng(2)
    return Chain(_normal(draw, (8,), 1.0), np.full(8, 0.99, np.float32), np.full(8, 0.01, np.float32), 1000)


# Parameters of the optimizer's step alone: so many elements in so many tensors.
OPTIMIZER_ELEMENTS = 32_000_000
OPTIMIZER_TENSORS = (8, 1000)


def _mlp(sizes: List[int], batch: int, rate: float) -> Training:
    draw = np.random.default_rng(1)
    layers = [_layer(draw, shape) for shape in zip(sizes, sizes[1:])]
    return Training(_normal(draw, (batch, sizes[0]), 1.0), draw.integers(0, sizes[-1], batch), layers, rate)


def _layer(draw: np.random.Generator, shape: Tuple[int, ...]) -> Layer:
    filters = len(shape) == 4  # [out, in, height, width]; else [in, out]
    fan_in = int(np.prod(shape[1:])) if filters else shape[0]
    outputs = shape[0] if filters else shape[1]
    return _normal(draw, shape, (2.0 / fan_in) ** 0.5), np.zeros(outputs, np.float32)


def _normal(draw: np.random.Generator, shape: Tuple[int, ...], spread: float) -> np.ndarray:
    return (spread * draw.standard_normal(shape)).astype(np.float32)
