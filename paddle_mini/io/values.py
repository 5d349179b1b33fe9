# Values from files, validated against the variables of a program before any is written to the scope.
from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import dtypes
from .._core import Error, OpError, ProgramError, Scope, ShapeError, printable, set_in_parts
from ..feeds import element_type, unmasked
from ..program import Program

Lod = list[list[int]]


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Errors inside begin with the file's name."""
    try:
        yield
    except Error as error:
        raise type(error)(f"'{path}': {error}") from None


def zeros_of_averages(program: Program, state: Container[str]) -> dict[str, np.ndarray]:
    """Zeros, by name, for the blocks that a state with averages from an earlier version lacks: an average whose block is
    zero is the array Average itself (parameter_average, average_rows)."""
    block = program.global_block()
    names = {
        name
        for op in block.ops
        if op.type in ("parameter_average", "average_rows")
        if op.input("Average")[0] in state
        for port in ("Block", "Sums")
        for name in op.input(port)
        if name not in state
    }
    return {name: np.zeros(block.vars[name].shape, block.vars[name].dtype) for name in names}


def set_values(scope: Scope, program: Program, values: Mapping[str, tuple[np.ndarray, Lod | None]]) -> None:
    """Gives each variable its array and sequence offsets, when all of them fit; else ShapeError or ProgramError,
    ScopeInUse while a run is at work there, and the scope is as it was. No interrupt comes between values without offsets."""
    for name, (array, lod) in values.items():
        _check(program, name, array)
        # A scope validates the number of dimensions, and offsets, which end at the rows; only these are copied.
        rows = array.shape[:1] if lod else (0,) * min(array.ndim, 1)
        Scope().set(name, np.zeros((*rows, *(0 for _ in array.shape[1:])), "uint8"), lod)
    with scope.editing(list(values)):
        without_offsets = [(name, array.shape, [np.ascontiguousarray(array)]) for name, (array, lod) in values.items() if not lod]
        set_in_parts(scope, without_offsets)
        for name, (array, lod) in values.items():
            if lod:
                scope.set(name, array, lod)


def shape_fits(shape: Sequence[int], declared: Sequence[int]) -> bool:
    """Whether a variable that is declared with one shape may have a value of another; those of one element are equivalent."""
    if set(declared) <= {1} and set(shape) <= {1}:
        return True
    return len(shape) == len(declared) and all(want in (-1, dim) for want, dim in zip(declared, shape))


def require_value(name: str, scope: Scope) -> None:
    """OpError unless the variable has a value."""
    if name not in scope:
        raise OpError(f"'{printable(name)}' has no value in the scope to be saved: run the startup program, or load it, first")


def require_declared(program: Program, name: str, kind: int, dtype: str, shape: Sequence[int]) -> None:
    """ShapeError if a value of this kind, element type and shape is not one that the program declares."""
    var = program.global_block().var(name)
    if kind != var.kind or dtype != var.dtype or not shape_fits(shape, var.shape):
        words = {dtypes.SELECTED_ROWS: "selected rows of "}
        raise ShapeError(
            f"'{printable(name)}' is {words.get(kind, '')}{list(shape)} {dtype}, "
            f"the program declares {words.get(var.kind, '')}{list(var.shape)} {var.dtype}"
        )


def _check(program: Program, name: str, array: Any) -> None:
    var = program.global_block().var(name)
    if var.kind != dtypes.TENSOR:
        raise ProgramError(f"'{printable(name)}' is not a tensor in the program")
    if not isinstance(unmasked(array, f"the value of '{printable(name)}'"), np.ndarray):
        raise ProgramError(f"the value of '{printable(name)}' is of type {type(array).__name__}, it must be a NumPy array")
    found, shape = element_type(array.dtype), list(array.shape)
    if not shape_fits(shape, var.shape) or found != var.dtype or not array.dtype.isnative:
        raise ShapeError(
            f"'{printable(name)}' is {shape} {found if array.dtype.isnative else array.dtype}, "
            f"the program declares {list(var.shape)} {var.dtype}"
        )


def check_names(missing: list[str], unexpected: list[str]) -> None:
    """ProgramError that lists the names."""
    lists = {"without a value": missing, "not in the program": unexpected}
    differences = [f"{len(names)} {what}: {_some(names)}" for what, names in lists.items() if names]
    if differences:
        raise ProgramError("values and variables differ: " + "; ".join(differences))


def _some(names: list[str]) -> str:
    return ", ".join(repr(name[:100]) for name in names[:5]) + (", …" if len(names) > 5 else "")


def plain(values: Mapping[str, np.ndarray]) -> dict[str, tuple[np.ndarray, Lod | None]]:
    """Arrays without sequence offsets, as set_values takes them."""
    return {name: (array, None) for name, array in values.items()}
