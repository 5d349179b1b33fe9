# One operator in a program of its own, with values for its inputs.
from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import paddle_mini as pm

from ..schemas import op_schema


@dataclass
class Rows:
    """Selected rows: values[i] belongs to row rows[i] of a table with `height` rows."""

    rows: Sequence[int] | np.ndarray
    values: np.ndarray
    height: int

    def dense(self) -> np.ndarray:
        return pm.SelectedRows(np.asarray(self.rows, np.int64), np.asarray(self.values), self.height).to_dense()


def array(*shape: int, low: float = -1.0, high: float = 1.0, seed: int = 0) -> np.ndarray:
    """Random float64, the same for the same shape and seed."""
    return generator(shape, seed).uniform(low, high, shape)


def complex_array(*shape: int, seed: int = 0) -> np.ndarray:
    """Random complex128, the same for the same shape and seed; both parts are in [-1, 1)."""
    return array(*shape, seed=seed) + 1j * array(*shape, seed=seed + 1000)


def ints(*shape: int, low: int = 0, high: int = 10, dtype: str = "int64", seed: int = 0) -> np.ndarray:
    """Random integers in [low, high), the same for the same shape and seed."""
    return generator(shape, seed).integers(low, high, shape).astype(dtype)


def array_of(value: Any) -> np.ndarray:
    """The numeric array of a value of any kind."""
    if isinstance(value, Rows):
        return np.asarray(value.values)
    return np.asarray(value.array if isinstance(value, pm.LoDTensor) else value)


def with_array(value: Any, numbers: np.ndarray) -> Any:
    """A value of the same kind, with the same rows or sequences and other numbers."""
    if isinstance(value, Rows):
        return Rows(value.rows, numbers, value.height)
    return pm.LoDTensor(numbers, value.lod) if isinstance(value, pm.LoDTensor) else numbers


# The complex type whose parts have a type; 16-bit floats have none.
COMPLEX_OF = {"float16": "complex64", "float32": "complex64", "float64": "complex128"}


def each(inputs: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """The inputs with each of their values changed."""
    return {
        port: [change(item) for item in value] if isinstance(value, list) else change(value) for port, value in inputs.items()
    }


def cast(value: Any, dtype: str | None) -> Any:
    """The value in a float type, or in the complex type whose parts have it, if a type is given."""
    numbers = array_of(value)
    if dtype and numbers.dtype.kind in "fc":
        numbers = numbers.astype(COMPLEX_OF[dtype] if numbers.dtype.kind == "c" else dtype)
    return with_array(value, numbers)


def run_op(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any] | None = None, outputs: Any = None) -> dict[str, Any]:
    """Runs one operator. outputs: names of ports, or {port: number of variables}; None: all that
    are not optional. Returns {port: array, list of arrays, Rows, or LoDTensor}."""
    return OneOp(op_type, inputs, attrs or {}, outputs).run()


class OneOp:
    """A program with one operator, and a scope with its inputs."""

    def __init__(
        self,
        op_type: str,
        inputs: dict[str, Any],
        attrs: dict[str, Any],
        outputs: Any = None,
        aliased: bool = True,
        temporaries: bool = False,
        place: Any = None,
    ):
        self.schema = op_schema(op_type)
        self.program, self.scope, self.executor = pm.Program(), pm.Scope(), pm.Executor(place)
        self.block = self.program.global_block()
        self.values: dict[str, Any] = {}
        self.arguments = {port: self._bind(port, value, temporaries) for port, value in inputs.items()}
        updated = {out: port for port, out in self.schema["updates"] if aliased and port in self.arguments}
        counts = dict.fromkeys(outputs, 1) if isinstance(outputs, (list, tuple)) else dict(outputs or {})
        for port in self.schema["outputs"]:
            if not port["optional"] or port["name"] in updated:
                counts.setdefault(port["name"], 1)
        self.lists = {port["name"] for port in self.schema["outputs"] if port["list"]}
        self.outputs = {
            port: self.arguments[updated[port]] if port in updated else [f"out_{port}_{i}" for i in range(count)]
            for port, count in counts.items()
        }
        self.written = {name for names in self.outputs.values() for name in names}
        given = {name: value for name, value in attrs.items() if value is not None}
        self.op = self.block.append_op(op_type, self.arguments, self.outputs, given)

    def _bind(self, port: str, value: Any, temporaries: bool) -> list[str]:
        names = []
        for i, item in enumerate(value if isinstance(value, list) else [value]):
            name = f"{port}_{i}"
            self.put(name, item)
            if temporaries and not isinstance(item, Rows):
                self.block.append_op("assign", {"X": name}, {"Out": name + "_copy"})
                name += "_copy"
            names.append(name)
        return names

    def put(self, name: str, value: Any) -> None:
        """Creates a persistable variable with this value."""
        self.values[name] = value
        values = array_of(value)
        lod = value.lod if isinstance(value, pm.LoDTensor) else []
        if not self.block.has_var(name):
            shape = [value.height, *values.shape[1:]] if isinstance(value, Rows) else values.shape
            dtype = "bfloat16" if values.dtype == np.uint16 else values.dtype  # its bits: NumPy has no bfloat16
            self.block.create_var(
                name, dtype=dtype, shape=shape, kind=8 if isinstance(value, Rows) else 7, lod_level=len(lod), persistable=True
            )
        if isinstance(value, Rows):
            self.scope.set_rows(name, list(value.rows), values, value.height)
        else:
            self.scope.set(name, values, lod)

    def fetch(self, names: list[str], program: pm.Program | None = None) -> list[Any]:
        found = self.executor.run(program or self.program, fetch_list=names, scope=self.scope, return_numpy=False)
        return [Rows(value.rows, value.values, value.height) if isinstance(value, pm.SelectedRows) else value for value in found]

    def run(self, program: pm.Program | None = None) -> dict[str, Any]:
        names = [name for port in self.outputs for name in self.outputs[port]]
        values = dict(zip(names, self.fetch(names, program)))
        return {
            port: [values[name] for name in args] if port in self.lists else values[args[0]]
            for port, args in self.outputs.items()
        }

    def check_inputs_unchanged(self) -> None:
        for name, value in self.values.items():
            if name in self.written:
                continue
            if isinstance(value, Rows):
                rows, values, height = self.scope.get_rows(name)
                assert list(rows) == list(value.rows) and height == value.height, f"rows of input {name} changed"
                now = values
            else:
                now = self.scope.get(name)
            np.testing.assert_array_equal(now, array_of(value), f"input {name} changed")


def generator(shape: Any, seed: int) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(repr(tuple(shape)).encode()), seed])
