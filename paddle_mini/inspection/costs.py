# The cost of an operator: floating-point operations, and bytes read and written.
"""One function for each family of operators. An addition, a multiplication and a function of one element, such as exp,
count as one operation each; a multiply-add counts as two. Operators that only move data have 0, and operators without a
cost here None."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dtypes

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """A variable of an operator: its dtype and shape. Of selected rows: the shape of the rows, and `table` of all."""

    dtype: Any
    shape: Shape
    table: Shape | None = None

    @staticmethod
    def of_info(info: Mapping[str, Any]) -> Value:
        shape = tuple(info["shape"])
        if info["kind"] == dtypes.SELECTED_ROWS:
            return Value(info["dtype"], (info.get("row_count", -1), *shape[1:]), shape)
        return Value(info["dtype"], shape)

    @property
    def size(self) -> int | None:
        """Number of elements; None if a dimension is not known."""
        return None if any(dim < 0 for dim in self.shape) else math.prod(self.shape)

    @property
    def bytes(self) -> int | None:
        return None if self.size is None or not isinstance(self.dtype, str) else self.size * item_size(self.dtype)


Ports = Mapping[str, Sequence[Value | None]]


@dataclass(frozen=True)
class Call:
    """An operator with the values at its ports; None is a hole in a list."""

    type: str
    attrs: Mapping[str, Any]
    inputs: Ports
    outputs: Ports

    def size(self, *ports: str) -> int:
        """The elements of the first of these ports that has a variable."""
        return _known(self.value(*ports).size)

    def value(self, *ports: str) -> Value:
        for port in ports:
            for side in (self.inputs, self.outputs):
                if side.get(port) and side[port][0] is not None:
                    return side[port][0]  # type: ignore[return-value]
        raise _UnknownCost

    def shape(self, *ports: str) -> Shape:
        return self.value(*ports).shape

    def written(self) -> list[Value]:
        return [one for values in self.outputs.values() for one in values if one is not None]


class _UnknownCost(Exception):
    """A shape that the cost depends on is not known."""


def flops(call: Call) -> int | None:
    """Floating-point operations of one execution; None if they are not known."""
    try:
        if call.type in _COSTS:
            return _COSTS[call.type](call)
        forward = _PRODUCTS.get(call.type.removesuffix("_grad"))
        if forward is None:
            return None
        # The gradients of the two factors of a product are products of the same size.
        return forward(call) * (min(len(call.written()), 2) if call.type.endswith("_grad") else 1)
    except (_UnknownCost, IndexError, KeyError, TypeError):  # attributes and ranks of a program that is not verified
        return None


def moved_bytes(call: Call) -> int | None:
    """Bytes of all inputs and outputs. Of a table from or in which an operator takes rows: of these rows. Of heads beside
    others: of those that attention reads."""
    rows = next((one for values in call.inputs.values() for one in values if one and one.table is not None), None)
    total = 0
    for side in (call.inputs, call.outputs):
        for port, values in side.items():
            for value in filter(None, values):
                if rows is not None and value.shape == rows.table:
                    value = Value(value.dtype, rows.shape)
                if port == _TABLES.get(call.type):
                    value = Value(value.dtype, call.shape("Out", "Out@GRAD"))
                if call.type == "attention" and port in ("Q", "K", "V") and call.attrs.get("heads"):
                    value = Value(value.dtype, (*value.shape[:2], call.attrs["heads"], *value.shape[3:]))
                if value.bytes is None:
                    return None
                total += value.bytes
    return total


def item_size(dtype: str) -> int:
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


_TABLES = {"lookup_table": "W", "lookup_table_v2": "W", "gather": "X", "index_select": "X"}


def _known(size: int | None) -> int:
    if size is None:
        raise _UnknownCost
    return size


def _extent(shape: Shape, begin: int = 0, end: int | None = None) -> int:
    return _known(Value("float32", shape[begin:end]).size)


def _mul(call: Call) -> int:
    inner = _extent(call.shape("Y"), 0, call.attrs.get("y_num_col_dims", 1))
    return 2 * inner * _extent(call.shape("X"), 0, call.attrs.get("x_num_col_dims", 1)) * (call.size("Y") // max(inner, 1))


def _matmul(call: Call) -> int:
    x = call.shape("X")
    transposed = call.attrs.get("transpose_X", call.attrs.get("trans_x", False)) and len(x) > 1
    return 2 * call.size("Out", "Out@GRAD") * _extent(x[-2 if transposed else -1 :], 0, 1)


def _attention(call: Call) -> int:
    """Both products; softmax is small beside them."""
    q, v, heads = call.shape("Q"), call.shape("V"), call.attrs.get("heads", 0)
    if heads:  # [batch, words, any, width]
        return 2 * heads * _extent(q[:2]) * _extent(v[1:2]) * (_extent(q[3:]) + _extent(v[3:]))
    return 2 * _extent(q[:-1]) * _extent(v[-2:-1]) * (_extent(q[-1:]) + _extent(v[-1:]))


def _conv(call: Call) -> int:
    """2 * elements of the output * channels of a group * height * width of the filter."""
    return 2 * call.size("Output", "Output@GRAD") * _extent(call.shape("Filter"), 1)


def _conv_transpose(call: Call) -> int:
    return 2 * call.size("Input") * _extent(call.shape("Filter"), 1)


def _recurrent(call: Call) -> int:
    """The products with the state; the projection of the input is an operator before it."""
    return 2 * _extent(call.shape("Input"), 0, 1) * call.size("Weight")


def _rnn(call: Call) -> int:
    matrices = [_known(one.size) for one in call.inputs["WeightList"] if one is not None and len(one.shape) == 2]
    return 2 * _extent(call.shape("Input"), 0, 2) * sum(matrices)


def _sequence_conv(call: Call) -> int:
    return 2 * _extent(call.shape("X"), 0, 1) * call.size("Filter")


# Products: their gradients are products too.
_PRODUCTS: dict[str, Callable[[Call], int]] = {
    "mul": _mul,
    **dict.fromkeys(("matmul", "matmul_v2", "bmm", "mv", "dot", "addmm"), _matmul),
    "attention": _attention,
    **dict.fromkeys(("conv2d", "conv2d_in_lanes", "depthwise_conv2d", "conv3d"), _conv),
    **dict.fromkeys(("conv2d_transpose", "conv3d_transpose", "depthwise_conv2d_transpose"), _conv_transpose),
    **dict.fromkeys(("lstm", "gru", "gru_unit"), _recurrent),
    "rnn": _rnn,
    **dict.fromkeys(("sequence_conv", "row_conv"), _sequence_conv),
}


def _per_output(each: int) -> Callable[[Call], int]:
    """`each` operations for each element that it writes."""
    return lambda call: each * sum(_known(one.size) for one in call.written())


def _per_input(each: int, port: str = "X") -> Callable[[Call], int]:
    return lambda call: each * call.size(port)


def _sum(call: Call) -> int:
    return call.size("Out") * (len(call.inputs["X"]) - 1)


def _pool(call: Call) -> int:
    if call.attrs.get("global_pooling"):
        return call.size("X")
    return call.size("Out", "Out@GRAD") * math.prod(call.attrs["ksize"])


def _roi_align(call: Call) -> int:
    """Four pixels with their weights for each sample; without sampling_ratio, their number depends on the regions."""
    if call.attrs["sampling_ratio"] <= 0:
        raise _UnknownCost
    return 8 * call.size("Out", "Out@GRAD") * call.attrs["sampling_ratio"] ** 2


def _update(each: int) -> Callable[[Call], int]:
    """`each` operations for each element of a parameter with a gradient; of selected rows, for those of the rows."""
    return lambda call: sum(each * _known(one.size) for one in call.inputs["Grad"] if one is not None)


_MOVES = (
    "assign assign_value cast concat crop crop_tensor diag_v2 expand expand_as_v2 expand_v2 eye feed fetch fill_any_like "
    "fill_constant fill_constant_batch_size_like flatten2 flatten_contiguous_range flip gather gather_nd im2sequence "
    "index_select load load_combine lod_reset lookup_table lookup_table_v2 memcpy_d2h memcpy_h2d one_hot_v2 pad pad2d pad3d "
    "pixel_shuffle reshape reshape2 reverse roll save save_combine sequence_expand sequence_pad sequence_reshape "
    "sequence_reverse sequence_unpad set_value shape share_data size slice split squeeze2 stack strided_slice tile transpose "
    "transpose2 unbind unsqueeze2 unstack"
).split()
_ELEMENTWISE = (
    "abs acos acosh angle asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor brelu ceil celu clip cos "
    "cosh digamma elementwise_add elementwise_div elementwise_floordiv elementwise_fmax elementwise_fmin "
    "elementwise_heaviside elementwise_max elementwise_min elementwise_mod elementwise_mul elementwise_pow elementwise_sub "
    "elu equal erf erfinv exp expm1 floor gelu greater_equal greater_than hard_shrink hard_sigmoid hard_swish i0 i0e i1 i1e "
    "increment leaky_relu less_equal less_than lgamma log log10 log1p log2 logical_and logical_not logical_or logical_xor "
    "logit logsigmoid minus mish nextafter not_equal polygamma pow reciprocal relu relu6 round rsqrt scale selu sigmoid sign "
    "silu sin sinh soft_relu softplus softshrink softsign sqrt square stanh swish tan tanh tanh_shrink thresholded_relu trunc "
    "where"
).split()
_REDUCTIONS = (
    "mean reduce_all reduce_amax reduce_amin reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum".split()
)
# A maximum or mean, a difference, a function, a sum and a quotient; of a normalization mean, variance, scale and bias.
_ROWS = {
    "softmax": 5,
    "log_softmax": 5,
    "sequence_softmax": 5,
    "fused_softmax_mask": 6,
    "fused_softmax_mask_upper_triangle": 5,
    "batch_norm": 7,
    "layer_norm": 7,
    "group_norm": 7,
    "instance_norm": 7,
}
# Operations in the formula of an update, for each element.
_UPDATES = {"sgd": 2, "momentum": 4, "adagrad": 7, "decayed_adagrad": 9, "rmsprop": 11, "adamax": 9, "adam": 12, "adamw": 13}
_UPDATES |= {"merged_adam": 12, "merged_momentum": 4, "adadelta": 14}

_COSTS: dict[str, Callable[[Call], int]] = {
    **{name: lambda call: 0 for move in _MOVES for name in (move, f"{move}_grad")},
    **{name: _per_output(1) for one in _ELEMENTWISE for name in (one, f"{one}_grad")},
    **{name: _per_input(1) for name in _REDUCTIONS},
    **{f"{name}_grad": _per_output(1) for name in _REDUCTIONS},
    **{name: _per_input(each) for name, each in _ROWS.items()},
    **{name: _update(each) for name, each in _UPDATES.items()},
    "sum": _sum,
    "dropout": _per_input(1),
    "dropout_grad": _per_output(1),
    "softmax_with_cross_entropy": _per_input(5, "Logits"),
    "softmax_with_cross_entropy_grad": _per_output(1),
    **{f"{name}_grad": _per_output(4) for name in ("softmax", "fused_softmax_mask", "fused_softmax_mask_upper_triangle")},
    **{name: _per_input(1) for name in ("isfinite", "isinf", "isnan")},
    "pool2d": _pool,
    "pool2d_grad": _pool,
    "pool3d": _pool,
    "pool3d_grad": _pool,
    "roi_align": _roi_align,
    "roi_align_grad": _roi_align,
    "prior_box": _per_output(2),
    "anchor_generator": _per_output(2),
    "box_clip": _per_output(2),
    "parameter_average": _per_input(3, "Param"),
    "average_accumulates": _per_input(1, "param"),
}
