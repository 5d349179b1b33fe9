# The operators that mixed precision computes in 16 bits, and those that it keeps in float32.
from __future__ import annotations

from collections.abc import Collection

from .._core import ProgramError, printable
from ..errors import shown
from ..renamed import takes_other_names
from ..schemas import op_schema

# Sums of many products: most of a network's time, and accumulated in float32.
WHITE = frozenset({"conv2d", "einsum", "matmul", "matmul_v2", "max_pool2d_with_index", "mul"})

# Sums of many numbers, functions that amplify rounding errors or leave the range of float16, losses, tables, and
# recurrences. These are the black list of PaddlePaddle 2.6 with recurrences, and without softmax and its loss: they compute
# each row in float32 and round it once, so that of a product's 16-bit output nothing is lost, and half as much is kept for
# backward.
BLACK = frozenset(
    "acos asin atanh bilinear_interp bilinear_interp_v2 cosh cross_entropy cross_entropy2 cumprod cumsum dist exp expm1 "
    "frobenius_norm group_norm gru gru_unit huber_loss layer_norm log log10 log2 log_loss log_softmax lookup_table "
    "lookup_table_v2 lstm lstm_unit mean nearest_interp nearest_interp_v2 nll_loss pow reciprocal reduce_mean reduce_prod "
    "reduce_sum rnn rsqrt scatter sigmoid_cross_entropy_with_logits sinh softplus square tan tanh_shrink".split()
)


class AutoMixedPrecisionLists:
    """Changes to the operators that decorate() computes in 16 bits.

    custom_white_list: types of operators that are computed in 16 bits, besides the products. custom_black_list: types that
    stay in float32, besides losses, sums, exponentials, norms and tables. All other types follow their inputs.
    custom_black_varnames: names of variables; operators that read or write one of them stay in float32.
    Raises ProgramError for a type that is not known, is in both lists, or has no 16-bit form.
    Example:
        >>> lists = pm.amp.AutoMixedPrecisionLists(custom_white_list={"softmax"}, custom_black_list={"conv2d"})
        >>> "softmax" in lists.white, "conv2d" in lists.white
        (True, False)
    """

    @takes_other_names
    def __init__(
        self,
        custom_white_list: Collection[str] = (),
        custom_black_list: Collection[str] = (),
        custom_black_varnames: Collection[str] = (),
    ):
        white, black = (_types(name, value) for name, value in _named(custom_white_list, custom_black_list))
        both = sorted(white & black)
        if both:
            raise ProgramError(f"'{printable(both[0])}' is in custom_white_list and in custom_black_list")
        for op_type in sorted(white):
            if not has_16_bits(op_type):
                raise ProgramError(f"custom_white_list: '{printable(op_type)}' has no kernel for 16-bit floats")
        self.white = (WHITE | white) - black
        self.black = (BLACK | black) - white
        self.black_variables = frozenset(_strings("custom_black_varnames", custom_black_varnames))


def has_16_bits(op_type: str) -> bool:
    """Whether the operator has kernels for float16 and bfloat16, moves elements of any type, or is computed in float32 for
    them."""
    schema = op_schema(op_type)
    moves = schema["has_kernels"] and not schema["dtypes"]
    return moves or {"float16", "bfloat16"} <= {*schema["dtypes"], *schema["widened"]}


def _named(white: Collection[str], black: Collection[str]) -> list[tuple[str, Collection[str]]]:
    return [("custom_white_list", white), ("custom_black_list", black)]


def _types(name: str, types: Collection[str]) -> frozenset[str]:
    found = _strings(name, types)
    for op_type in sorted(found):
        op_schema(op_type)  # refuses a type that is not known
    return found


def _strings(name: str, values: Collection[str]) -> frozenset[str]:
    if isinstance(values, str) or getattr(values, "ndim", 1) == 0 or not all(isinstance(value, str) for value in values):
        raise ProgramError(f"{name} is {shown(values)}, it must be a list of strings")
    return frozenset(values)
