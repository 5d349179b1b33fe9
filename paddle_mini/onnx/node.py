# Node: an ONNX operator as its converter reads it; converter: the table of converters.
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core import ProgramError, printable
from ..schemas import op_schema
from ..variable import Variable
from .tensors import Unsupported

if TYPE_CHECKING:
    from .graph import GraphReader

Converter = Callable[["Node"], Any]
CONVERTERS: dict[str, Converter] = {}
DEFAULT_DOMAINS = ("", "ai.onnx")


class Items(list[str]):
    """A sequence of ONNX: the names of its tensors."""


class Rows(NamedTuple):
    """A sequence of ONNX to which a loop appends: its tensors, along the first axis."""

    stacked: Variable


def converter(*op_types: str) -> Callable[[Converter], Converter]:
    """Adds a function to the table. It appends operators and returns the value of the only output, or a list with a value
    for each output."""

    def add(function: Converter) -> Converter:
        for op_type in op_types:
            CONVERTERS[op_type] = function
        return function

    return add


def supported_operators() -> list[str]:
    """The names of the ONNX operators that load knows, sorted, all in the domain ai.onnx.

    Example:
        >>> "Conv" in pm.onnx.supported_operators()
        True
    """
    return sorted(CONVERTERS)


class Node:
    """One node of a graph, with its inputs as variables or as arrays."""

    def __init__(self, reader: GraphReader, proto: Any, schema: Any):
        self.reader, self.proto, self.type = reader, proto, proto.op_type
        self.inputs: list[str] = list(proto.input)
        self.outputs: list[str] = list(proto.output)
        self.version: int = schema.since_version
        self._schema = schema
        self._attrs = {attr.name: attr for attr in proto.attribute}

    def attr(self, name: str, default: Any = None) -> Any:
        """The value of an attribute; the default of ONNX's schema, or `default`, if the node does not have it."""
        from onnx import helper

        if name in self._attrs:
            value = helper.get_attribute_value(self._attrs[name])
            return value.decode("utf-8") if isinstance(value, bytes) else value
        known = self._schema.attributes.get(name)
        if known is not None and known.default_value.type:
            value = helper.get_attribute_value(known.default_value)
            return value.decode("utf-8") if isinstance(value, bytes) else value
        return default

    def has(self, index: int) -> bool:
        """Whether the node has this optional input."""
        return index < len(self.inputs) and bool(self.inputs[index])

    def wants(self, index: int) -> bool:
        """Whether the graph names this optional output."""
        return index < len(self.outputs) and bool(self.outputs[index])

    def x(self, index: int = 0) -> Variable:
        """The variable of an input."""
        return self.reader.variable(self.inputs[index])

    def xs(self) -> list[Variable]:
        return [self.reader.variable(name) for name in self.inputs if name]

    def array(self, index: int) -> np.ndarray | None:
        """The value of an input that is known while the graph is read, or None."""
        return self.reader.array(self.inputs[index])

    def known(self, index: int) -> np.ndarray:
        """As array; Unsupported if only a run computes it."""
        found = self.array(index)
        if found is None:
            name = printable(self.inputs[index])
            raise Unsupported(f"input '{name}' must be constant; constants= of load can fix an input of the graph")
        return found

    def known_ints(self, index: int) -> list[int]:
        return [int(item) for item in np.atleast_1d(self.known(index)).ravel()]

    def items(self, index: int) -> Items:
        """The names of the tensors of an input that is a sequence."""
        found = self.reader.sequence(self.inputs[index])
        if isinstance(found, Rows):
            raise Unsupported("a sequence to which a loop has appended")
        return found

    def dims(self, index: int) -> list[int | None] | None:
        """The elements of a shape, None where only a run knows them; None if not even their number is known."""
        return self.reader.dims(self.inputs[index])

    def axes(self, index: int = 1) -> list[int] | None:
        """Axes, which are an attribute in older versions of operators and an input in newer ones; None if absent."""
        if "axes" in self._attrs:
            return list(self.attr("axes"))
        return self.known_ints(index) if self.has(index) else None

    def emit(
        self, op_type: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any] | None = None, output: str | Sequence[str] = "Out"
    ) -> Any:
        """Appends an operator. output: a port, whose variable is returned, or several, whose variables are returned."""
        ports = [output] if isinstance(output, str) else list(output)
        hint = next((name for name in self.outputs if name), self.type)
        # Gradients read the shape of X.
        extra = [port["name"] for port in op_schema(op_type)["outputs"] if port["name"] == "XShape"]
        names = {port: self.reader.new_name(hint) for port in [*ports, *extra]}
        block = self.reader.block
        block.append_op(op_type, inputs, names, attrs)
        made = [block.var(names[port]) for port in ports]
        return made[0] if isinstance(output, str) else made

    def emit_list(self, op_type: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any], port: str, count: int) -> Any:
        """As emit, for a port of several variables."""
        names = [self.reader.new_name(self.type) for _ in range(count)]
        self.reader.block.append_op(op_type, inputs, {port: names}, attrs)
        return [self.reader.block.var(name) for name in names]

    def constant(self, value: Any, dtype: str | None = None) -> Variable:
        """A variable with the elements of an array."""
        array = np.asarray(value) if dtype is None or dtype == "bfloat16" else np.asarray(value, dtype)
        made = self.reader.constant_variable(self.reader.new_name(f"{self.type}_constant"), array)
        return self.cast(made, dtype) if dtype else made

    def cast(self, x: Variable, dtype: str) -> Variable:
        if x.dtype == dtype:
            return x
        return self.emit("cast", {"X": x}, {"in_dtype": x.dtype, "out_dtype": dtype})

    def op(self, op_type: str, x: Variable, y: Variable | None = None, **attrs: Any) -> Variable:
        """An operator of one input X, or of two, X and Y."""
        return self.emit(op_type, {"X": x} if y is None else {"X": x, "Y": y}, attrs)

    def add(self, x: Variable, y: Variable) -> Variable:
        return self.op("elementwise_add", x, y)

    def sub(self, x: Variable, y: Variable) -> Variable:
        return self.op("elementwise_sub", x, y)

    def mul(self, x: Variable, y: Variable) -> Variable:
        return self.op("elementwise_mul", x, y)

    def widened(self, x: Variable) -> Variable:
        """x as int64, if its integers are narrower than the kernels of arithmetic take."""
        return self.cast(x, "int64") if x.dtype in ("int8", "uint8", "int16") else x

    def scale(self, x: Variable, factor: float, bias: float = 0.0) -> Variable:
        return self.op("scale", x, scale=float(factor), bias=float(bias))

    def reshape(self, x: Variable, shape: Sequence[int]) -> Variable:
        return self.emit("reshape2", {"X": x}, {"shape": list(shape)}) if shape else self._to_scalar(x)

    def _to_scalar(self, x: Variable) -> Variable:
        return self.emit("squeeze2", {"X": x}, {"axes": list(range(len(x.shape)))}) if x.shape else x

    def transpose(self, x: Variable, axes: Sequence[int]) -> Variable:
        return self.emit("transpose2", {"X": x}, {"axis": list(axes)})

    def require_static(self, x: Variable, first: int = 0, end: int | None = None) -> list[int]:
        """The dimensions from `first` to `end`; Unsupported if one of them is known only at a run."""
        dims = list(x.shape[first:end])
        if any(dim < 0 for dim in dims):
            part = f", from dimension {first} on," if first else ""
            raise Unsupported(f"the shape {list(x.shape)} of '{printable(x.name)}'{part} must be known")
        return dims

    def sizes(self, x: Variable, first: int, end: int, dtype: str = "int64") -> Variable:
        """The dimensions from `first` to `end`, as a run has them: an array of one axis."""
        ends = self.emit("shape", {"Input": x})
        return self.cast(self.emit("slice", {"Input": ends}, {"axes": [0], "starts": [first], "ends": [end]}), dtype)

    def axis(self, axis: int, rank: int) -> int:
        if not -rank <= axis < max(rank, 1):
            raise ProgramError(f"{self.type}: axis {axis} does not exist in a tensor of {rank} axes")
        return axis % rank if rank else 0
