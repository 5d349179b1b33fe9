# Linear layers: fully connected, matrix products, einsum.
from __future__ import annotations

import math
from typing import Any

from .._core import ProgramError
from ..variable import Variable
from .emit import activation, add_bias, create_parameter, emit, known_dim, layer_name, refuse, require_float, whole


def fc(
    input: Variable | list[Variable],
    size: int,
    num_flatten_dims: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """Out = act(X W + b), with the axes of X from num_flatten_dims on flattened to one.

    input: [rows..., features...], float; its features must be known. Of several inputs each gets a
    separate weight, and the products are summed.
    size: number of outputs. act: operator applied at the end, such as "relu".
    param_attr, bias_attr: ParamAttr, name or initializer; bias_attr=False: no bias. Of several inputs
    param_attr may be a list, one for each.
    Returns [rows..., size]. W [features, size] begins with Xavier, b [size] with zeros.
    Raises ShapeError when features are not known.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.fc(x, 10, act="softmax", param_attr=pm.initializer.Normal(scale=0.1)).shape
        (-1, 10)
    """
    inputs = input if isinstance(input, (list, tuple)) else [input]
    if not inputs:
        refuse(ProgramError, "fc: no input")
    size = whole("fc", "size", size)
    prefix = layer_name("fc", name)
    for x in inputs:
        require_float("fc", x)
    attrs = param_attr if isinstance(param_attr, (list, tuple)) else [param_attr] * len(inputs)
    if len(attrs) != len(inputs):
        refuse(ProgramError, f"fc: {len(attrs)} param_attr for {len(inputs)} inputs")
    products = []
    for x, attr in zip(inputs, attrs):
        rows = whole("fc", "num_flatten_dims", num_flatten_dims, low=-len(x.shape))
        rows = rows if rows >= 0 else len(x.shape) + rows
        features = math.prod(known_dim(x, axis, "fc") for axis in range(rows, len(x.shape)))
        weight = create_parameter([features, size], x.dtype, attr, prefix)
        products.append(emit("mul", {"X": x, "Y": weight}, {"x_num_col_dims": rows, "y_num_col_dims": 1}, name=prefix))
    total = products[0] if len(products) == 1 else emit("sum", {"X": products}, name=prefix)
    return activation(act, add_bias(total, bias_attr, size, len(total.shape) - 1, prefix), prefix)


def matmul(
    x: Variable, y: Variable, transpose_x: bool = False, transpose_y: bool = False, alpha: float = 1.0, name: str | None = None
) -> Variable:
    """Out = alpha X Y over the last two axes, with leading axes broadcast as in NumPy.

    x [..., m, k], y [..., k, n], float. transpose_x, transpose_y: the last two axes change places
    first. With alpha other than 1, the axes before them must be alike, or missing in x or y.
    Returns [..., m, n]. Raises ShapeError when the inner dimensions differ.
    Example:
        >>> x, y = pm.layers.data("x", [-1, 4, 8]), pm.layers.data("y", [-1, 5, 8])
        >>> pm.layers.matmul(x, y, transpose_y=True).shape
        (-1, 4, 5)
    """
    if alpha != 1.0:
        return emit(
            "matmul", {"X": x, "Y": y}, {"transpose_X": transpose_x, "transpose_Y": transpose_y, "alpha": alpha}, name=name
        )
    return emit("matmul_v2", {"X": x, "Y": y}, {"trans_x": transpose_x, "trans_y": transpose_y}, name=name)


def bilinear_tensor_product(
    x: Variable,
    y: Variable,
    size: int,
    act: str | None = None,
    name: str | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
) -> Variable:
    """Out[b, s] = act(x[b] W[s] y[b]ᵀ + bias[s]).

    x [batch, m], y [batch, n], float; m and n must be known. Returns [batch, size]. W [size, m, n] begins
    with Xavier, bias [1, size] with zeros; bias_attr=False: no bias.
    Example:
        >>> x, y = pm.layers.data("x", [-1, 8]), pm.layers.data("y", [-1, 5])
        >>> pm.layers.bilinear_tensor_product(x, y, size=3).shape
        (-1, 3)
    """
    require_float("bilinear_tensor_product", x)
    require_float("bilinear_tensor_product", y)
    size = whole("bilinear_tensor_product", "size", size)
    widths = [known_dim(item, 1, "bilinear_tensor_product") for item in (x, y)]
    prefix = layer_name("bilinear_tensor_product", name)
    inputs = {"X": x, "Y": y, "Weight": create_parameter([size, *widths], x.dtype, param_attr, prefix)}
    if bias_attr is not False:
        inputs["Bias"] = create_parameter([1, size], x.dtype, bias_attr, prefix, bias=True)
    return activation(act, emit("bilinear_tensor_product", inputs, name=prefix), prefix)


def einsum(equation: str, *operands: Variable, name: str | None = None) -> Variable:
    """The product of the operands, summed over the labels that the result lacks: "ij,jk->ik" is matmul.

    A label twice in one operand is its diagonal, "..." stands for any axes. Raises ProgramError when the
    equation and the operands do not fit.
    operands: any shapes, of one element type. Returns a tensor with an axis for each label of the result.
    Example:
        >>> x, y = pm.layers.data("x", [-1, 3, 8]), pm.layers.data("y", [8, 5])
        >>> pm.layers.einsum("bij,jk->bik", x, y).shape
        (-1, 3, 5)
    """
    caches = {port: len(operands) for port in ("InnerCache", "XShape")}  # required by PaddlePaddle
    return emit("einsum", {"Operands": operands}, {"equation": equation}, name=name, outputs={"Out": 1, **caches})


def cos_sim(X: Variable, Y: Variable, name: str | None = None) -> Variable:
    """The cosine between rows: Σ x y / (|x| |y|), norms of at least 1e-8.

    X [n, width]; Y [n, width], or [1, width] for all rows. Returns [n, 1]. Made of operators that PaddlePaddle 2.x
    has; programs of 1.x hold an operator cos_sim.
    Example:
        >>> x, y = pm.layers.data("x", [-1, 8]), pm.layers.data("y", [-1, 8])
        >>> pm.layers.cos_sim(x, y).shape
        (-1, 1)
    """
    require_float("cos_sim", X)
    require_float("cos_sim", Y)
    prefix = layer_name("cos_sim", name)

    def total(x: Variable) -> Variable:
        return emit("reduce_sum", {"X": x}, {"dim": [1], "keep_dim": True}, name=prefix)

    def norm(x: Variable) -> Variable:
        squares = total(emit("square", {"X": x}, name=prefix))
        return emit("sqrt", {"X": emit("clip", {"X": squares}, {"min": 1e-16, "max": 3e38}, name=prefix)}, name=prefix)

    lengths = emit("elementwise_mul", {"X": norm(X), "Y": norm(Y)}, name=prefix)
    product = total(emit("elementwise_mul", {"X": X, "Y": Y}, name=prefix))
    return emit("elementwise_div", {"X": product, "Y": lengths}, name=prefix)
