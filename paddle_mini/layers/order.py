# Layers of order: sorted elements, the k-th one, running extremes, each with their positions.
from __future__ import annotations

from typing import Any

from ..schemas import op_schema
from ..variable import Variable
from .emit import emit_ports, require_variable


def argsort(input: Variable, axis: int = -1, descending: bool = False, name: str | None = None) -> tuple[Variable, Variable]:
    """The elements along an axis in order, the least first: (values, int64 indices). Of equal ones, that at
    the lower index comes first.

    input: any shape. descending: the greatest first.
    Returns two tensors of the shape of input.
    Example:
        >>> values, indices = pm.layers.argsort(pm.layers.assign(np.array([3.0, 1.0, 2.0], "float32")))
        >>> pm.Executor().run(fetch_list=[indices])[0]
        array([1, 2, 0])
    """
    return _with_positions("argsort", input, {"axis": axis, "descending": descending}, name)


def kthvalue(x: Variable, k: int, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Variable, Variable]:
    """The k-th smallest element along the axis, and its position.

    x: float32, float64, int32 or int64. k: 1 for the smallest. keepdim: whether the axis stays, with one element.
    Returns two tensors; the positions are int64. Raises ShapeError if there are fewer than k elements.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> [one.shape for one in pm.layers.kthvalue(x, 2)]
        [(-1,), (-1,)]
    """
    return _with_positions("kthvalue", x, {"k": k, "axis": axis, "keepdim": keepdim}, name)


def mode(x: Variable, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Variable, Variable]:
    """The most frequent element along the axis, the smallest one of several, and the position of its last occurrence.

    x: float32, float64, int32 or int64. keepdim: whether the axis stays, with one element. Returns two tensors; the
    positions are int64.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> [one.shape for one in pm.layers.mode(x, keepdim=True)]
        [(-1, 1), (-1, 1)]
    """
    return _with_positions("mode", x, {"axis": axis, "keepdim": keepdim}, name)


def cummax(x: Variable, axis: int = -1, dtype: Any = "int64", name: str | None = None) -> tuple[Variable, Variable]:
    """The largest element so far along the axis, and its position: the last one of equal elements.

    x: float32, float64, int32 or int64. dtype: of the positions, int32 or int64. Returns two tensors of the shape of x.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> [one.shape for one in pm.layers.cummax(x)]
        [(-1, 8), (-1, 8)]
    """
    return _with_positions("cummax", x, {"axis": axis, "dtype": dtype}, name)


def cummin(x: Variable, axis: int = -1, dtype: Any = "int64", name: str | None = None) -> tuple[Variable, Variable]:
    """The smallest element so far along the axis, and its position: the last one of equal elements.

    x: float32, float64, int32 or int64. dtype: of the positions, int32 or int64. Returns two tensors of the shape of x.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> [one.shape for one in pm.layers.cummin(x)]
        [(-1, 8), (-1, 8)]
    """
    return _with_positions("cummin", x, {"axis": axis, "dtype": dtype}, name)


def _with_positions(op_type: str, x: Variable, attrs: dict[str, Any], name: str | None) -> tuple[Variable, Variable]:
    require_variable(op_type, x)
    ports = [port["name"] for side in ("inputs", "outputs") for port in op_schema(op_type)[side]]
    values, positions = emit_ports(op_type, {ports[0]: x}, attrs, name, *ports[1:])
    positions.stop_gradient = True
    return values, positions
