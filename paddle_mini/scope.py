# Scopes: the values of variables between runs; LoDTensor and SelectedRows.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ._core import ProgramError, Scope, ShapeError, as_array
from .errors import shown
from .renamed import answers_names, refuses_copies
from .thread_state import setting, state

__all__ = ["LoDTensor", "Scope", "SelectedRows", "global_scope", "scope_guard"]

answers_names(Scope)
refuses_copies(Scope, "io.get_state(program, scope) is a dict of its arrays, io.set_state(program, state, scope) sets them")
state().scope = Scope()


def global_scope() -> Scope:
    """The default scope of runs.

    Example:
        >>> y = pm.layers.fc(pm.layers.data("x", [-1, 8]), 4, param_attr="weight")
        >>> pm.Executor().run(pm.default_startup_program())
        []
        >>> pm.global_scope().get("weight").shape
        (8, 4)
    """
    scope: Scope = state().scope
    return scope


@contextmanager
def scope_guard(scope: Scope) -> Iterator[Scope]:
    """Sets the default scope of runs inside; in another thread than the main one, for this thread only.

    Example:
        >>> y = pm.layers.fc(pm.layers.data("x", [-1, 8]), 4, param_attr="weight")
        >>> with pm.scope_guard(pm.Scope()) as scope:
        ...     _ = pm.Executor().run(pm.default_startup_program())
        >>> "weight" in scope, "weight" in pm.global_scope()
        (True, False)
    """
    with setting(scope=require_scope(scope)):
        yield scope


def require_scope(scope: Any) -> Scope:
    """The scope; ProgramError for anything else."""
    if not isinstance(scope, Scope):
        raise ProgramError(f"scope is of type {type(scope).__name__}, it must be a Scope")
    return scope


def scope_or_global(scope: Any) -> Scope:
    """The scope, or the global one for None; ProgramError for anything else, such as the Executor of PaddlePaddle's functions."""
    return global_scope() if scope is None else require_scope(scope)


def raw_name(name: str) -> str:
    """The variable that holds a parameter's value while its average is swapped in (ParameterAverage.apply)."""
    return f"{name}@RAW"


def is_array(value: Any) -> bool:
    """Whether the value is an array, of any library; single numbers are not."""
    return (hasattr(value, "__dlpack__") or hasattr(value, "__array__")) and not isinstance(value, np.generic)


def array_of(value: Any, what: str) -> np.ndarray[Any, Any]:
    """as_array; ShapeError also for an object whose methods of DLPack give something else."""
    try:
        return as_array(value, what)
    except (TypeError, RuntimeError):
        raise ShapeError(
            f"{what} is of type {type(value).__name__}, whose __dlpack__ or __dlpack_device__ does not give what DLPack has: "
            "a capsule; two integers"
        ) from None


class LoDTensor:
    """An array whose rows are sequences: lod=[[0, 2, 5]] means that rows 0–1 are one and rows 2–4
    another. Further lists group the sequences of the list after them.

    NumPy and libraries with from_dlpack read it as its array, without the lod.

    Example:
        >>> words = pm.layers.data("words", [-1, 1], lod_level=1)
        >>> sums = pm.layers.sequence_pool(words, "sum")
        >>> rows = np.array([[1], [2], [3], [4], [5]], "float32")
        >>> pm.Executor().run(feed={"words": pm.LoDTensor(rows, [[0, 2, 5]])}, fetch_list=[sums])[0]
        array([[ 3.],
               [12.]], dtype=float32)
    """

    def __init__(self, array: Any, lod: list[list[int]] | None = None):
        self.array: np.ndarray[Any, Any] = array_of(array, "LoDTensor: the array")
        levels = [] if lod is None else lod
        if not all(isinstance(level, (list, tuple, np.ndarray)) for level in levels):
            raise ShapeError(f"LoDTensor: lod is {shown(lod)}, it must be a list of lists of offsets such as [[0, 2, 5]]")
        self.lod = [list(level) for level in levels]

    def __repr__(self) -> str:
        return f"LoDTensor({self.array!r}, lod={self.lod})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False and dtype not in (None, self.array.dtype):
            raise ValueError(f"LoDTensor: {self.array.dtype} can't become {dtype} without a copy")
        return np.array(self.array, dtype) if copy else np.asarray(self.array, dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class SelectedRows(NamedTuple):
    """Rows of a table: values[i] belongs to row rows[i]; rows may repeat. The result of fetching a sparse
    gradient gives.

    height: the rows of the table.
    Example:
        >>> gradient = pm.SelectedRows(np.array([3, 7]), np.ones((2, 4), "float32"), height=100)
        >>> gradient.values.shape
        (2, 4)
    """

    rows: np.ndarray
    values: np.ndarray
    height: int

    def to_dense(self) -> np.ndarray:
        """The whole table: repeated rows are summed, missing rows are zeros."""
        table = np.zeros((self.height,) + self.values.shape[1:], self.values.dtype)
        np.add.at(table, self.rows, self.values)
        return table
