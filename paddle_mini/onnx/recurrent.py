# Converters of recurrent layers.
from __future__ import annotations

from typing import Any

from .._core import ProgramError
from ..variable import Variable
from .cells import cells
from .names import RECURRENT
from .node import Node, converter


@converter("LSTM", "GRU", "RNN")
def recurrent(n: Node) -> list[Any]:
    cell, usual, gates = RECURRENT[n.type]
    direction, layout = n.attr("direction"), n.attr("layout", 0)
    directions = 2 if direction == "bidirectional" else 1
    names = [name.decode() if isinstance(name, bytes) else name for name in n.attr("activations", usual * directions)]
    if len(names) < len(usual) * directions:
        raise ProgramError(f"activations {names}: expected {len(usual) * directions} of them")
    names = names[: len(usual) * directions]  # the default of RNN has those of two directions
    x = n.x(0)
    x = n.transpose(x, [1, 0, 2]) if layout else x
    backward = direction == "reverse"
    if n.type == "RNN" and set(names) == {"Relu"}:
        cell, usual = "RNN_RELU", ["Relu"]
    if names != usual * directions or _needs_steps(n) or (backward and n.has(4)):
        y, *last = cells(n, x, names, _states(n, x, directions, layout))
        last = [n.transpose(state, [1, 0, 2]) if layout else state for state in last]
        return [n.transpose(y, [2, 0, 1, 3]) if layout else y, *last]
    x = n.op("flip", x, axis=[0]) if backward else x
    weights = _weights(n, gates, directions)
    state = _states(n, x, directions, layout)
    ports = {"Input": x, "PreState": state, "WeightList": weights}
    if n.has(4):
        ports["SequenceLength"] = n.x(4)
    attrs = {
        "is_bidirec": directions == 2,
        "hidden_size": n.x(2).shape[2],
        "input_size": n.x(1).shape[2],
        "mode": cell,
        "is_test": True,
    }
    outputs: dict[str, Any] = {port: [n.reader.new_name(n.type)] for port in ("Out", "Reserve", "DropoutState")}
    outputs["State"] = [n.reader.new_name(n.type) for _ in state]
    n.reader.block.append_op("rnn", ports, outputs, attrs)
    made = n.reader.block.var(outputs["Out"][0])
    made = n.op("flip", made, axis=[0]) if backward else made
    return [_output(n, made, directions, layout), *(_state_output(n, name, layout) for name in outputs["State"])]


def _output(n: Node, made: Variable, directions: int, layout: int) -> Variable:
    """[time, batch, directions * hidden] as ONNX has it: [time, directions, batch, hidden], and with layout 1
    [batch, time, directions, hidden]."""
    hidden = n.x(2).shape[2]
    split = n.emit("reshape2", {"X": made}, {"shape": [0, 0, directions, hidden]})
    return n.transpose(split, [1, 0, 2, 3] if layout else [0, 2, 1, 3])


def _state_output(n: Node, name: str, layout: int) -> Variable:
    state = n.reader.block.var(name)
    return n.transpose(state, [1, 0, 2]) if layout else state


def _needs_steps(n: Node) -> bool:
    """Whether the operator rnn does not have the cell."""
    peepholes, reset_first = n.has(7), n.type == "GRU" and not n.attr("linear_before_reset")
    return bool(n.attr("clip") or n.attr("input_forget", 0) or peepholes or reset_first)


def _weights(n: Node, gates: list[int], directions: int) -> list[Variable]:
    """W, R and the two halves of B for each direction, with the gates in the order of rnn."""
    hidden = n.require_static(n.x(2))[2]
    weights, biases = [], []
    for d in range(directions):
        weights += [_gates_of(n, n.x(i), d, gates, hidden, 0) for i in (1, 2)]
        for half in (0, 1):
            if n.has(3):
                biases.append(_gates_of(n, n.x(3), d, gates, hidden, half * len(gates) * hidden))
            else:
                attrs = {"shape": [len(gates) * hidden], "dtype": n.x(1).dtype, "value": 0.0}
                biases.append(n.emit("fill_constant", {}, attrs))
    return weights + biases


def _gates_of(n: Node, x: Variable, direction: int, gates: list[int], hidden: int, start: int) -> Variable:
    """The rows of one direction, each gate's in its new place."""
    parts = []
    for gate in gates:
        begin = start + gate * hidden
        attrs = {"axes": [0, 1], "starts": [direction, begin], "ends": [direction + 1, begin + hidden], "decrease_axis": [0]}
        parts.append(n.emit("slice", {"Input": x}, attrs))
    return parts[0] if len(parts) == 1 else n.emit("concat", {"X": parts}, {"axis": 0})


def _states(n: Node, x: Variable, directions: int, layout: int) -> list[Variable]:
    """The initial states [directions, batch, hidden]; zeros where the node does not have them."""
    hidden, states = n.x(2).shape[2], []
    for index in (5, 6) if n.type == "LSTM" else (5,):
        if n.has(index):
            states.append(n.transpose(n.x(index), [1, 0, 2]) if layout else n.x(index))
            continue
        attrs = {"shape": [directions, -1, hidden], "dtype": x.dtype, "value": 0.0, "input_dim_idx": 1, "output_dim_idx": 1}
        states.append(n.emit("fill_constant_batch_size_like", {"Input": x}, attrs))
    return states
