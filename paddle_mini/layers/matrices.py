# Layers of matrices with more than one result; those with one are in ops.py.
from __future__ import annotations

from ..variable import Variable
from .emit import emit_all


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
