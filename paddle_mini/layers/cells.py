# Recurrent cells written with other layers, and `rnn`, which runs one over sequences.
from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any

from .._core import ProgramError, ShapeError
from ..errors import shown
from ..initializer import Constant
from ..param_attr import ParamAttr
from ..variable import Variable
from . import ops
from .cut import slice, split
from .emit import create_parameter, known_dim, layer_name, refuse
from .fill import fill_constant_batch_size_like
from .linear import matmul
from .rearrange import squeeze, transpose, unsqueeze
from .recurrence import StaticRNN
from .sequence import sequence_mask
from .structure import flatten_structure, map_structure, require_states
from .tensor import concat


class RNNCell(ABC):
    """One step: call(inputs, states) gives (output, new states). A cell makes its parameters once, at its
    first step, and uses them wherever it is called again.

    inputs: [N, width]. states: [N, width] each, as state_shape nests their widths.
    Example:
        >>> class Sum(pm.layers.RNNCell):
        ...     state_shape = 8
        ...     def call(self, inputs, states):
        ...         return inputs + states, inputs + states
        >>> outputs, last = pm.layers.rnn(Sum(), pm.layers.data("x", [-1, 5, 8]))
        >>> outputs.shape
        (-1, 5, 8)
    """

    @abstractmethod
    def call(self, inputs: Variable, states: Any) -> tuple[Variable, Any]:
        """inputs [N, width]; states as get_initial_states gives them."""

    @property
    @abstractmethod
    def state_shape(self) -> Any:
        """The widths of the states, nested as the states are: 128, or [128, 128]."""

    def __call__(self, inputs: Variable, states: Any) -> tuple[Variable, Any]:
        return self.call(inputs, states)

    def get_initial_states(
        self, batch_ref: Variable, dtype: str = "float32", init_value: float = 0.0, batch_dim_idx: int = 0
    ) -> Any:
        """States of every row of batch_ref filled with init_value: [N, width] each."""
        return map_structure(
            lambda width: fill_constant_batch_size_like(batch_ref, [-1, width], dtype, init_value, input_dim_idx=batch_dim_idx),
            self.state_shape,
        )


class GRUCell(RNNCell):
    """u, r = σ([x, h] W + b);  c = tanh([x, r h] W' + b');  h ← u h + (1 − u) c.

    hidden_size: width of h. Cho et al., "Learning phrase representations using RNN encoder–decoder", 2014.
    dtype: the element type of its parameters. States are [N, hidden_size].
    Example:
        >>> x, state = pm.layers.data("x", [-1, 5, 8]), pm.layers.data("state", [-1, 16])
        >>> outputs, last = pm.layers.rnn(pm.layers.GRUCell(16), x, state)
        >>> outputs.shape
        (-1, 5, 16)
    """

    def __init__(
        self, hidden_size: int, param_attr: Any = None, bias_attr: Any = None, dtype: str = "float32", name: str | None = None
    ):
        self.hidden_size, self.dtype = hidden_size, dtype
        self.param_attr, self.bias_attr = param_attr, bias_attr
        self.name = layer_name("gru_cell", name)
        self._made: list[Any] = []  # weights, and biases or None

    @property
    def state_shape(self) -> int:
        return self.hidden_size

    def call(self, inputs: Variable, states: Variable) -> tuple[Variable, Variable]:
        gates, gates_bias, candidate, candidate_bias = self._parameters(inputs)
        both = ops.sigmoid(_affine(concat([inputs, states], 1), gates, gates_bias))
        reset, update = split(both, 2, 1)
        fresh = ops.tanh(_affine(concat([inputs, ops.elementwise_mul(reset, states)], 1), candidate, candidate_bias))
        hidden = update * states + (1.0 - update) * fresh
        return hidden, hidden

    def _parameters(self, inputs: Variable) -> list[Any]:
        if not self._made:
            width = known_dim(inputs, 1, "GRUCell") + self.hidden_size
            for size in (2 * self.hidden_size, self.hidden_size):
                self._made += _weight_and_bias(self, width, size)
        return self._made


class LSTMCell(RNNCell):
    """i, j, f, o = [x, h] W + b;  c ← c σ(f + forget_bias) + σ(i) tanh(j);  h = tanh(c) σ(o).

    States are [h, c]. Hochreiter and Schmidhuber, "Long short-term memory", 1997.
    hidden_size: width of h and c. dtype: the element type of its parameters.
    Example:
        >>> x = pm.layers.data("x", [-1, 5, 8])
        >>> h, c = pm.layers.data("h", [-1, 16]), pm.layers.data("c", [-1, 16])
        >>> outputs, (last_h, last_c) = pm.layers.rnn(pm.layers.LSTMCell(16), x, [h, c])
        >>> last_h.shape
        (-1, 16)
    """

    def __init__(
        self,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        forget_bias: float = 1.0,
        dtype: str = "float32",
        name: str | None = None,
    ):
        self.hidden_size, self.dtype, self.forget_bias = hidden_size, dtype, forget_bias
        self.param_attr, self.bias_attr = param_attr, bias_attr
        self.name = layer_name("lstm_cell", name)
        self._made: list[Any] = []  # weights, and biases or None

    @property
    def state_shape(self) -> list[int]:
        return [self.hidden_size, self.hidden_size]

    def call(self, inputs: Variable, states: Any) -> tuple[Variable, Any]:
        if not isinstance(states, (list, tuple)) or len(states) != 2:
            refuse(ProgramError, f"LSTMCell: the states are {shown(states)}, they must be two Variables, hidden and cell")
        hidden, cell = states
        if not self._made:
            width = known_dim(inputs, 1, "LSTMCell") + self.hidden_size
            self._made = _weight_and_bias(self, width, 4 * self.hidden_size)
        weight, bias = self._made
        enter, new, forget, leave = split(_affine(concat([inputs, hidden], 1), weight, bias), 4, 1)
        cell = cell * ops.sigmoid(forget + self.forget_bias) + ops.sigmoid(enter) * ops.tanh(new)
        hidden = ops.tanh(cell) * ops.sigmoid(leave)
        return hidden, [hidden, cell]


def _weight_and_bias(cell: Any, width: int, size: int) -> list[Any]:
    weight = create_parameter([width, size], cell.dtype, _own(cell.param_attr), cell.name)
    if cell.bias_attr is False:
        return [weight, None]
    return [weight, create_parameter([size], cell.dtype, _own(cell.bias_attr), cell.name, Constant(0.0), bias=True)]


def _affine(x: Variable, weight: Variable, bias: Variable | None) -> Variable:
    product = matmul(x, weight)
    return product if bias is None else ops.elementwise_add(product, bias)


def _own(attr: Any) -> Any:
    # One attribute serves several parameters of a cell: each gets a separate name.
    if isinstance(attr, ParamAttr) and attr.name:
        attr = copy.copy(attr)
        attr.name = layer_name(attr.name)
    return attr


def rnn(
    cell: RNNCell,
    inputs: Variable,
    initial_states: Any = None,
    sequence_length: Variable | None = None,
    time_major: bool = False,
    is_reverse: bool = False,
) -> tuple[Variable, Any]:
    """Runs a cell over sequences.

    inputs [N, T, width], or [T, N, width] with time_major. sequence_length [N], int32 or int64: rows keep
    their state from there on. Outputs there are the cell's for the kept state, as in PaddlePaddle, not zeros:
    multiply them by sequence_mask for zeros. is_reverse: the last step first. Returns (outputs of every
    step, in the order of inputs; the last states).
    initial_states: those before the first step, [N, width] each; None: zeros.
    Example:
        >>> x = pm.layers.data("x", [-1, 5, 8])
        >>> outputs, (h, c) = pm.layers.rnn(pm.layers.LSTMCell(16), x)
        >>> outputs.shape, h.shape
        ((-1, 5, 16), (-1, 16))
    """
    if isinstance(inputs, Variable) and inputs.shape_known and len(inputs.shape) != 3 and not time_major:
        hint = "; layers.unsqueeze(inputs, [2]) makes the width 1" if len(inputs.shape) == 2 else ""
        refuse(ShapeError, f"rnn: inputs is {list(inputs.shape)}, it must be [N, T, width]{hint}")
    steps = inputs if time_major else transpose(inputs, [1, 0, 2])
    if initial_states is None:
        initial_states = cell.get_initial_states(steps, inputs.dtype, batch_dim_idx=1)
    require_states("rnn", "initial_states", initial_states)
    mask = None
    if sequence_length is not None:  # [T, N, 1]: 1 until the end of a row
        ones = sequence_mask(sequence_length, maxlen=known_dim(steps, 0, "rnn"), dtype=inputs.dtype)
        mask = unsqueeze(transpose(ones, [1, 0]), [2])
        mask.stop_gradient = True
    loop = StaticRNN(reverse=is_reverse)
    with loop.step():
        x = loop.step_input(steps)
        goes_on = None if mask is None else loop.step_input(mask)
        before = map_structure(lambda state: loop.memory(init=state), initial_states)
        output, after = cell(x, before)
        if goes_on is not None:
            after = map_structure(lambda new, old: goes_on * new + (1.0 - goes_on) * old, after, before)
        for old, new in zip(flatten_structure(before), flatten_structure(after)):
            loop.update_memory(old, new)
        loop.output(output, *flatten_structure(after))
    outputs, *states = loop()  # type: ignore[misc]
    first, end = ([0], [1]) if is_reverse else ([-1], [2**31 - 1])
    last = iter([squeeze(slice(state, [0], first, end), [0]) for state in states])
    final = map_structure(lambda _: next(last), initial_states)
    return (outputs if time_major else transpose(outputs, [1, 0, 2])), final
