# The values that a checkpoint writes: read from the scope while it is written, or copied before.
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._core import Scope
from ..executor import Executor


class Values(NamedTuple):
    """The bytes of tensors by name, in pieces; of selected rows their names, the rows of the whole table, and the bytes of the
    rows' numbers and values; the state of the random generator."""

    tensors: Iterable[tuple[str, list[Any]]]
    rows: Iterable[tuple[str, int, list[bytes]]]
    has_rows: bool
    random: str


@contextmanager
def values_of(names: tuple[list[str], list[str]], scope: Scope, exe: Executor) -> Iterator[Values]:
    """The values of one step: no run changes the scope inside. They are read one after another, as they are asked for. names:
    the result of held_names."""
    tensors, rows = names
    random = exe.random_state()
    with scope.reading():
        yield Values(
            ((name, _pieces(scope, name)) for name in tensors), (_rows(scope, name) for name in rows), bool(rows), random
        )


def copied(values: Values) -> Values:
    """The same values in memory: they stay when the scope changes."""
    tensors = [
        (name, [piece.copy() if isinstance(piece, np.ndarray) else piece for piece in pieces]) for name, pieces in values.tensors
    ]
    return values._replace(tensors=tensors, rows=list(values.rows))


def _pieces(scope: Scope, name: str) -> list[Any]:
    """The elements of a tensor on the CPU stay where they are."""
    array, lod = scope.get(name, copy=None), scope.lod(name)
    if lod:
        return [_core.tensor_bytes(array, lod)]
    return [_core.tensor_header(array.dtype, array.shape), array.reshape(-1).view("uint8")]


def _rows(scope: Scope, name: str) -> tuple[str, int, list[bytes]]:
    numbers, values, height = scope.get_rows(name)
    return name, height, [_core.tensor_bytes(array, []) for array in (numbers, values)]
