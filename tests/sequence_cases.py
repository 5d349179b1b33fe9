# Cases for the tests of operators on sequences.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import paddle_mini as pm
from harness import array
from paddle_mini.testing.one_op import array_of


def sequences(*lengths: int, width: int = 3, seed: int = 0) -> pm.LoDTensor:
    """Random rows, with the given number in each sequence."""
    return lod_tensor(array(sum(lengths), width, seed=seed), lengths)


def lod_tensor(rows: np.ndarray, *levels: list[int]) -> pm.LoDTensor:
    """Rows in sequences of these lengths; further levels group the sequences of the next one."""
    return pm.LoDTensor(rows, [[0, *(int(end) for end in np.cumsum(lengths))] for lengths in levels])


def split(x: pm.LoDTensor) -> list[np.ndarray]:
    """The rows of each sequence of the last level."""
    return [x.array[begin:end] for begin, end in zip(x.lod[-1], x.lod[-1][1:])]


def dropped(reference: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The reference of an operator whose outputs have no sequences, even where they have as many rows as an input."""
    return lambda inputs, attrs: reference({port: array_of(value) for port, value in inputs.items()}, attrs)
