# Formula: appends the operators of a formula to the block of a gradient operator.
from __future__ import annotations

from typing import Any, NoReturn

from . import _core
from .operator import Operator
from .variable import Variable


class Formula:
    """The ports and attributes of a gradient operator, and functions that append operators to its block."""

    def __init__(self, op: Operator):
        self.op, self.block = op, op.block

    def __getitem__(self, port: str) -> Variable:
        return self.block.var(self.op.input(port)[0])

    def has(self, port: str) -> bool:
        return bool(self.op.input(port))

    def wants(self, port: str) -> bool:
        return bool(self.op.output(port + "@GRAD"))

    def attr(self, name: str) -> Any:
        return self.op.attr(name)

    def refuse(self, reason: str) -> NoReturn:
        raise _core.ProgramError(f"the gradient of {self.op.type} is not known: {reason}")

    def make(self, op_type: str, inputs: dict[str, Any], attrs: dict[str, Any] | None = None, out: str = "Out") -> Variable:
        name = self.block.program.new_name(op_type)
        outputs = {out: name}
        if op_type in ("reshape2", "squeeze2", "unsqueeze2"):  # whose gradients need it
            outputs["XShape"] = self.block.program.new_name(op_type)
        self.block.append_op(op_type, inputs, outputs, attrs or {})
        return self.block.var(name)

    def apply(self, op_type: str, x: Variable, **attrs: Any) -> Variable:
        return self.make(op_type, {"X": x}, attrs)

    def mean(self, x: Variable, axes: list[int]) -> Variable:
        return self.apply("reduce_mean", x, dim=axes, keep_dim=True)

    def sum(self, x: Variable, axes: list[int], keep: bool = True) -> Variable:
        return self.apply("reduce_sum", x, dim=axes, keep_dim=keep)

    def times(self, x: Variable, y: Variable, axis: int) -> Variable:
        """x times y, whose first dimension is aligned with this axis of x."""
        return self.make("elementwise_mul", {"X": x, "Y": y}, {"axis": _between(x, y, axis)})

    def summed_product(self, port: str, factor: Variable, gradient: Variable) -> Variable:
        """factor * gradient, summed over the axes along which the input X or Y was broadcast."""
        other = "Y" if port == "X" else "X"
        inputs = {port: self[port], other: factor, "Out@GRAD": gradient}
        axis = _between(self[port], factor, self.attr("axis"))
        return self.make("elementwise_mul_grad", inputs, {"axis": axis}, port + "@GRAD")

    def kept(self, x: Variable, axes: list[int], keep: bool) -> Variable:
        """x, a result of a reduction over the axes, with dimensions of 1 in their places."""
        return x if keep else self.apply("unsqueeze2", x, axes=axes)

    def differs(self, x: Variable, number: float) -> Variable:
        """Where x is not the number."""
        return self.make("not_equal", {"X": x, "Y": self.apply("fill_any_like", x, value=float(number))})

    def as_number(self, truth: Variable, like: Variable) -> Variable:
        return self.constant(self.make("cast", {"X": truth}, {"in_dtype": truth.dtype, "out_dtype": like.dtype}))

    def constant(self, x: Variable) -> Variable:
        """x, a result of the formula, without a gradient: the operator has none for what it is computed from."""
        x.stop_gradient = True
        return x


def _between(x: Variable, y: Variable, axis: int) -> int:
    """The attribute `axis` for these operands: it aligns the one with fewer dimensions."""
    return -1 if len(x.shape) == len(y.shape) else axis
