# Exporters of loops and branches: the inner blocks become graphs of their own.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ..._core import printable
from ...block import Block
from ..tensors import Unsupported, element_number, tensor_proto
from .op import OpWriter, exporter

Value = tuple[str, str]  # its name, and its element type


def _info(value: Value, shape: list[int] | None = None) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(value[0], element_number(value[1]), shape)


def _graph(o: OpWriter, nodes: list[Any], inputs: Sequence[Value], outputs: Sequence[Value]) -> Any:
    """A graph of these nodes. What it returns must be written in it, so each output is a copy."""
    from onnx import helper

    copies = [(o.writer.new_name(name), dtype) for name, dtype in outputs]
    nodes = nodes + [helper.make_node("Identity", [name], [copy[0]]) for (name, _), copy in zip(outputs, copies)]
    return helper.make_graph(nodes, o.writer.new_name(o.type), list(map(_info, inputs)), list(map(_info, copies)))


def _dtype(o: OpWriter, name: str) -> str:
    var = o.op.block.var(name)
    if var.kind != dtypes.TENSOR:
        raise Unsupported(f"'{printable(name)}', which is not a tensor")
    return str(var.dtype)


def _before(o: OpWriter, name: str) -> str:
    """The value of a variable before the block runs; zeros where it has none yet."""
    if name in o.writer.values:
        return o.writer.values[name]
    var = o.op.block.var(name)
    shape = o.ints([max(dim, 0) for dim in var.shape])
    return o.emit("ConstantOfShape", shape, value=tensor_proto("", np.zeros(1), _dtype(o, name)))


def _inner_block(o: OpWriter) -> Block:
    return o.writer.program.block(o.attr("sub_block"))


def _scalar(o: OpWriter, condition: str) -> str:
    return o.reshape(condition, [])


@exporter("conditional_block", "conditional_block_infer")
def conditional_block(o: OpWriter) -> None:
    if not o.attr("is_scalar_condition"):
        raise Unsupported("a condition that is not one truth value")
    names = o.op.output("Out")
    written = [(name, _dtype(o, name)) for name in names]
    nodes, values = o.writer.write_inner(_inner_block(o), {})
    inside = [(values[name], dtype) for name, dtype in written if name in values]
    written = [pair for pair in written if pair[0] in values]
    outside = [(_before(o, name), dtype) for name, dtype in written]
    branches = {"then_branch": _graph(o, nodes, [], inside), "else_branch": _graph(o, [], [], outside)}
    made = o.emit_many("If", len(written), _scalar(o, o.x("Cond")), **branches)
    for (name, _), value in zip(written, made):
        o.writer.put(o.op, name, value)


@exporter("select_input")
def select_input(o: OpWriter) -> None:
    dtype = _dtype(o, o.op.input("X")[0])
    mask = o.cast(_scalar(o, o.x("Mask")), "int64")
    made, *others = o.xs()
    for number, value in enumerate(others, 1):
        branches = {"then_branch": _graph(o, [], [], [(value, dtype)]), "else_branch": _graph(o, [], [], [(made, dtype)])}
        made = o.emit("If", o.emit("Equal", mask, o.constant(number, "int64")), **branches)
    o.put(made)


@exporter("while")
def loop(o: OpWriter) -> None:
    condition = o.op.input("Condition")[0]
    names = [name for name in dict.fromkeys(o.op.output("Out")) if name != condition]
    carried = [(name, _dtype(o, name)) for name in names]
    inner = {name: o.writer.new_name(name) for name, _ in carried}
    nodes, values = o.writer.write_inner(_inner_block(o), inner)
    more = (o.writer.new_name(condition), "bool")
    nodes, scalar = o.writer.collect(nodes, lambda: _scalar(o, values[condition]))
    inputs = [(o.writer.new_name("step"), "int64"), more, *((inner[name], dtype) for name, dtype in carried)]
    outputs = [(scalar, "bool"), *((values[name], dtype) for name, dtype in carried)]
    body = _graph(o, nodes, inputs, outputs)
    for number in (0, 1):
        body.input[number].CopyFrom(_info(inputs[number], []))  # ONNX Runtime does not infer that they are numbers
    first = [_before(o, name) for name in names]
    made = o.emit_many("Loop", len(names), "", _scalar(o, o.x("Condition")), *first, body=body)
    for name, value in zip(names, made):
        o.writer.put(o.op, name, value)
    # After the loop its condition is false.
    o.writer.put(o.op, condition, o.constant([False], "bool") if o.shape("Condition") else o.constant(False, "bool"))


@exporter("recurrent")
def recurrent(o: OpWriter) -> None:
    block = _inner_block(o)
    sequences, steps = o.op.input("inputs"), o.op.output("outputs")
    before, after = list(o.attr("ex_states")), list(o.attr("states"))
    inner = {name: o.writer.new_name(name) for name in [*before, *sequences]}
    nodes, values = o.writer.write_inner(block, inner)
    inputs = [(inner[name], str(block.var(name).dtype)) for name in [*before, *sequences]]
    outputs = [(values[name], str(block.var(name).dtype)) for name in [*after, *steps]]
    body = _graph(o, nodes, inputs, outputs)
    backward = int(o.attr("reverse"))
    made = o.emit_many(
        "Scan",
        len(outputs),
        *o.xs("initial_states"),
        *o.xs("inputs"),
        body=body,
        num_scan_inputs=len(sequences),
        scan_input_directions=[backward] * len(sequences),
        scan_output_directions=[backward] * len(steps) or None,
    )
    for index, value in enumerate(made[len(after) :]):
        o.put(value, "outputs", index)
