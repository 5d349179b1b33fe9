# Exporters of products of matrices and of vectors.
from __future__ import annotations

import numpy as np

from ..tensors import Unsupported
from .op import OpWriter, exporter


@exporter("matmul_v2")
def matmul_v2(o: OpWriter) -> None:
    o.put(_matmul(o, o.attr("trans_x"), o.attr("trans_y")))


@exporter("matmul")
def matmul(o: OpWriter) -> None:
    ranks = o.rank("X"), o.rank("Y")
    if o.attr("head_number") != 1 or (1 in ranks and (o.attr("transpose_X") or o.attr("transpose_Y"))):
        raise Unsupported("head_number, or the transpose of a vector")
    made = _matmul(o, o.attr("transpose_X"), o.attr("transpose_Y"))
    alpha = o.attr("alpha")
    o.put(made if alpha == 1 else o.mul(made, o.like(alpha)))


def _matmul(o: OpWriter, trans_x: bool, trans_y: bool) -> str:
    return o.emit("MatMul", _transposed(o, "X", trans_x), _transposed(o, "Y", trans_y))


def _transposed(o: OpWriter, port: str, wanted: bool) -> str:
    rank = o.rank(port)
    if not wanted or rank < 2:
        return o.x(port)
    return o.transpose(o.x(port), [*range(rank - 2), rank - 1, rank - 2])


@exporter("mul")
def mul(o: OpWriter) -> None:
    x_columns, y_columns = o.attr("x_num_col_dims"), o.attr("y_num_col_dims")
    x, y = (o.x(port) for port in "XY")
    x_rank, y_rank = o.rank("X"), o.rank("Y")
    if y_rank == 2 and x_columns == x_rank - 1:
        o.put(o.emit("MatMul", x, y))
        return
    rows = x if x_rank == 2 else o.emit("Flatten", x, axis=x_columns)
    columns = y if y_rank == 2 else o.emit("Flatten", y, axis=y_columns)
    made = o.emit("MatMul", rows, columns)
    first, last = o.shape("X")[:x_columns], o.shape("Y")[y_columns:]
    if len(first) == len(last) == 1:
        o.put(made)
    elif (first + last).count(-1) <= 1:
        o.put(o.reshape(made, first + last))
    else:
        shapes = [o.slice(o.emit("Shape", x), [0], [0], [x_columns]), o.slice(o.emit("Shape", y), [0], [y_columns], [y_rank])]
        o.put(o.emit("Reshape", made, o.concat(shapes, 0)))


@exporter("bmm", "mv")
def plain_product(o: OpWriter) -> None:
    o.put(o.emit("MatMul", o.x("X"), o.x("Vec" if o.type == "mv" else "Y")))


@exporter("addmm")
def addmm(o: OpWriter) -> None:
    o.put(o.emit("Gemm", o.x("X"), o.x("Y"), o.x("Input"), alpha=o.attr("Alpha"), beta=o.attr("Beta")))


@exporter("dot")
def dot(o: OpWriter) -> None:
    rank = o.rank()
    o.put(o.reduce("ReduceSum", o.mul(o.x("X"), o.x("Y")), [rank - 1], keep=len(o.out_shape()) == rank))


@exporter("einsum")
def einsum(o: OpWriter) -> None:
    o.put(o.emit("Einsum", *o.xs("Operands"), equation=o.attr("equation")))


@exporter("kron")
def kron(o: OpWriter) -> None:
    shapes = [o.static("X"), o.static("Y")]
    rank = max(map(len, shapes))
    x, y = ([1] * (rank - len(shape)) + shape for shape in shapes)
    wide_x = o.reshape(o.x("X"), [size for dim in x for size in (dim, 1)])
    wide_y = o.reshape(o.x("Y"), [size for dim in y for size in (1, dim)])
    o.put(o.reshape(o.mul(wide_x, wide_y), [a * b for a, b in zip(x, y)]))


@exporter("cross")
def cross(o: OpWriter) -> None:
    shape, dim = o.shape(), o.attr("dim")
    axis = shape.index(3) if dim == 9 else o.axis(dim, len(shape))
    x, y = ([o.slice(o.x(port), [axis], [i], [i + 1]) for i in range(3)] for port in "XY")
    parts = [o.sub(o.mul(x[i], y[j]), o.mul(x[j], y[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    o.put(o.concat(parts, axis))


@exporter("bilinear_tensor_product")
def bilinear_tensor_product(o: OpWriter) -> None:
    made = o.emit("Einsum", o.x("X"), o.x("Weight"), o.x("Y"), equation="bm,smn,bn->bs")
    o.put(o.add(made, o.x("Bias")) if o.has("Bias") else made)


@exporter("cos_sim")
def cos_sim(o: OpWriter) -> None:
    rank, least = o.rank(), o.like(1e-8)
    axes = list(range(1, rank))

    def total(value: str) -> str:
        made = o.reduce("ReduceSum", value, axes, keep=False)
        return o.unsqueeze(made, [1])

    norms = [o.emit("Sqrt", total(o.mul(o.x(port), o.x(port)))) for port in "XY"]
    bounded = [o.emit("Max", norm, least) for norm in norms]
    o.put(o.div(total(o.mul(o.x("X"), o.x("Y"))), o.mul(*bounded)))
    o.put(norms[0], "XNorm")
    o.put(norms[1], "YNorm")


@exporter("dist")
def dist(o: OpWriter) -> None:
    o.put(p_norm_of(o, o.sub(o.x("X"), o.x("Y")), o.attr("p"), None, keep=False))


def p_norm_of(o: OpWriter, x: str, p: float, axes: list[int] | None, keep: bool) -> str:
    """(sum of |x|^p)^(1/p) over axes."""
    size = o.emit("Abs", x)
    if np.isinf(p):
        return o.reduce("ReduceMax" if p > 0 else "ReduceMin", size, axes, keep)
    dtype = o.dtype_of_floats()
    if p == 0:
        counted = o.cast(o.emit("Not", o.emit("Equal", x, o.constant(0.0, dtype))), dtype)
        return o.reduce("ReduceSum", counted, axes, keep)
    if p == 1:
        return o.reduce("ReduceSum", size, axes, keep)
    if p == 2:
        return o.emit("Sqrt", o.reduce("ReduceSum", o.mul(x, x), axes, keep))
    total = o.reduce("ReduceSum", o.emit("Pow", size, o.constant(p, dtype)), axes, keep)
    return o.emit("Pow", total, o.constant(1 / p, dtype))
