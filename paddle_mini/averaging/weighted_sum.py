# Weighted sums of parameter files, read sequentially.
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from .._core import ProgramError, Scope, ShapeError, printable
from ..dtypes import FLOAT_NAMES
from ..feeds import bfloat16_bits, bfloat16_values, element_type
from ..io.model import read_program
from ..io.parameters import load_parameters, parameter_names
from ..io.state import load_state
from ..program import Program

Source = Union[str, "os.PathLike[str]", Mapping[str, np.ndarray]]

# Machine epsilon: the distance from 1 to the next number.
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


class WeightedSum:
    """sum of weight × file, variable by variable, in float64; floats only, all else is that of the file marked newest.

    names: which variables to take; None: all. Holds the sum and, while one is added, one file.
    """

    def __init__(self, amplification: float, tolerance: float, names: Sequence[str] | None = None):
        self._amplification, self._tolerance = amplification, tolerance
        self._names = None if names is None else set(names)
        self._facts: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._sums: dict[str, np.ndarray] = {}
        self._first = ""

    def add(self, source: Source, program: Program | None, label: str, weight: float, newest: bool) -> None:
        """Errors name the file: ProgramError for names or dtypes that are not the first file's, for values that are not
        finite or of a dtype too coarse for the weights; ShapeError for shapes. Nothing of a faulty sum is returned."""
        missing = set(self._facts)
        for name, array in arrays_of(source, program):
            if self._names is not None and name not in self._names:
                continue
            self._check(name, array, label)
            missing.discard(name)
            if self._facts[name][0] in FLOAT_NAMES:
                self._accumulate(name, array, label, weight)
            elif newest:
                self._sums[name] = np.array(array)
        if self._names is not None and not self._first:
            missing = self._names - set(self._facts)
        if missing:
            raise ProgramError(f"'{label}' lacks '{min(missing)}'" + (f", which '{self._first}' has" if self._first else ""))
        self._first = self._first or label

    def result(self) -> dict[str, np.ndarray]:
        """By name, in the dtype of the files (bfloat16 as its bits in uint16). Empties this sum."""
        done = {}
        for name in sorted(self._facts):
            total, (dtype, _) = self._sums.pop(name), self._facts[name]
            if dtype == "bfloat16":
                total = bfloat16_bits(total)
            elif dtype in FLOAT_NAMES:
                with np.errstate(over="ignore"):
                    total = total.astype(dtype)
            if dtype in FLOAT_NAMES and not np.isfinite(bfloat16_values(total)).all():
                raise ProgramError(f"the result for '{printable(name)}' is too large for {dtype}")
            done[name] = total
        return done

    def _check(self, name: str, array: Any, label: str) -> None:
        if not isinstance(array, np.ndarray):
            raise ProgramError(f"'{label}': '{printable(name)}' is of type {type(array).__name__}, not an array of parameters")
        facts = (element_type(array.dtype), array.shape)
        if not self._first:
            self._facts[name] = facts
            check_rounding(facts[0], self._amplification, self._tolerance, f"'{label}': '{printable(name)}': ")
        wanted = self._facts.get(name)
        if wanted is None:
            raise ProgramError(f"'{label}' has '{printable(name)}', which '{self._first}' lacks")
        if facts != wanted:
            kind = ProgramError if facts[0] != wanted[0] else ShapeError
            raise kind(
                f"'{label}': '{printable(name)}' is {list(facts[1])} {facts[0]}; in '{self._first}' it is "
                f"{list(wanted[1])} {wanted[0]}"
            )

    def _accumulate(self, name: str, array: np.ndarray, label: str, weight: float) -> None:
        array = bfloat16_values(array)
        if not np.isfinite(array).all():
            raise ProgramError(f"'{label}': '{printable(name)}' has values that are not finite")
        term = np.multiply(array, weight, dtype=np.float64)
        if name in self._sums:
            self._sums[name] += term
        else:
            self._sums[name] = np.asarray(term)


def check_rounding(dtype: str, amplification: float, tolerance: float, where: str = "") -> None:
    """ProgramError if weights with this sum of absolute values amplify the rounding of the dtype too much."""
    error = EPSILON.get(dtype, 0.0) * amplification
    if error > tolerance:
        raise ProgramError(
            f"{where}the weights amplify the rounding of {dtype} {amplification:.3g} times, to "
            f"{error:.1e} of the parameters, above the tolerance of {tolerance:.1e}; take checkpoints "
            "of a finer dtype, more of them near the target, or a target that is longer"
        )


def arrays_of(source: Source, program: Program | None = None) -> Iterator[tuple[str, np.ndarray]]:
    """The variables of a file, each released before the next one is asked for; program: that of a .pdiparams file,
    None: the .pdmodel file beside it."""
    if isinstance(source, Mapping):
        yield from source.items()
        return
    path = os.fspath(source)
    if path.endswith(".pdiparams"):
        program = read_program(path) if program is None else program
        scope = Scope()
        load_parameters(path, program, scope)
        for name in parameter_names(program):
            value = scope.get(name)
            scope.erase(name)
            yield name, value
        return
    state = load_state(path)
    names: list[str] = sorted(state)
    for name in names:
        yield name, state.pop(name)
