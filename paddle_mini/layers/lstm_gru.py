# Recurrent layers: LSTM and GRU over sequences with a lod, one step of a GRU, and stacks over padded sequences.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core import ProgramError, ShapeError, printable
from ..errors import shown
from ..initializer import Initializer, Uniform
from ..param_attr import ParamAttr
from ..variable import Variable
from .emit import create_parameter, emit_all, known_dim, layer_name, refuse, require_float, whole
from .fill import fill_constant_batch_size_like

_GRU_ACTIVATIONS = ["identity", "sigmoid", "tanh", "relu"]  # gru_unit knows them by number
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def dynamic_lstm(
    input: Variable,
    size: int,
    h_0: Variable | None = None,
    c_0: Variable | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_peepholes: bool = True,
    is_reverse: bool = False,
    gate_activation: str = "sigmoid",
    cell_activation: str = "tanh",
    candidate_activation: str = "tanh",
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """(hidden, cell) of an LSTM at every row of every sequence, from x W as fc gives it.

    input: sequences of rows [T, size], size = 4 · width: what the input gives candidate, input, forget and output
    gate. h_0, c_0: [sequences, width], the state before each sequence; None: zeros; they must be given together.
    use_peepholes: gates see the cell. is_reverse: each sequence from its end. Activations: "sigmoid", "tanh",
    "relu" or "identity". dtype: that of input. Returns two [T, width]. The weight [width, 4 · width] begins with
    Xavier, the bias [1, 4 · width], or [1, 7 · width] with peepholes, with zeros.
    Hochreiter and Schmidhuber 1997; Gers and Schmidhuber, "Recurrent nets that time and count", 2000.
    gate_activation, cell_activation, candidate_activation: those of gates, output and candidate.
    bias_attr: a ParamAttr, name or initializer for the bias, which can't be left out.
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> hidden, cell = pm.layers.dynamic_lstm(pm.layers.fc(words, 4 * 16), size=4 * 16)
        >>> hidden.shape
        (-1, 16)
    """
    width = _width("dynamic_lstm", input, size, 4)
    if (h_0 is None) != (c_0 is None):
        refuse(ProgramError, "dynamic_lstm: give both h_0 and c_0, or none")
    if dtype != input.dtype:
        refuse(ProgramError, f"dynamic_lstm: dtype is '{dtype}', the input is {input.dtype}")
    prefix = layer_name("lstm", name)
    weight, bias = _weight_and_bias(
        "dynamic_lstm", input, [width, 4 * width], (7 if use_peepholes else 4) * width, param_attr, bias_attr, prefix
    )
    made = emit_all(
        "lstm",
        {"Input": input, "H0": h_0, "C0": c_0, "Weight": weight, "Bias": bias},
        {
            "use_peepholes": use_peepholes,
            "is_reverse": is_reverse,
            "gate_activation": gate_activation,
            "cell_activation": cell_activation,
            "candidate_activation": candidate_activation,
        },
        name=prefix,
        outputs={"BatchGate": 1, "BatchCellPreAct": 1},
    )
    return made["Hidden"], made["Cell"]  # type: ignore[return-value]


def dynamic_gru(
    input: Variable,
    size: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    is_reverse: bool = False,
    gate_activation: str = "sigmoid",
    candidate_activation: str = "tanh",
    h_0: Variable | None = None,
    origin_mode: bool = False,
    name: str | None = None,
) -> Variable:
    """The state of a GRU at every row of every sequence, from x W as fc gives it.

    input: sequences of rows [T, 3 · size]: what the input gives update gate, reset gate and candidate.
    h_0: [sequences, size], the state before each sequence; None: zeros. is_reverse: each sequence from its end.
    origin_mode: the update gate is the share of the state before, as in the paper; else that of the candidate.
    Returns [T, size]. The weight [size, 3 · size] begins with Xavier, the bias [1, 3 · size] with zeros.
    Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", EMNLP 2014.
    gate_activation, candidate_activation: "sigmoid", "tanh", "relu" or "identity".
    bias_attr: a ParamAttr, name or initializer for the bias, which can't be left out.
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.layers.dynamic_gru(pm.layers.fc(words, 3 * 16), size=16).shape
        (-1, 16)
    """
    _width("dynamic_gru", input, 3 * whole("dynamic_gru", "size", size), 3)
    prefix = layer_name("gru", name)
    weight, bias = _weight_and_bias("dynamic_gru", input, [size, 3 * size], 3 * size, param_attr, bias_attr, prefix)
    made = emit_all(
        "gru",
        {"Input": input, "H0": h_0, "Weight": weight, "Bias": bias},
        {
            "is_reverse": is_reverse,
            "gate_activation": gate_activation,
            "activation": candidate_activation,
            "origin_mode": origin_mode,
        },
        name=prefix,
        outputs={"BatchGate": 1, "BatchResetHiddenPrev": 1, "BatchHidden": 1},
    )
    return made["Hidden"]  # type: ignore[return-value]


def gru_unit(
    input: Variable,
    hidden: Variable,
    size: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    activation: str = "tanh",
    gate_activation: str = "sigmoid",
    origin_mode: bool = False,
    name: str | None = None,
) -> tuple[Variable, Variable, Variable]:
    """One step of a GRU: (state, reset gate · state before, gates).

    input: [batch, size], size = 3 · width, as in dynamic_gru; hidden: the state before, [batch, width].
    bias_attr=False: no bias. Returns [batch, width] twice and [batch, size].
    activation, gate_activation: of candidate and gates, as in dynamic_gru. origin_mode: as in dynamic_gru.
    Example:
        >>> x, state = pm.layers.data("x", [-1, 8]), pm.layers.data("state", [-1, 16])
        >>> state, reset, gates = pm.layers.gru_unit(pm.layers.fc(x, 3 * 16), state, size=3 * 16)
        >>> state.shape
        (-1, 16)
    """
    width = _width("gru_unit", input, size, 3)
    for argument, value in (("activation", activation), ("gate_activation", gate_activation)):
        if value not in _GRU_ACTIVATIONS:
            refuse(ProgramError, f"gru_unit: {argument} is {shown(value)}, it must be one of {', '.join(_GRU_ACTIVATIONS)}")
    prefix = layer_name("gru_unit", name)
    inputs = {"Input": input, "HiddenPrev": hidden, "Weight": create_parameter([width, size], input.dtype, param_attr, prefix)}
    if bias_attr is not False:
        inputs["Bias"] = create_parameter([1, size], input.dtype, bias_attr, prefix, bias=True)
    made = emit_all(
        "gru_unit",
        inputs,
        {
            "activation": _GRU_ACTIVATIONS.index(activation),
            "gate_activation": _GRU_ACTIVATIONS.index(gate_activation),
            "origin_mode": origin_mode,
        },
        name=prefix,
    )
    return made["Hidden"], made["ResetHiddenPrev"], made["Gate"]  # type: ignore[return-value]


def lstm(
    input: Variable,
    init_h: Variable,
    init_c: Variable,
    max_len: int,
    hidden_size: int,
    num_layers: int,
    dropout_prob: float = 0.0,
    is_bidirec: bool = False,
    is_test: bool = False,
    name: str | None = None,
    default_initializer: Initializer | None = None,
    seed: int = -1,
) -> tuple[Variable, Variable, Variable]:
    """A stack of LSTM layers over padded sequences: (outputs, last states, last cells); see stacked_rnn.

    max_len: ignored; input determines the number of steps. seed: −1: not fixed.
    init_h, init_c: [layers · directions, batch, hidden_size]. hidden_size, num_layers, dropout_prob, is_bidirec,
    default_initializer: as in stacked_rnn.
    Returns [steps, batch, directions · hidden_size], and states like init_h and init_c.
    Example:
        >>> x, start = pm.layers.data("x", [20, -1, 8]), pm.layers.data("start", [2, -1, 16])
        >>> outputs, h, c = pm.layers.lstm(x, start, start, max_len=20, hidden_size=16, num_layers=2)
        >>> outputs.shape
        (20, -1, 16)
    """
    outputs, states = stacked_rnn(
        input,
        hidden_size,
        num_layers,
        "LSTM",
        [init_h, init_c],
        is_bidirec,
        dropout_prob,
        is_test=is_test,
        default_initializer=default_initializer,
        seed=max(seed, 0),
        name=layer_name("lstm", name),
    )
    return outputs, states[0], states[1]


def stacked_rnn(
    input: Variable,
    hidden_size: int,
    num_layers: int = 1,
    mode: str = "LSTM",
    initial: Sequence[Variable] | None = None,
    is_bidirec: bool = False,
    dropout_prob: float = 0.0,
    sequence_length: Variable | None = None,
    is_test: bool = False,
    param_attr: Any = None,
    default_initializer: Initializer | None = None,
    seed: int = 0,
    name: str | None = None,
) -> tuple[Variable, list[Variable]]:
    """Recurrent layers, each on the output of the one before: (outputs, last states).

    input: [steps, batch, features], float; features must be known. mode: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU".
    initial: the states before the first step, each [layers · directions, batch, hidden_size]: one, or for LSTM the
    state and the cell; None: zeros. is_bidirec: each layer also runs from the last step to the first, and both
    outputs stand side by side. dropout_prob: between layers. sequence_length: [batch], int32 or int64; later
    steps are padding, and give zeros. seed: 0: not fixed.
    Returns [steps, batch, directions · hidden_size], and states like `initial`. All weights begin with
    U(−1/√hidden_size, 1/√hidden_size) unless param_attr or default_initializer says otherwise.
    num_layers: layers in the stack.
    Example:
        >>> x = pm.layers.data("x", [20, -1, 8])
        >>> outputs, (last,) = pm.layers.stacked_rnn(x, hidden_size=16, mode="GRU", is_bidirec=True)
        >>> outputs.shape
        (20, -1, 32)
    """
    require_float("stacked_rnn", input)
    if mode not in _GATES:
        refuse(ProgramError, f"stacked_rnn: mode is {shown(mode)}, it must be one of {', '.join(_GATES)}")
    width, layers = (
        whole("stacked_rnn", argument, value) for argument, value in (("hidden_size", hidden_size), ("num_layers", num_layers))
    )
    if ParamAttr.of(param_attr).name:
        refuse(ProgramError, "stacked_rnn: param_attr cannot have a name, there are many parameters")
    prefix, directions = layer_name("stacked_rnn", name), 1 + bool(is_bidirec)
    count = 2 if mode == "LSTM" else 1
    if initial is None:
        shape = [layers * directions, -1, width]
        initial = [fill_constant_batch_size_like(input, shape, input.dtype, 0.0, 1, 1, name=prefix)] * count
    if not isinstance(initial, (list, tuple)) or len(initial) != count:
        refuse(ProgramError, f"stacked_rnn: initial must be a list of {count} Variables for {mode}")
    weights = _weights(input, width, layers, directions, _GATES[mode], param_attr, default_initializer, prefix)
    made = emit_all(
        "rnn",
        {"Input": input, "PreState": list(initial), "WeightList": weights, "SequenceLength": sequence_length},
        {
            "mode": mode,
            "hidden_size": width,
            "num_layers": layers,
            "is_bidirec": bool(is_bidirec),
            "seed": seed,
            "input_size": input.shape[2],
            "dropout_prob": dropout_prob,
            "is_test": is_test,
        },
        name=prefix,
        outputs={"State": count, "DropoutState": 1},
    )
    return made["Out"], made["State"]  # type: ignore[return-value]


def _weights(
    input: Variable, width: int, layers: int, directions: int, gates: int, attr: Any, default: Initializer | None, prefix: str
) -> list[Variable]:
    """W_i and W_h of every layer and direction, then b_i and b_h."""
    start = Uniform(-(width**-0.5), width**-0.5) if default is None else default
    features = [known_dim(input, 2, "stacked_rnn")] + [directions * width] * (layers - 1)
    shapes = [[gates * width, columns] for size in features for _ in range(directions) for columns in (size, width)]
    weights = [create_parameter(shape, input.dtype, attr, prefix, start) for shape in shapes]
    biases = [create_parameter([gates * width], input.dtype, attr, prefix, start, bias=True) for _ in shapes]
    return [*weights, *biases]


def _width(layer: str, input: Variable, size: int, gates: int) -> int:
    """The width of the state; ShapeError or ProgramError unless rows of input are `size`, which `gates` divides."""
    require_float(layer, input)
    if whole(layer, "size", size) % gates:
        refuse(ProgramError, f"{layer}: size is {size}, it must be a multiple of {gates}")
    if len(input.shape) != 2 or input.shape[1] not in (-1, size):
        refuse(ShapeError, f"{layer}: '{printable(input.name)}' is {list(input.shape)}, it must be [rows, {size}]")
    return size // gates


def _weight_and_bias(
    layer: str, input: Variable, shape: list[int], bias_size: int, param_attr: Any, bias_attr: Any, prefix: str
) -> tuple[Variable, Variable]:
    if bias_attr is False:
        refuse(ProgramError, f"{layer}: bias_attr cannot be False; ParamAttr(trainable=False) makes a bias that stays 0")
    return (
        create_parameter(shape, input.dtype, param_attr, prefix),
        create_parameter([1, bias_size], input.dtype, bias_attr, prefix, bias=True),
    )
