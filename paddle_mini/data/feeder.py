# DataFeeder: rows of Python samples as what exe.run takes as feed.
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core import ProgramError, ShapeError, printable
from ..errors import listed, shown
from ..feeds import cast
from ..guards import default_main_program
from ..program import Program
from ..renamed import answers_names
from ..scope import LoDTensor
from ..variable import Variable


class _Declaration(NamedTuple):
    """The facts of a variable that decide on its values."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    lod_level: int


@answers_names
class DataFeeder:
    """Makes feeds for these variables from rows: samples with a value for each of them, in this order, or dicts by their names.

    feed_list: Variables, or names of variables of `program` (None: the default main program).
    A variable without lod gets its values stacked: a value has the shape of the variable without its first
    dimension, or as many elements in any shape where that is known. A variable with lod_level 1 takes a
    sequence of such values from each row; with lod_level 2 a sequence of sequences; it gets a LoDTensor.
    Example:
        >>> words = pm.layers.data("words", [-1, 1], "int64", lod_level=1)
        >>> label = pm.layers.data("label", [-1, 1], "int64")
        >>> feed = pm.data.DataFeeder([words, label]).feed([([5, 9], 0), ([3, 1, 4], 1)])
        >>> feed["words"].lod, feed["label"].shape
        ([[0, 2, 5]], (2, 1))
    """

    def __init__(self, feed_list: Sequence[Variable | str], program: Program | None = None):
        if isinstance(feed_list, (str, Variable)) or not feed_list:
            raise ProgramError("DataFeeder: feed_list must be a list of at least one Variable")
        here = (default_main_program() if program is None else program).global_block()
        self.variables = [here.var(item) if isinstance(item, str) else item for item in feed_list]
        for var in self.variables:
            if not isinstance(var, Variable):
                raise ProgramError(f"DataFeeder: feed_list holds {shown(var)}, which is neither a Variable nor a name")
            if not var.shape:
                raise ProgramError(f"DataFeeder: '{printable(var.name)}' has no first dimension, along which rows are put")

    def __getstate__(self) -> dict[str, Any]:
        """Without the program: a worker process of a Loader needs the declarations only."""
        return {"variables": [_Declaration(var.name, var.shape, var.dtype, var.lod_level) for var in self.variables]}

    def feed(self, rows: Iterable[Sequence[Any] | Mapping[str, Any]]) -> dict[str, Any]:
        """{name: array or LoDTensor} of a batch. Raises ShapeError for a batch without rows, or a row or one of
        its values does not fit."""
        held = [self._values(number, row) for number, row in enumerate(rows)]
        if not held:
            raise ShapeError("DataFeeder: the batch has no rows")
        return {var.name: _value(var, [values[i] for values in held]) for i, var in enumerate(self.variables)}

    def _values(self, number: int, row: Any) -> Sequence[Any]:
        """The values of a row in the order of the variables."""
        names = [var.name for var in self.variables]
        if isinstance(row, Mapping):
            if row.keys() == set(names):
                return [row[name] for name in names]
            found = f"has the keys {listed(row)}" if row else "is empty"
        elif isinstance(row, (list, tuple)):
            if len(row) == len(names):
                return row
            found = f"is {len(row)} values"
        else:
            found = f"is a {type(row).__name__}"
        raise ShapeError(f"DataFeeder: row {number} {found}, it must be a tuple of {len(names)}, or a dict: {listed(names)}")


def _value(var: Variable | _Declaration, values: list[Any]) -> np.ndarray | LoDTensor:
    lod: list[list[int]] = []
    for _ in range(var.lod_level):
        lengths = [_length(var, value) for value in values]
        lod.append([0, *np.cumsum(lengths).tolist()])
        values = [item for value in values for item in value]
    array = _stacked(var, values)
    return LoDTensor(array, lod) if lod else array


def _length(var: Variable | _Declaration, value: Any) -> int:
    try:
        return len(value)
    except TypeError:
        raise ShapeError(
            f"DataFeeder: '{printable(var.name)}' has lod_level {var.lod_level}, a value of it must be a sequence, "
            f"not {shown(value)}"
        ) from None


def _stacked(var: Variable | _Declaration, values: list[Any]) -> np.ndarray:
    dims = list(var.shape[1:])
    known = all(dim >= 0 for dim in dims)
    try:
        array = np.array([np.reshape(value, dims) for value in values] if known else values)
        array = cast(f"DataFeeder: values of '{printable(var.name)}' are {array.dtype}", array, var.dtype)
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:  # RuntimeError: of tensors with gradients
        raise ShapeError(
            f"DataFeeder: values of '{printable(var.name)}' don't make an array of {len(values)} × {dims}: {error}"
        ) from None
    if not values:
        return array.reshape([0, *(max(dim, 0) for dim in dims)])
    if array.ndim != 1 + len(dims) or any(want not in (-1, has) for want, has in zip(dims, array.shape[1:])):
        raise ShapeError(f"DataFeeder: values of '{printable(var.name)}' make {list(array.shape)}, it is {list(var.shape)}")
    return array
