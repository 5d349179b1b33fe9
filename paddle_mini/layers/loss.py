# Layers that measure how wrong a prediction is.
from __future__ import annotations

from typing import Optional

from ..variable import Variable
from .emit import emit, emit_all, layer_name


def cross_entropy(input: Variable, label: Variable, ignore_index: int = -100, name: Optional[str] = None) -> Variable:
    """Y = −log input[label], for probabilities such as softmax gives.

    input: [..., classes] float. label: [..., 1] int64; rows where it is ignore_index give 0.
    Returns [..., 1]. For logits, softmax_with_cross_entropy is faster and exact where a probability
    is tiny. Raises OpError at a run when a label is not a class.
    """
    return emit("cross_entropy2", {"X": input, "Label": label}, {"ignore_index": ignore_index},
                name=name or layer_name("cross_entropy"), outputs={"XShape": 1, "MatchX": 1})


def softmax_with_cross_entropy(logits: Variable, label: Variable, soft_label: bool = False, ignore_index: int = -100,
                               numeric_stable_mode: bool = True, return_softmax: bool = False, axis: int = -1,
                               name: Optional[str] = None):
    """Loss = log Σ exp(logits) − logits[label], the cross entropy of softmax(logits).

    logits: [..., classes] float. label: the shape of logits with 1 class, int64; with soft_label the
    shape of logits, float: the probability of each class. Rows where a hard label is ignore_index
    give 0. axis: that of the classes.
    Returns Loss [..., 1], or (Loss, softmax) with return_softmax.
    Raises OpError at a run when a label is not a class.
    """
    attrs = {"soft_label": soft_label, "ignore_index": ignore_index, "numeric_stable_mode": numeric_stable_mode,
             "axis": axis}
    outputs = emit_all("softmax_with_cross_entropy", {"Logits": logits, "Label": label}, attrs, name=name,
                       outputs={"Softmax": 1, "Loss": 1})
    return (outputs["Loss"], outputs["Softmax"]) if return_softmax else outputs["Loss"]


def square_error_cost(input: Variable, label: Variable, name: Optional[str] = None) -> Variable:
    """(input − label)², element by element: the shape of input."""
    prefix = layer_name("square_error_cost", name)
    return emit("square", {"X": emit("elementwise_sub", {"X": input, "Y": label}, name=prefix)}, name=prefix)
