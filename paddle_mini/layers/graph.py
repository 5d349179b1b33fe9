# Layers of graphs: messages along edges, and reductions of rows by segment.
from __future__ import annotations

from .._core import ProgramError, printable
from ..variable import Variable
from .emit import emit, refuse, require_variable, whole


def _reduced_segments(layer: str, x: Variable, segment_ids: Variable, name: str | None) -> Variable:
    kind = layer.removeprefix("segment_").upper()
    return emit("segment_pool", {"X": x, "SegmentIds": segment_ids}, {"pooltype": kind}, name, {"SummedIds": 1})


def segment_sum(data: Variable, segment_ids: Variable, name: str | None = None) -> Variable:
    """The sums of the rows of each segment: row s is the sum of the rows whose id is s, 0 without one.

    Args:
        data: at least one dimension.
        segment_ids: [rows], int32 or int64: ascending, at least 0.
    Returns:
        One row more than the largest id; the number depends on data.
    Example:
        >>> x, ids = pm.layers.data("x", [-1, 8]), pm.layers.data("ids", [-1], "int64")
        >>> pm.layers.segment_sum(x, ids).shape
        (-1, 8)
    """
    return _reduced_segments("segment_sum", data, segment_ids, name)


def segment_mean(data: Variable, segment_ids: Variable, name: str | None = None) -> Variable:
    """The means of the rows of each segment.

    Args:
        data: at least one dimension.
        segment_ids: [rows], int32 or int64: ascending, at least 0.
    Returns:
        One row more than the largest id, with 0 in rows whose id does not occur; the number depends on data.
    Example:
        >>> x, ids = pm.layers.data("x", [-1, 8]), pm.layers.data("ids", [-1], "int64")
        >>> pm.layers.segment_mean(x, ids).shape
        (-1, 8)
    """
    return _reduced_segments("segment_mean", data, segment_ids, name)


def segment_min(data: Variable, segment_ids: Variable, name: str | None = None) -> Variable:
    """The minima of the rows of each segment, for each column.

    Args:
        data: at least one dimension.
        segment_ids: [rows], int32 or int64: ascending, at least 0.
    Returns:
        One row more than the largest id, with 0 in rows whose id does not occur; the number depends on data.
    Example:
        >>> x, ids = pm.layers.data("x", [-1, 8]), pm.layers.data("ids", [-1], "int64")
        >>> pm.layers.segment_min(x, ids).shape
        (-1, 8)
    """
    return _reduced_segments("segment_min", data, segment_ids, name)


def segment_max(data: Variable, segment_ids: Variable, name: str | None = None) -> Variable:
    """The maxima of the rows of each segment, for each column.

    Args:
        data: at least one dimension.
        segment_ids: [rows], int32 or int64: ascending, at least 0.
    Returns:
        One row more than the largest id, with 0 in rows whose id does not occur; the number depends on data.
    Example:
        >>> x, ids = pm.layers.data("x", [-1, 8]), pm.layers.data("ids", [-1], "int64")
        >>> pm.layers.segment_max(x, ids).shape
        (-1, 8)
    """
    return _reduced_segments("segment_max", data, segment_ids, name)


def send_u_recv(
    x: Variable,
    src_index: Variable,
    dst_index: Variable,
    reduce_op: str = "sum",
    out_size: int | Variable | None = None,
    name: str | None = None,
) -> Variable:
    """For each node of a graph, the reduction of x over the sources of its edges; 0 without edges.

    Args:
        x: [nodes, ...].
        src_index: [edges], int32 or int64: the source of each edge.
        dst_index: [edges], int32 or int64: the target of each edge.
        reduce_op: sum, mean, min or max.
        out_size: the number of rows of the result, or a variable with it; None: as many as x has.
    Returns:
        [out_size, ...]. Raises OpError at a run if a node is out of range.
    Example:
        >>> x = pm.layers.data("x", [10, 8])
        >>> sources, targets = pm.layers.data("sources", [-1], "int64"), pm.layers.data("targets", [-1], "int64")
        >>> pm.layers.send_u_recv(x, sources, targets, "mean").shape
        (10, 8)
    """
    inputs = {"X": x, "Src_index": src_index, "Dst_index": dst_index}
    return _received("send_u_recv", "graph_send_recv", inputs, {}, reduce_op, out_size, name)


def send_ue_recv(
    x: Variable,
    y: Variable,
    src_index: Variable,
    dst_index: Variable,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: int | Variable | None = None,
    name: str | None = None,
) -> Variable:
    """For each node of a graph, the reduction of the messages of its edges: x of the source, with y of the edge.

    Args:
        x: [nodes, ...].
        y: [edges, ...]; the dimensions after the first are broadcast with those of x.
        src_index: [edges], int32 or int64: the source of each edge.
        dst_index: [edges], int32 or int64: the target of each edge.
        message_op: add, sub, mul or div: x + y, x - y, x y, or x / (y + 1e-12).
        reduce_op: sum, mean, min or max.
        out_size: the number of rows of the result, or a variable with it; None: as many as x has.
    Returns:
        [out_size, ...]. Raises OpError at a run if a node is out of range.
    Example:
        >>> x, y = pm.layers.data("x", [10, 8]), pm.layers.data("y", [-1, 1])
        >>> sources, targets = pm.layers.data("sources", [-1], "int64"), pm.layers.data("targets", [-1], "int64")
        >>> pm.layers.send_ue_recv(x, y, sources, targets, "mul", "max").shape
        (10, 8)
    """
    kind, y = _message("send_ue_recv", message_op, y)
    inputs = {"X": x, "Y": y, "Src_index": src_index, "Dst_index": dst_index}
    return _received("send_ue_recv", "graph_send_ue_recv", inputs, {"message_op": kind}, reduce_op, out_size, name)


def send_uv(
    x: Variable, y: Variable, src_index: Variable, dst_index: Variable, message_op: str = "add", name: str | None = None
) -> Variable:
    """For each edge of a graph, x of its source with y of its target.

    Args:
        x: [nodes, ...].
        y: [nodes, ...]; the dimensions after the first are broadcast with those of x.
        src_index: [edges], int32 or int64: the source of each edge.
        dst_index: [edges], int32 or int64: the target of each edge.
        message_op: add, sub, mul or div: x + y, x - y, x y, or x / (y + 1e-12).
    Returns:
        [edges, ...]. Raises OpError at a run if a node is out of range.
    Example:
        >>> x, y = pm.layers.data("x", [10, 8]), pm.layers.data("y", [10, 8])
        >>> sources, targets = pm.layers.data("sources", [-1], "int64"), pm.layers.data("targets", [-1], "int64")
        >>> pm.layers.send_uv(x, y, sources, targets, "mul").shape
        (-1, 8)
    """
    kind, y = _message("send_uv", message_op, y)
    inputs = {"x": x, "y": y, "src_index": src_index, "dst_index": dst_index}
    return emit("graph_send_uv", inputs, {"message_op": kind}, name)


def _message(layer: str, message_op: str, y: Variable) -> tuple[str, Variable]:
    """The operator's sum or product, and the operand that makes it a difference or a quotient."""
    require_variable(layer, y)
    if message_op == "sub":
        return "ADD", -y
    if message_op == "div":
        return "MUL", 1.0 / (y + 1e-12)
    if message_op not in ("add", "mul"):
        refuse(ProgramError, f"{layer}: message_op is {printable(str(message_op))}, it must be add, sub, mul or div")
    return message_op.upper(), y


def _received(
    layer: str,
    op_type: str,
    inputs: dict[str, Variable],
    attrs: dict[str, object],
    reduce_op: str,
    out_size: int | Variable | None,
    name: str | None,
) -> Variable:
    if reduce_op not in ("sum", "mean", "min", "max"):
        refuse(ProgramError, f"{layer}: reduce_op is {printable(str(reduce_op))}, it must be sum, mean, min or max")
    attrs["reduce_op"] = reduce_op.upper()
    if isinstance(out_size, Variable):
        inputs["Out_size"] = out_size
    elif out_size is not None:
        attrs["out_size"] = [whole(layer, "out_size", out_size, 0)]
    return emit(op_type, inputs, attrs, name, {"Dst_count": 1})
