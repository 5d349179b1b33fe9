# Exporters of recurrent layers.
from __future__ import annotations

import numpy as np

from ..names import RECURRENT
from .op import OpWriter, exporter


@exporter("rnn")
def rnn(o: OpWriter) -> None:
    mode, hidden = o.attr("mode"), o.attr("hidden_size")
    name = mode if mode in RECURRENT else "RNN"
    directions, layers = 2 if o.attr("is_bidirec") else 1, o.attr("num_layers")
    x, states, weights = o.x("Input"), o.xs("PreState"), o.xs("WeightList")
    lengths = o.cast(o.x("SequenceLength"), "int32") if o.has("SequenceLength") else ""
    attrs = {"hidden_size": hidden, "direction": "bidirectional" if directions == 2 else "forward"}
    if name == "GRU":
        attrs["linear_before_reset"] = 1
    if mode == "RNN_RELU":
        attrs["activations"] = ["Relu"] * directions
    finals: list[list[str]] = [[] for _ in states]
    for layer in range(layers):
        first = layer * directions
        own = [_weights(o, name, weights, first, directions, layers * directions, which) for which in ("input", "hidden", "bias")]
        before = [o.slice(state, [0], [first], [first + directions]) if layers > 1 else state for state in states]
        made = o.emit_many(name, 1 + len(states), x, *own, lengths, *before, **attrs)
        # [time, directions, batch, hidden] as [time, batch, directions * hidden]
        x = o.reshape(o.transpose(made[0], [0, 2, 1, 3]), [0, 0, directions * hidden])
        for final, value in zip(finals, made[1:]):
            final.append(value)
    o.put(x)
    for index, final in enumerate(finals):
        o.put(final[0] if layers == 1 else o.concat(final, 0), "State", index)


def _weights(o: OpWriter, name: str, weights: list[str], first: int, directions: int, cells: int, which: str) -> str:
    """The weights of a layer's directions, with the gates in ONNX's order."""
    parts = []
    for cell in range(first, first + directions):
        if which == "bias":
            halves = [_gates(o, name, weights[2 * (cells + cell) + half]) for half in (0, 1)]
            parts.append(o.unsqueeze(o.concat(halves, 0), [0]))
        else:
            parts.append(o.unsqueeze(_gates(o, name, weights[2 * cell + (which == "hidden")]), [0]))
    return parts[0] if len(parts) == 1 else o.concat(parts, 0)


def _gates(o: OpWriter, name: str, x: str) -> str:
    """The gates, which are parts of the first axis, in ONNX's order."""
    order, hidden = np.argsort(RECURRENT[name][2]), o.attr("hidden_size")
    if len(order) == 1:
        return x
    return o.concat([o.slice(x, [0], [gate * hidden], [(gate + 1) * hidden]) for gate in order], 0)


_ACTIVATIONS = ("Identity", "Sigmoid", "Tanh", "Relu")


@exporter("gru_unit")
def gru_unit(o: OpWriter) -> None:
    x, before, size = o.x("Input"), o.x("HiddenPrev"), o.shape("HiddenPrev")[1]
    gate, activation = (_ACTIVATIONS[o.attr(name)] for name in ("gate_activation", "activation"))
    x = o.add(x, o.x("Bias")) if o.has("Bias") else x
    # The memory of Weight holds two matrices, one after the other.
    flat = o.reshape(o.x("Weight"), [-1])
    both = o.reshape(o.slice(flat, [0], [0], [2 * size * size]), [size, 2 * size])
    own = o.reshape(o.slice(flat, [0], [2 * size * size], [3 * size * size]), [size, size])
    gates = o.emit(gate, o.add(o.slice(x, [1], [0], [2 * size]), o.emit("MatMul", before, both)))
    update, reset = o.slice(gates, [1], [0], [size]), o.slice(gates, [1], [size], [2 * size])
    kept = o.mul(reset, before)
    candidate = o.emit(activation, o.add(o.slice(x, [1], [2 * size], [3 * size]), o.emit("MatMul", kept, own)))
    old, new = (candidate, before) if o.attr("origin_mode") else (before, candidate)
    o.put(o.add(old, o.mul(update, o.sub(new, old))), "Hidden")
    o.put(o.concat([update, reset, candidate], 1), "Gate")
    o.put(kept, "ResetHiddenPrev")
