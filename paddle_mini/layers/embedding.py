# Layers that look rows up in a table.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import ProgramError
from ..errors import shown
from ..variable import Variable
from .emit import create_parameter, emit, layer_name, refuse, whole


def embedding(
    input: Variable,
    size: Sequence[int],
    is_sparse: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: str = "float32",
    name: str | None = None,
) -> Variable:
    """Out[...] = W[input[...]].

    input: any shape, int64 or int32, each id in [0, size[0]); another id raises OpError at a run.
    size: [rows, width] of the table W, which begins with Xavier.
    is_sparse: the gradient is selected rows, only those that ids name, so a step costs what the
    batch costs and not what the table costs.
    padding_idx: this id gives zeros; negative ones count from the end of the table. Its row gets no
    gradient, except, as in PaddlePaddle, with is_sparse.
    Returns [..., width].
    dtype: the element type of the table.
    Example:
        >>> ids = pm.layers.data("ids", [-1, 20], "int64")
        >>> pm.layers.embedding(ids, size=[10000, 64], is_sparse=True).shape
        (-1, 20, 64)
    """
    if np.shape(size) != (2,):
        refuse(ProgramError, f"embedding: size is {shown(size)}, it must be [rows, width]")
    rows, width = whole("embedding", "rows of size", size[0]), whole("embedding", "width of size", size[1])
    if padding_idx is not None and not -rows <= whole("embedding", "padding_idx", padding_idx, low=-rows) < rows:
        refuse(ProgramError, f"embedding: padding_idx {padding_idx} is not in a table of {rows} rows")
    padding = -1 if padding_idx is None else padding_idx % rows
    prefix = layer_name("embedding", name)
    table = create_parameter([rows, width], dtype, param_attr, prefix)
    return emit("lookup_table_v2", {"Ids": input, "W": table}, {"is_sparse": is_sparse, "padding_idx": padding}, name=prefix)
