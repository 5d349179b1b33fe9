# LSTM, GRU and RNN as loops over their steps: for peepholes, clip, other activations and GRU's reset before the product.
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..guards import program_guard
from ..layers.recurrence import StaticRNN
from ..program import Program
from ..variable import Variable
from .names import RECURRENT
from .node import Node
from .tensors import Unsupported

_LAST = {"axes": [0], "starts": [-1], "ends": [2**31 - 1], "decrease_axis": [0]}
Activation = Callable[[Variable], Variable]

# The operator, and ONNX's defaults of alpha and beta by the attributes here.
_ACTIVATIONS: dict[str, tuple[str, dict[str, float]]] = {
    "Relu": ("relu", {}),
    "Tanh": ("tanh", {}),
    "Sigmoid": ("sigmoid", {}),
    "Softsign": ("softsign", {}),
    "Softplus": ("softplus", {}),
    "Affine": ("scale", {"scale": 1.0, "bias": 0.0}),
    "LeakyRelu": ("leaky_relu", {"alpha": 0.01}),
    "ThresholdedRelu": ("thresholded_relu", {"threshold": 1.0}),
    "ScaledTanh": ("stanh", {"scale_b": 1.0, "scale_a": 1.0}),
    "HardSigmoid": ("hard_sigmoid", {"slope": 0.2, "offset": 0.5}),
    "Elu": ("elu", {"alpha": 1.0}),
}


def cells(n: Node, x: Variable, names: list[str], states: list[Variable]) -> list[Variable]:
    """The outputs [time, directions, batch, hidden] and the last states [directions, batch, hidden].

    x: [time, batch, input]. names: of the activations of all directions. states: as the last ones, before the first step.
    """
    backward = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[n.attr("direction")]
    activations = _activations(n, names)
    each = len(RECURRENT[n.type][1])
    found = []
    for d, reverse in enumerate(backward):
        first = [n.emit("slice", {"Input": state}, _of(d)) for state in states]
        found.append(_direction(n, d, x, reverse, activations[d * each : (d + 1) * each], first))
    y = n.emit("stack", {"X": [made[0] for made in found]}, {"axis": 1}, "Y")
    return [y, *(n.emit("stack", {"X": list(parts)}, {"axis": 0}, "Y") for parts in zip(*(made[1:] for made in found)))]


def _of(direction: int) -> dict[str, list[int]]:
    return {"axes": [0], "starts": [direction], "ends": [direction + 1], "decrease_axis": [0]}


def _activations(n: Node, names: list[str]) -> list[Activation]:
    """alpha and beta are lists of those activations that have them, in their order."""
    given: list[Iterator[float]] = [iter(n.attr(name, [])) for name in ("activation_alpha", "activation_beta")]
    limit = n.attr("clip", 0.0)

    def made(name: str) -> Activation:
        if name not in _ACTIVATIONS:
            raise Unsupported(f"activation {name}")
        op_type, defaults = _ACTIVATIONS[name]
        attrs: dict[str, Any] = {key: float(next(values, default)) for (key, default), values in zip(defaults.items(), given)}
        return lambda x: n.op(op_type, n.op("clip", x, min=-limit, max=limit) if limit else x, **attrs)

    return [made(name) for name in names]


def _direction(
    n: Node, d: int, x: Variable, reverse: bool, activations: list[Activation], first: list[Variable]
) -> list[Variable]:
    """The outputs [time, batch, hidden] and the last states [batch, hidden] of one direction."""
    count = len(RECURRENT[n.type][2])
    w, r = (n.emit("slice", {"Input": n.x(i)}, _of(d)) for i in (1, 2))
    halves = _split(n, n.emit("slice", {"Input": n.x(3)}, _of(d)), 2, 0) if n.has(3) else None
    step_of = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}[n.type](n, d, _split(n, r, count, 0), halves, activations)
    # The products of the inputs do not depend on the states: one for all steps.
    product = n.op("matmul_v2", x, w, trans_y=True)
    sequences = [n.add(product, halves[0]) if halves else product]
    if n.has(4):
        sequences.append(_inside(n, x))
    sequences = [n.op("flip", sequence, axis=[0]) if reverse else sequence for sequence in sequences]
    rnn = StaticRNN()
    with program_guard(n.reader.program, Program()), rnn.step():
        before = [rnn.memory(init=state) for state in first]
        sums, *inside = [rnn.step_input(sequence) for sequence in sequences]
        after = step_of(_split(n, sums, count, 1), *before)
        output = after[0]
        if inside:  # after the end of a sequence its states stay, and its outputs are 0
            output = n.mul(output, inside[0])
            outside = n.scale(inside[0], -1, 1)
            after = [n.add(n.mul(new, inside[0]), n.mul(old, outside)) for new, old in zip(after, before)]
        for memory, state in zip(before, after):
            rnn.update_memory(memory, state)
        rnn.output(output, *after)
    made: Any = rnn()
    y = n.op("flip", made[0], axis=[0]) if reverse else made[0]
    return [y, *(n.emit("slice", {"Input": state}, _LAST) for state in made[1:])]


def _split(n: Node, x: Variable, count: int, axis: int) -> list[Variable]:
    if count == 1:
        return [x]
    made: list[Variable] = n.emit_list("split", {"X": x}, {"axis": axis, "num": count}, "Out", count)
    return made


def _inside(n: Node, x: Variable) -> Variable:
    """[time, batch, 1]: 1 before the end of the sequence, 0 after it."""
    one = n.emit("slice", {"Input": x}, {"axes": [1, 2], "starts": [0, 0], "ends": [1, 1]})
    ones = n.emit("fill_any_like", {"X": one}, {"value": 1.0, "dtype": "float32"})
    step = n.op("cumsum", ones, axis=0)
    length = n.reshape(n.cast(n.x(4), "float32"), [1, -1, 1])
    return n.cast(n.op("less_equal", step, length), x.dtype)


def _rnn(n: Node, d: int, r: list[Variable], biases: Any, act: list[Activation]) -> Any:
    def step(x: list[Variable], h: Variable) -> list[Variable]:
        total = n.add(x[0], n.op("matmul_v2", h, r[0], trans_y=True))
        return [act[0](n.add(total, biases[1]) if biases else total)]

    return step


def _gru(n: Node, d: int, r: list[Variable], biases: Any, act: list[Activation]) -> Any:
    parts = _split(n, biases[1], 3, 0) if biases else None

    def product(h: Variable, gate: int) -> Variable:
        made = n.op("matmul_v2", h, r[gate], trans_y=True)
        return n.add(made, parts[gate]) if parts else made

    def step(x: list[Variable], h: Variable) -> list[Variable]:
        update, reset = (act[0](n.add(x[gate], product(h, gate))) for gate in (0, 1))
        before = n.attr("linear_before_reset")
        inner = n.mul(reset, product(h, 2)) if before else product(n.mul(reset, h), 2)
        candidate = act[1](n.add(x[2], inner))
        return [n.add(n.mul(n.scale(update, -1, 1), candidate), n.mul(update, h))]

    return step


def _lstm(n: Node, d: int, r: list[Variable], biases: Any, act: list[Activation]) -> Any:
    parts = _split(n, biases[1], 4, 0) if biases else None
    peepholes = _split(n, n.emit("slice", {"Input": n.x(7)}, _of(d)), 3, 0) if n.has(7) else None

    def step(x: list[Variable], h: Variable, c: Variable) -> list[Variable]:
        def total(gate: int, cell: Variable | None = None) -> Variable:
            made = n.add(x[gate], n.op("matmul_v2", h, r[gate], trans_y=True))
            made = n.add(made, parts[gate]) if parts else made
            return n.add(made, n.mul(peepholes[gate], cell)) if peepholes and cell is not None else made

        # ONNX's order of the gates: input, output, forget, cell.
        taken = act[0](total(0, c))
        kept = n.scale(taken, -1, 1) if n.attr("input_forget", 0) else act[0](total(2, c))
        cell = n.add(n.mul(kept, c), n.mul(taken, act[1](total(3))))
        return [n.mul(act[0](total(1, cell)), act[2](cell)), cell]

    return step
