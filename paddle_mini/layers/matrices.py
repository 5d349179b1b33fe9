# Layers of matrices with more than one result; those with one are in ops.py.
from __future__ import annotations

from collections.abc import Sequence

from ..variable import Variable
from .emit import emit, emit_all


def eigh(x: Variable, UPLO: str = "L", name: str | None = None) -> tuple[Variable, Variable]:
    """Eigenvalues and eigenvectors of symmetric matrices; only one triangle of each is read.

    Args:
        x: [..., n, n], float32 or float64.
        UPLO: the triangle that is read: L, the lower one, or U.
    Returns:
        The eigenvalues, [..., n], in ascending order; the eigenvectors, [..., n, n], in the columns. Their signs are not defined.
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> values, vectors = pm.layers.eigh(matrix)
        >>> values.shape, vectors.shape
        ((4,), (4, 4))
    """
    made = emit_all("eigh", {"X": x}, {"UPLO": UPLO}, name)
    values, vectors = made["Eigenvalues"], made["Eigenvectors"]
    assert isinstance(values, Variable) and isinstance(vectors, Variable)
    return values, vectors


def qr(x: Variable, mode: str = "reduced", name: str | None = None) -> Variable | tuple[Variable, Variable]:
    """Matrices Q with orthonormal columns and upper triangular matrices R, with Q R = x.

    Args:
        x: [..., m, n], float32 or float64.
        mode: reduced: Q is [..., m, k] and R is [..., k, n], with k = min(m, n); complete: [..., m, m] and [..., m, n]; r: only R
            is returned. The gradient exists for reduced, and for complete with at most as many rows as columns.
    Returns:
        Q and R; with mode r only R. The signs are LAPACK's.
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> q, r = pm.layers.qr(matrix)
        >>> q.shape, r.shape
        ((4, 4), (4, 4))
    """
    made = emit_all("qr", {"X": x}, {"mode": mode}, name)
    q, r = made["Q"], made["R"]
    assert isinstance(q, Variable) and isinstance(r, Variable)
    return r if mode == "r" else (q, r)


def svd(x: Variable, full_matrices: bool = False, name: str | None = None) -> tuple[Variable, Variable, Variable]:
    """The singular values and vectors of matrices: x = U diagonal(S) VH.

    Args:
        x: [..., m, n], float32 or float64.
        full_matrices: whether U is [..., m, m] and VH [..., n, n]; the vectors that this adds have no gradient.
    Returns:
        U [..., m, k] and VH [..., k, n], with orthonormal columns and rows, whose signs are not defined, and between them the
        singular values S [..., k] in descending order; k = min(m, n).
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> u, s, vh = pm.layers.svd(matrix)
        >>> u.shape, s.shape, vh.shape
        ((4, 4), (4,), (4, 4))
    """
    made = emit_all("svd", {"X": x}, {"full_matrices": full_matrices}, name)
    u, s, vh = made["U"], made["S"], made["VH"]
    assert isinstance(u, Variable) and isinstance(s, Variable) and isinstance(vh, Variable)
    return u, s, vh


def lu(x: Variable, name: str | None = None) -> tuple[Variable, Variable, Variable]:
    """The LU decomposition of matrices with row exchanges.

    Args:
        x: [..., m, n], float32 or float64.
    Returns:
        U, with L, whose diagonal has ones, below its diagonal, in one matrix like x; the int32 number, from 1, of the row that
        each row is exchanged with, [..., min(m, n)]; the int32 number, from 1, of the first pivot that is 0, or 0, of each
        matrix. lu_unpack makes three matrices of the first two.
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> factors, pivots, infos = pm.layers.lu(matrix)
        >>> factors.shape, pivots.shape, infos.shape
        ((4, 4), (4,), (1,))
    """
    made = emit_all("lu", {"X": x}, {}, name)
    out, pivots, infos = made["Out"], made["Pivots"], made["Infos"]
    assert isinstance(out, Variable) and isinstance(pivots, Variable) and isinstance(infos, Variable)
    return out, pivots, infos


def lu_unpack(x: Variable, pivots: Variable, name: str | None = None) -> tuple[Variable, Variable, Variable]:
    """The matrices P, L and U of a decomposition by lu, with P L U = the matrix that it decomposed.

    Args:
        x: [..., m, n], the first result of lu.
        pivots: [..., min(m, n)], the second result of lu.
    Returns:
        The permutation P [..., m, m], the lower triangular L [..., m, min(m, n)] and the upper triangular U [..., min(m, n), n].
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> factors, pivots, infos = pm.layers.lu(matrix)
        >>> p, l, u = pm.layers.lu_unpack(factors, pivots)
        >>> p.shape, l.shape, u.shape
        ((4, 4), (4, 4), (4, 4))
    """
    made = emit_all("lu_unpack", {"X": x, "Pivots": pivots}, {}, name)
    p, lower, upper = made["Pmat"], made["L"], made["U"]
    assert isinstance(p, Variable) and isinstance(lower, Variable) and isinstance(upper, Variable)
    return p, lower, upper


def lstsq(
    x: Variable, y: Variable, rcond: float | None = None, driver: str = "gelsy", name: str | None = None
) -> tuple[Variable, Variable, Variable, Variable]:
    """The solutions of least norm that minimize the squares of x @ solution - y.

    Args:
        x: [..., m, n], float32 or float64.
        y: [..., m, right sides], of the same axes before them.
        rcond: singular values of at most so much times the greatest count as 0; None: 1e-15 for float64 and 1e-7 for float32,
            times the greater of m and n.
        driver: gelsy, gelsd, gelss, or gels, which refuses matrices without full rank.
    Returns:
        The solutions, [..., n, right sides]; for m > n the sums of squares, [..., right sides], otherwise [0]; the int32 ranks,
        [0] for gels; the singular values [..., min(m, n)], [0] for gels and gelsy.
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> solution, residuals, rank, values = pm.layers.lstsq(matrix, matrix)
        >>> solution.shape, rank.shape
        ((4, 4), ())
    """
    if rcond is None:
        rcond = (1e-15 if x.dtype == "float64" else 1e-7) * max(x.shape[-2:], default=1)
    made = emit_all("lstsq", {"X": x, "Y": y}, {"rcond": rcond, "driver": driver}, name, {"Residuals": 1})
    outs = made["Solution"], made["Residuals"], made["Rank"], made["SingularValues"]
    solution, residuals, rank, values = (out for out in outs if isinstance(out, Variable))
    return solution, residuals, rank, values


def multi_dot(x: Sequence[Variable], name: str | None = None) -> Variable:
    """The product of several matrices, in the order that takes the fewest multiplications.

    Args:
        x: at least two matrices, float32 or float64; the first and the last may be vectors, a row and a column.
    Returns:
        [rows of the first, columns of the last], without the axis of a vector.
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.multi_dot([matrix, matrix, matrix]).shape
        (4, 4)
    """
    return emit("multi_dot", {"X": list(x)}, {}, name=name)
