# Layers that measure how good a prediction is, for people to read.
from __future__ import annotations

from typing import Optional

from ..variable import Variable
from .emit import emit_all, layer_name


def accuracy(input: Variable, label: Variable, k: int = 1, name: Optional[str] = None) -> Variable:
    """The fraction of rows whose label is among the k greatest scores.

    input: [rows, classes] float. label: [rows, 1] int64. Returns one float32 element.
    """
    prefix = layer_name("accuracy", name)
    values, indices = topk(input, k, name=prefix)
    outputs = emit_all("accuracy", {"Out": values, "Indices": indices, "Label": label}, name=prefix)
    outputs["Accuracy"].stop_gradient = True  # type: ignore[union-attr]
    return outputs["Accuracy"]  # type: ignore[return-value]


def topk(input: Variable, k: int, axis: int = -1, largest: bool = True, sorted: bool = True,
         name: Optional[str] = None):
    """The k greatest (or least) elements along an axis: (values, int64 indices), each with k
    elements along it. Raises ShapeError when the axis has fewer than k elements."""
    outputs = emit_all("top_k_v2", {"X": input}, {"k": k, "axis": axis, "largest": largest, "sorted": sorted},
                       name=name or layer_name("topk"))
    outputs["Indices"].stop_gradient = True  # type: ignore[union-attr]
    return outputs["Out"], outputs["Indices"]
