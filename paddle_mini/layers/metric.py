# Layers that measure how good a prediction is, for people to read.
from __future__ import annotations

from ..guards import default_main_program
from ..variable import Variable
from .emit import create_state, emit_all, layer_name, whole


def accuracy(input: Variable, label: Variable, k: int = 1, name: str | None = None) -> Variable:
    """The fraction of rows whose label is among the k greatest scores.

    input: [rows, classes] float. label: [rows, 1] int64. Returns one float32 element.
    Example:
        >>> x, label = pm.layers.data("x", [-1, 10]), pm.layers.data("label", [-1, 1], "int64")
        >>> pm.layers.accuracy(pm.layers.softmax(x), label, k=5).dtype
        'float32'
    """
    prefix = layer_name("accuracy", name)
    values, indices = topk(input, k, name=prefix)
    outputs = emit_all("accuracy", {"Out": values, "Indices": indices, "Label": label}, name=prefix)
    outputs["Accuracy"].stop_gradient = True  # type: ignore[union-attr]
    return outputs["Accuracy"]  # type: ignore[return-value]


def topk(
    input: Variable, k: int, axis: int = -1, largest: bool = True, sorted: bool = True, name: str | None = None
) -> tuple[Variable, Variable]:
    """The k greatest (or least) elements along an axis: (values, int64 indices), each with k
    elements along it. Raises ShapeError when the axis has fewer than k elements.

    input: any shape. largest: False: the least ones. sorted: ignored; they are always in order.
    Returns these two variables.
    Example:
        >>> x = pm.layers.data("x", [-1, 10])
        >>> values, indices = pm.layers.topk(x, k=3)
        >>> values.shape, indices.dtype
        ((-1, 3), 'int64')
    """
    outputs = emit_all(
        "top_k_v2", {"X": input}, {"k": k, "axis": axis, "largest": largest, "sorted": sorted}, name=name or layer_name("topk")
    )
    outputs["Indices"].stop_gradient = True  # type: ignore[union-attr]
    return outputs["Out"], outputs["Indices"]  # type: ignore[return-value]


def auc(
    input: Variable,
    label: Variable,
    curve: str = "ROC",
    num_thresholds: int = 4095,
    slide_steps: int = 0,
    name: str | None = None,
) -> tuple[Variable, list[Variable]]:
    """The area under the curve of true over false positives, counted in num_thresholds + 1 bins.

    input: [rows, 2] or [rows, 1] float: the last column is the probability of the positive class.
    label: [rows, 1] int64, 0 or 1. slide_steps: of the last so many runs; 0: of all runs.
    Returns (one float64 element, [counts of positives, counts of negatives]); the counts are kept
    between runs: set them to zeros to restart. Raises OpError at a run for a score outside [0, 1].
    Example:
        >>> x, label = pm.layers.data("x", [-1, 2]), pm.layers.data("label", [-1, 1], "int64")
        >>> area, (positives, negatives) = pm.layers.auc(pm.layers.softmax(x), label)
        >>> area.dtype
        'float64'
    """
    bins = whole("auc", "num_thresholds", num_thresholds) + 1
    steps = whole("auc", "slide_steps", slide_steps, low=0)
    prefix = layer_name("auc", name)
    shape = [1, bins] if steps == 0 else [(1 + steps) * bins + 1]
    positives, negatives = (
        create_state(default_main_program().new_name(f"{prefix}.{which}"), shape, "int64", 0)
        for which in ("positives", "negatives")
    )
    outputs = emit_all(
        "auc",
        {"Predict": input, "Label": label, "StatPos": positives, "StatNeg": negatives},
        {"curve": curve, "num_thresholds": num_thresholds, "slide_steps": steps},
        name=prefix,
        outputs={"StatPosOut": positives, "StatNegOut": negatives},
    )
    outputs["AUC"].stop_gradient = True  # type: ignore[union-attr]
    return outputs["AUC"], [positives, negatives]  # type: ignore[return-value]
