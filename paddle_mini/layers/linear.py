# Layers that multiply by a matrix.
from __future__ import annotations

import math
from typing import Any, List, Optional, Union

from .._core import ProgramError
from ..variable import Variable
from .emit import activation, add_bias, create_parameter, emit, known_dim, layer_name, refuse, require_float, whole


def fc(input: Union[Variable, List[Variable]], size: int, num_flatten_dims: int = 1, param_attr: Any = None,
       bias_attr: Any = None, act: Optional[str] = None, name: Optional[str] = None) -> Variable:
    """Out = act(X W + b), with the axes of X from num_flatten_dims on flattened to one.

    input: [rows..., features...], float; its features must be known. Of several inputs each gets a
    weight of its own, and the products are summed.
    size: number of outputs. act: operator applied at the end, such as "relu".
    param_attr, bias_attr: ParamAttr, name or initializer; bias_attr=False: no bias.
    Returns [rows..., size]. W [features, size] begins with Xavier, b [size] with zeros.
    Raises ShapeError when features are not known.
    """
    inputs = input if isinstance(input, (list, tuple)) else [input]
    if not inputs:
        refuse(ProgramError, "fc: no input")
    size = whole("fc", "size", size)
    prefix = layer_name("fc", name)
    for x in inputs:
        require_float("fc", x)
    products = []
    for x in inputs:
        rows = whole("fc", "num_flatten_dims", num_flatten_dims, low=-len(x.shape))
        rows = rows if rows >= 0 else len(x.shape) + rows
        features = math.prod(known_dim(x, axis, "fc") for axis in range(rows, len(x.shape)))
        weight = create_parameter([features, size], x.dtype, param_attr, prefix)
        products.append(emit("mul", {"X": x, "Y": weight}, {"x_num_col_dims": rows, "y_num_col_dims": 1}, name=prefix))
    total = products[0] if len(products) == 1 else emit("sum", {"X": products}, name=prefix)
    return activation(act, add_bias(total, bias_attr, size, len(total.shape) - 1, prefix), prefix)


def matmul(x: Variable, y: Variable, transpose_x: bool = False, transpose_y: bool = False,
           name: Optional[str] = None) -> Variable:
    """Out = X Y over the last two axes, with axes before them stretched as NumPy does.

    x [..., m, k], y [..., k, n], float. transpose_x, transpose_y: the last two axes change places
    first. Returns [..., m, n]. Raises ShapeError when the inner dimensions differ.
    """
    return emit("matmul_v2", {"X": x, "Y": y}, {"trans_x": transpose_x, "trans_y": transpose_y}, name=name)
