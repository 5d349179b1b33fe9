# Messages along the edges of a graph, in NumPy.
from __future__ import annotations

from typing import Any

import numpy as np

SOURCES, TARGETS = np.array([0, 1, 2, 0, 3]), np.array([1, 2, 1, 0, 1])
REDUCE = {"SUM": np.sum, "MEAN": np.mean, "MIN": np.min, "MAX": np.max}


def reduced(messages: np.ndarray, targets: np.ndarray, rows: int, attrs: dict[str, Any]) -> dict[str, np.ndarray]:
    """For each node the reduction of the messages to it, 0 without one; and the number of these."""
    out = np.zeros((rows, *messages.shape[1:]), messages.dtype)
    targets = targets.reshape(-1).astype("int64")
    for v in np.unique(targets):
        value = REDUCE[attrs["reduce_op"]](messages[targets == v], axis=0)
        out[v] = np.trunc(value) if messages.dtype.kind == "i" else value
    return {"Out": out, "Dst_count": np.bincount(targets, minlength=rows).astype("int32")}


def combined(x: np.ndarray, y: np.ndarray, attrs: dict[str, Any]) -> np.ndarray:
    """The sums, or products, of rows; the other dimensions are broadcast from the last one."""
    rank = max(x.ndim, y.ndim)
    x, y = (one.reshape(len(one), *[1] * (rank - one.ndim), *one.shape[1:]) for one in (x, y))
    return x + y if attrs["message_op"] == "ADD" else x * y


# The edges to each of ten nodes: those to node n have the sources ROW[COLPTR[n]:COLPTR[n + 1]].
ROW = np.array([3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7])
COLPTR = np.array([0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13])
NODES = np.array([0, 7, 8, 1, 2])


def all_neighbors(row: np.ndarray, colptr: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sources of all edges to each of the nodes, and how many these are."""
    found = [row[colptr[node] : colptr[node + 1]] for node in nodes]
    return np.concatenate([row[:0], *found]), np.array([len(one) for one in found], "int32")
