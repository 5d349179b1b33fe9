# Layers that make one element of many: reductions over axes, running sums, positions of extremes.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import ProgramError
from ..errors import shown
from ..variable import Variable
from .emit import emit, layer_name, refuse

Axes = int | Sequence[int] | None


def reduce_sum(input: Variable, dim: Axes = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The sum over axes.

    Args:
        input: any shape
        dim: an axis or a list of axes; None: all
        keep_dim: whether the axes stay, with one element
    Returns:
        the other axes
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.reduce_sum(x, dim=1).shape
        (-1,)
    """
    return _reduce("reduce_sum", input, dim, keep_dim, name)


def reduce_mean(input: Variable, dim: Axes = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The mean over axes.

    Args:
        input: any shape
        dim: an axis or a list of axes; None: all
        keep_dim: whether the axes stay, with one element
    Returns:
        the other axes
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.reduce_mean(x, dim=1).shape
        (-1,)
    """
    return _reduce("reduce_mean", input, dim, keep_dim, name)


def reduce_max(input: Variable, dim: Axes = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The greatest element over axes.

    Args:
        input: any shape
        dim: an axis or a list of axes; None: all
        keep_dim: whether the axes stay, with one element
    Returns:
        the other axes
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.reduce_max(x, dim=1).shape
        (-1,)
    """
    return _reduce("reduce_max", input, dim, keep_dim, name)


def reduce_min(input: Variable, dim: Axes = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The least element over axes.

    Args:
        input: any shape
        dim: an axis or a list of axes; None: all
        keep_dim: whether the axes stay, with one element
    Returns:
        the other axes
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.reduce_min(x, dim=1).shape
        (-1,)
    """
    return _reduce("reduce_min", input, dim, keep_dim, name)


def reduce_prod(input: Variable, dim: Axes = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The product over axes.

    Args:
        input: any shape
        dim: an axis or a list of axes; None: all
        keep_dim: whether the axes stay, with one element
    Returns:
        the other axes
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.reduce_prod(x, dim=1).shape
        (-1,)
    """
    return _reduce("reduce_prod", input, dim, keep_dim, name)


def reduce_all(input: Variable, dim: Axes = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """Whether all elements over axes are true.

    Args:
        input: any shape
        dim: an axis or a list of axes; None: all
        keep_dim: whether the axes stay, with one element
    Returns:
        bool, the other axes
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.reduce_all(x, dim=1).shape
        (-1,)
    """
    return _reduce("reduce_all", input, dim, keep_dim, name)


def reduce_any(input: Variable, dim: Axes = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """Whether any element over axes is true.

    Args:
        input: any shape
        dim: an axis or a list of axes; None: all
        keep_dim: whether the axes stay, with one element
    Returns:
        bool, the other axes
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.reduce_any(x, dim=1).shape
        (-1,)
    """
    return _reduce("reduce_any", input, dim, keep_dim, name)


def argmax(x: Variable, axis: int | None = 0, keepdim: bool = False, dtype: Any = "int64", name: str | None = None) -> Variable:
    """Where along the axis the greatest element is, the first of equal ones; axis=None: in x as one line.
    dtype: "int64" or "int32".

    keepdim: whether the axis stays, with one element.
    x: any shape. Returns positions: the shape of x without the axis.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.argmax(x, axis=1).shape
        (-1,)
    """
    return _position("arg_max", x, axis, keepdim, dtype, name or layer_name("argmax"))


def argmin(x: Variable, axis: int | None = 0, keepdim: bool = False, dtype: Any = "int64", name: str | None = None) -> Variable:
    """Where along the axis the least element is; as argmax.

    Args:
        x: any shape
        axis: None: of all elements in one line
        keepdim: whether the axis stays, with one element
        dtype: int64 or int32
    Returns:
        the positions: the shape of x without the axis
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.argmin(x, axis=1).shape
        (-1,)
    """
    return _position("arg_min", x, axis, keepdim, dtype, name or layer_name("argmin"))


def cumsum(
    x: Variable, axis: int | None = None, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Variable:
    """The sums of the elements up to each one along the axis; axis=None: of x as one line. exclusive:
    without the element itself. reverse: from the end.

    x: any shape; that of the result, or [n] with axis=None.
    Returns the sums, of the element type of x.
    Example:
        >>> x = pm.layers.assign(np.array([1, 2, 3]))
        >>> pm.Executor().run(fetch_list=[pm.layers.cumsum(x, axis=0)])[0]
        array([1, 3, 6])
    """
    attrs = {"axis": -1 if axis is None else axis, "flatten": axis is None, "exclusive": exclusive, "reverse": reverse}
    return emit("cumsum", {"X": x}, attrs, name=name)


def logcumsumexp(x: Variable, axis: int | None = None, name: str | None = None) -> Variable:
    """log Σ exp of the elements up to each one along the axis; axis=None: of x as one line.

    Args:
        x: any shape
        axis: None: of x in one line
    Returns:
        the shape of x, or [n]
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.logcumsumexp(x, axis=1).shape
        (-1, 8)
    """
    return emit("logcumsumexp", {"X": x}, {"axis": -1 if axis is None else axis, "flatten": axis is None}, name=name)


def logsumexp(x: Variable, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
    """log Σ exp(x) over axes, exact where exp(x) would overflow; axis=None: over all. keepdim: the axes
    stay, with one element.

    x: any shape, float.
    Returns the other axes.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.logsumexp(x, axis=1).shape
        (-1,)
    """
    axes = _listed(axis)
    return emit("logsumexp", {"X": x}, {"axis": axes or [0], "keepdim": keepdim, "reduce_all": not axes}, name=name)


def norm(x: Variable, p: str | float = "fro", axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
    """(Σ |x|ᵖ)^(1/p) over an axis; axis=None: over x as one line.

    p: a number, ±inf for the greatest and the least |x|, 0 for how many are not 0; or "fro", √(Σ x²), which
    takes several axes too. keepdim: the axes stay, with one element.
    x: any shape, float. Returns the other axes; none with axis=None.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.norm(x, p=2, axis=1, keepdim=True).shape
        (-1, 1)
    """
    prefix, axes = layer_name("norm", name), _listed(axis)
    if p == "fro":
        return emit("frobenius_norm", {"X": x}, {"dim": axes or [0], "keep_dim": keepdim, "reduce_all": not axes}, name=prefix)
    if isinstance(p, str) or len(axes) > 1:
        refuse(
            ProgramError,
            f"norm: p is {shown(p)}, over {len(axes)} axes it must be 'fro'"
            if axes[1:]
            else f"norm: p is {shown(p)}, it must be a number or 'fro'",
        )
    return emit(
        "p_norm",
        {"X": x},
        {"porder": float(p), "axis": axes[0] if axes else -1, "keepdim": keepdim, "asvector": not axes},
        name=prefix,
    )


def _position(op_type: str, x: Variable, axis: int | None, keepdim: bool, dtype: Any, name: str) -> Variable:
    attrs = {"axis": 0 if axis is None else axis, "flatten": axis is None, "keepdims": keepdim, "dtype": dtype}
    out = emit(op_type, {"X": x}, attrs, name=name)
    out.stop_gradient = True
    return out


def _reduce(op_type: str, input: Variable, dim: Axes, keep_dim: bool, name: str | None) -> Variable:
    axes = _listed(dim)
    return emit(op_type, {"X": input}, {"dim": axes, "keep_dim": keep_dim, "reduce_all": len(axes) == 0}, name=name)


def _listed(axes: Axes) -> list[int]:
    if axes is None:
        return []
    return list(axes) if isinstance(axes, (list, tuple, np.ndarray)) else [axes]  # type: ignore[list-item]
