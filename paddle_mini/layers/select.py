# Layers that choose elements: by position, by condition.
from __future__ import annotations

from typing import Any, Optional

from ..variable import Variable
from .emit import emit, layer_name, whole


def gather(input: Variable, index: Variable, axis: int = 0, name: Optional[str] = None) -> Variable:
    """What input has along the axis at each of the positions in index.

    index: [n] or [n, 1], int32 or int64. Returns the shape of input with n elements along the axis.
    Raises OpError at a run when there is no such position.
    """
    return emit("gather", {"X": input, "Index": index}, {"axis": axis}, name=name)


def index_select(x: Variable, index: Variable, axis: int = 0, name: Optional[str] = None) -> Variable:
    """As gather."""
    return emit("index_select", {"X": x, "Index": index}, {"dim": axis}, name=name)


def where(condition: Variable, x: Variable, y: Variable, name: Optional[str] = None) -> Variable:
    """x's element where the condition is true, else y's; all three have one shape, condition is bool."""
    return emit("where", {"Condition": condition, "X": x, "Y": y}, name=name)


def one_hot(input: Variable, depth: int, allow_out_of_range: bool = False, dtype: Any = "float32",
            name: Optional[str] = None) -> Variable:
    """Rows of zeros with a 1 at the position that the element of input says.

    input: any shape, int32 or int64. Returns [..., depth]. Raises OpError at a run for a position that is
    not in [0, depth), or gives zeros there with allow_out_of_range.
    """
    attrs = {"depth": whole("one_hot", "depth", depth), "allow_out_of_range": allow_out_of_range, "dtype": dtype}
    out = emit("one_hot_v2", {"X": input}, attrs, name=name or layer_name("one_hot"))
    out.stop_gradient = True
    return out
