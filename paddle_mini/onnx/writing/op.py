# OpWriter: an operator of a program as its exporter reads it; exporter: the table of exporters.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes
from ..._core import printable
from ...operator import EMPTY_NAME, Operator
from ...schemas import defaults
from ...variable import Variable
from ..tensors import Unsupported, element_number

if TYPE_CHECKING:
    from .graph import GraphWriter

Exporter = Callable[["OpWriter"], None]
EXPORTERS: dict[str, Exporter] = {}


def exporter(*op_types: str) -> Callable[[Exporter], Exporter]:
    """Adds a function to the table. It appends nodes, and calls `put` for each output of the operator."""

    def add(function: Exporter) -> Exporter:
        for op_type in op_types:
            EXPORTERS[op_type] = function
        return function

    return add


class OpWriter:
    """One operator of a program, and the nodes that it becomes. Values of ONNX are their names."""

    def __init__(self, writer: GraphWriter, op: Operator):
        self.writer, self.op, self.type = writer, op, op.type
        self._defaults = defaults(op.type)

    def attr(self, name: str) -> Any:
        """The value of an attribute, or its default."""
        return self.op.attr(name, self._defaults.get(name))

    def has(self, port: str) -> bool:
        """Whether the operator has a variable at this input port."""
        return bool([name for name in self.op.input(port) if name != EMPTY_NAME])

    def wants(self, port: str) -> bool:
        """Whether the operator has a variable at this output port."""
        return bool([name for name in self.op.output(port) if name != EMPTY_NAME])

    def x(self, port: str = "X", index: int = 0) -> str:
        """The value of an input."""
        return self.writer.value(self.op.input(port)[index])

    def xs(self, port: str = "X") -> list[str]:
        return [self.writer.value(name) for name in self.op.input(port)]

    def var(self, port: str = "X", index: int = 0) -> Variable:
        return self.op.block.var(self.op.input(port)[index])

    def shape(self, port: str = "X", index: int = 0) -> list[int]:
        """The shape of an input, with -1 for dimensions that only a run knows; Unsupported if not even their number is known."""
        return _shape_of(self.var(port, index))

    def out_shape(self, port: str = "Out", index: int = 0) -> list[int]:
        return _shape_of(self.op.block.var(self.op.output(port)[index]))

    def static(self, port: str = "X", index: int = 0) -> list[int]:
        """The shape; Unsupported if a dimension is known only at a run."""
        shape = self.shape(port, index)
        if any(dim < 0 for dim in shape):
            raise Unsupported(f"the shape {shape} of '{printable(self.var(port, index).name)}' must be known")
        return shape

    def rank(self, port: str = "X") -> int:
        return len(self.shape(port))

    def axis(self, axis: int, rank: int) -> int:
        """An axis, counted from the front."""
        return axis % rank if rank else 0

    def dtype(self, port: str = "X") -> str:
        return str(self.var(port).dtype)

    def out_dtype(self, port: str = "Out") -> str:
        return str(self.op.block.var(self.op.output(port)[0]).dtype)

    def is_float(self, port: str = "X") -> bool:
        return self.dtype(port) in dtypes.FLOAT_NAMES

    def dtype_of_floats(self) -> str:
        """The element type of the first input that has floats."""
        vars = [self.op.block.var(name) for name in self.op.input_names]
        return next(str(var.dtype) for var in vars if var.dtype in dtypes.FLOAT_NAMES)

    def refuse(self, *ports: str) -> None:
        """Unsupported if an attribute is given by a tensor at one of these ports."""
        for port in ports:
            if self.has(port):
                raise Unsupported(f"input {port}, which only a run knows")

    def emit(self, op_type: str, *inputs: str, **attrs: Any) -> str:
        """Appends a node with one output, and returns it. An input of "" is left out; so are attributes that are None."""
        return self.writer.emit(self.op, op_type, inputs, 1, attrs)[0]

    def emit_many(self, op_type: str, count: int, *inputs: str, **attrs: Any) -> list[str]:
        """As emit, with several outputs."""
        return self.writer.emit(self.op, op_type, inputs, count, attrs)

    def put(self, value: str, port: str = "Out", index: int = 0) -> None:
        """The value of an output; nothing if the operator does not have the output."""
        names = self.op.output(port)
        if index < len(names) and names[index] != EMPTY_NAME:
            self.writer.put(self.op, names[index], value)

    def constant(self, value: Any, dtype: str) -> str:
        """A constant with these elements."""
        return self.writer.constant(value, dtype)

    def ints(self, values: Sequence[int]) -> str:
        """A constant vector of int64, as ONNX has shapes and axes."""
        return self.constant(np.asarray(values, "int64").reshape(len(values)), "int64")

    def like(self, value: float, port: str = "X") -> str:
        """A constant number of the element type of an input."""
        return self.constant(value, self.dtype(port))

    def cast(self, x: str, dtype: str) -> str:
        return self.emit("Cast", x, to=element_number(dtype))

    def add(self, x: str, y: str) -> str:
        return self.emit("Add", x, y)

    def sub(self, x: str, y: str) -> str:
        return self.emit("Sub", x, y)

    def mul(self, x: str, y: str) -> str:
        return self.emit("Mul", x, y)

    def div(self, x: str, y: str) -> str:
        return self.emit("Div", x, y)

    def reshape(self, x: str, shape: Sequence[int]) -> str:
        """0 copies a dimension, one -1 is computed."""
        return self.emit("Reshape", x, self.ints(shape))

    def unsqueeze(self, x: str, axes: Sequence[int]) -> str:
        return self.emit("Unsqueeze", x, self.ints(axes)) if len(axes) else x

    def squeeze(self, x: str, axes: Sequence[int]) -> str:
        return self.emit("Squeeze", x, self.ints(axes)) if len(axes) else x

    def transpose(self, x: str, axes: Sequence[int]) -> str:
        return x if list(axes) == list(range(len(axes))) else self.emit("Transpose", x, perm=list(axes))

    def slice(self, x: str, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], steps: Sequence[int] = ()) -> str:
        return self.emit("Slice", x, *(self.ints(values) for values in (starts, ends, axes, steps) if len(values)))

    def concat(self, parts: Sequence[str], axis: int) -> str:
        return self.emit("Concat", *parts, axis=axis)

    def dim(self, x: str, axis: int) -> str:
        """A dimension of x as a vector of one int64."""
        return self.slice(self.emit("Shape", x), [0], [axis], [axis + 1])

    def reduce(self, op_type: str, x: str, axes: Sequence[int] | None, keep: bool) -> str:
        """x reduced over axes; None: over all. The axes are an input from opset 18 on, for ReduceSum before."""
        if axes is None:
            return self.emit(op_type, x, keepdims=int(keep))
        if not axes:
            return self.emit("Identity", x)
        if op_type == "ReduceSum" or self.writer.opset >= 18:
            return self.emit(op_type, x, self.ints(axes), keepdims=int(keep))
        return self.emit(op_type, x, axes=list(axes), keepdims=int(keep))

    def require_opset(self, opset: int, what: str) -> None:
        """Unsupported if the file's opset is older."""
        if self.writer.opset < opset:
            raise Unsupported(f"{what} in opset {self.writer.opset}; opset {opset} has it")


def _shape_of(var: Variable) -> list[int]:
    if not var.shape_known:
        raise Unsupported(f"the rank of '{printable(var.name)}' must be known")
    return list(var.shape)
