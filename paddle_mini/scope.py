# Scopes: the values of variables between runs; LoDTensor and SelectedRows.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ._core import ProgramError, Scope, ShapeError
from .errors import shown
from .thread_state import state

__all__ = ["LoDTensor", "Scope", "SelectedRows", "global_scope", "scope_guard"]

state().scope = Scope()


def global_scope() -> Scope:
    """The default scope of runs."""
    scope: Scope = state().scope
    return scope


@contextmanager
def scope_guard(scope: Scope) -> Iterator[Scope]:
    """Sets the default scope of runs inside."""
    if not isinstance(scope, Scope):
        raise ProgramError(f"scope is of type {type(scope).__name__}, it must be a Scope")
    now = state()
    before, now.scope = now.scope, scope
    try:
        yield scope
    finally:
        now.scope = before


def raw_name(name: str) -> str:
    """The variable that holds a parameter's value while its average is swapped in (ParameterAverage.apply)."""
    return f"{name}@RAW"


class LoDTensor:
    """An array whose rows are sequences: lod=[[0, 2, 5]] means that rows 0–1 are one and rows 2–4
    another. Further lists group the sequences of the list after them."""

    def __init__(self, array: Any, lod: list[list[int]] | None = None):
        self.array = np.asarray(array)
        levels = [] if lod is None else lod
        if not all(isinstance(level, (list, tuple, np.ndarray)) for level in levels):
            raise ShapeError(f"LoDTensor: lod is {shown(lod)}, it must be a list of lists of offsets such as [[0, 2, 5]]")
        self.lod = [list(level) for level in levels]

    def __repr__(self) -> str:
        return f"LoDTensor({self.array!r}, lod={self.lod})"


class SelectedRows(NamedTuple):
    """Rows of a table: values[i] belongs to row rows[i]; rows may repeat. The result of fetching a sparse
    gradient gives."""

    rows: np.ndarray
    values: np.ndarray
    height: int

    def to_dense(self) -> np.ndarray:
        """The whole table: repeated rows are summed, missing rows are zeros."""
        table = np.zeros((self.height,) + self.values.shape[1:], self.values.dtype)
        np.add.at(table, self.rows, self.values)
        return table
