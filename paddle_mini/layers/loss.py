# Loss functions.
from __future__ import annotations

from typing import Any

from .. import callsite
from .._core import ProgramError, printable
from ..variable import Parameter, Variable
from .emit import create_parameter, emit, emit_all, known_dim, layer_name, refuse, require_float, whole


def cross_entropy(
    input: Variable, label: Variable, soft_label: bool = False, ignore_index: int = -100, name: str | None = None
) -> Variable:
    """Y = −log input[label], for probabilities such as those of softmax.

    input: [..., classes] float. label: [..., 1] int64; rows where it is ignore_index give 0. With
    soft_label: the shape of input, the probability of each class; then Y = −Σ label log input.
    Returns [..., 1]. For logits, softmax_with_cross_entropy is faster and exact where a probability
    is tiny; a warning is issued if input must be logits, such as the output of fc without activation.
    Raises OpError at a run when a label is not a class.
    Example:
        >>> x, label = pm.layers.data("x", [-1, 8]), pm.layers.data("label", [-1, 1], "int64")
        >>> pm.layers.cross_entropy(pm.layers.fc(x, 10, act="softmax"), label).shape
        (-1, 1)
    """
    prefix = name or layer_name("cross_entropy")
    inputs = {"X": input, "Label": label}
    if isinstance(input, Variable) and _are_logits(input):
        callsite.warn(
            f"cross_entropy takes probabilities, and '{printable(input.name)}' is linear in its inputs: put "
            'act="softmax" before it, or use softmax_with_cross_entropy, which takes logits'
            f"{callsite.added_at(callsite.user_callstack())}"
        )
    if soft_label:
        return emit("cross_entropy", inputs, {"soft_label": True, "ignore_index": ignore_index}, name=prefix)
    return emit("cross_entropy2", inputs, {"ignore_index": ignore_index}, name=prefix, outputs={"XShape": 1, "MatchX": 1})


# Operators that only move values, and operators that multiply by a weight.
_MOVES = {
    "reshape",
    "reshape2",
    "transpose",
    "transpose2",
    "squeeze2",
    "unsqueeze2",
    "flatten2",
    "flatten_contiguous_range",
    "assign",
    "cast",
    "lod_reset",
}
_MULTIPLIES = {"mul", "matmul", "matmul_v2", "conv2d", "conv3d", "conv2d_transpose"}


def _are_logits(x: Variable) -> bool:
    """Whether x is a product with a parameter, with or without a bias, and thus not limited to [0, 1]."""
    while True:
        op = next((op for op in reversed(x.block.ops) if x.name in op.output_names), None)
        sources = [] if op is None else [var for var in map(x.block.find_var, op.input_names) if var is not None]
        weighted = any(isinstance(var, Parameter) for var in sources)
        if op is None or not sources or (op.type in _MULTIPLIES and not weighted):
            return False
        if op.type in _MULTIPLIES:
            return True
        if op.type not in _MOVES and not (op.type == "elementwise_add" and weighted) and op.type != "sum":
            return False
        x = sources[0]
        if isinstance(x, Parameter):
            return False


def softmax_with_cross_entropy(
    logits: Variable,
    label: Variable,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
    name: str | None = None,
) -> Any:
    """Loss = log Σ exp(logits) − logits[label], the cross entropy of softmax(logits).

    logits: [..., classes] float. label: the shape of logits with 1 class, int64; with soft_label the
    shape of logits, float: the probability of each class. Rows where a hard label is ignore_index
    give 0. axis: that of the classes.
    Returns Loss [..., 1], or (Loss, softmax) with return_softmax.
    Raises OpError at a run when a label is not a class.
    numeric_stable_mode: ignored; the greatest logit is always subtracted.
    Example:
        >>> logits, label = pm.layers.data("logits", [-1, 10]), pm.layers.data("label", [-1, 1], "int64")
        >>> loss, softmax = pm.layers.softmax_with_cross_entropy(logits, label, return_softmax=True)
        >>> loss.shape, softmax.shape
        ((-1, 1), (-1, 10))
    """
    attrs = {"soft_label": soft_label, "ignore_index": ignore_index, "numeric_stable_mode": numeric_stable_mode, "axis": axis}
    outputs = emit_all(
        "softmax_with_cross_entropy", {"Logits": logits, "Label": label}, attrs, name=name, outputs={"Softmax": 1, "Loss": 1}
    )
    return (outputs["Loss"], outputs["Softmax"]) if return_softmax else outputs["Loss"]


def square_error_cost(input: Variable, label: Variable, name: str | None = None) -> Variable:
    """(input − label)², element by element: the shape of input.

    A warning is issued if broadcasting gives another shape, as [N, N] for [N, 1] and [N].

    Args:
        input: any shape
        label: the same shape
    Returns:
        the shape of input
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.square_error_cost(x, x).shape
        (-1, 8)
    """
    prefix = layer_name("square_error_cost", name)
    difference = emit("elementwise_sub", {"X": input, "Y": label}, name=prefix)
    if difference.shape != input.shape:
        callsite.warn(
            f"square_error_cost: input {list(input.shape)} and label {list(label.shape)} are broadcast to "
            f"{list(difference.shape)}: declare the label with the shape of the input"
            f"{callsite.added_at(callsite.user_callstack())}"
        )
    return emit("square", {"X": difference}, name=prefix)


def huber_loss(input: Variable, label: Variable, delta: float, name: str | None = None) -> Variable:
    """½ r² where |r| ≤ delta, else delta (|r| − ½ delta), for r = label − input: the shape of input.

    Huber, "Robust Estimation of a Location Parameter", 1964.
    input, label: any shape, float. delta: where the square becomes a line. Returns that shape.
    Example:
        >>> x, y = pm.layers.data("x", [-1, 1]), pm.layers.data("y", [-1, 1])
        >>> pm.layers.huber_loss(x, y, delta=1.0).shape
        (-1, 1)
    """
    return emit("huber_loss", {"X": input, "Y": label}, {"delta": delta}, name=name)


def log_loss(input: Variable, label: Variable, epsilon: float = 1e-4, name: str | None = None) -> Variable:
    """−label log(input + epsilon) − (1 − label) log(1 − input + epsilon), for probabilities: the shape of
    input.

    input, label: any shape, float.
    Returns that shape.
    Example:
        >>> x, label = pm.layers.data("x", [-1, 1]), pm.layers.data("label", [-1, 1])
        >>> pm.layers.log_loss(pm.layers.sigmoid(x), label).shape
        (-1, 1)
    """
    return emit("log_loss", {"Predicted": input, "Labels": label}, {"epsilon": epsilon}, name=name)


def nll_loss(
    input: Variable,
    label: Variable,
    weight: Variable | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Variable:
    """−input[label] weight[label], for log-probabilities such as those of log_softmax.

    input: [N, classes] or [N, classes, H, W] float. label: [N] or [N, H, W] int64; where it is
    ignore_index, it counts nothing. weight: [classes]. reduction: "mean": the sum by the sum of the
    weights; "sum"; "none". Returns [], or the shape of label with "none".
    Example:
        >>> x, label = pm.layers.data("x", [-1, 10]), pm.layers.data("label", [-1], "int64")
        >>> pm.layers.nll_loss(pm.layers.log_softmax(x), label, reduction="none").shape
        (-1,)
    """
    return emit(
        "nll_loss",
        {"X": input, "Label": label, "Weight": weight},
        {"ignore_index": ignore_index, "reduction": reduction},
        name=name,
    )


def label_smooth(label: Variable, prior_dist: Variable | None = None, epsilon: float = 0.1, name: str | None = None) -> Variable:
    """(1 − epsilon) label + epsilon prior_dist, for labels as weights of the classes.

    label: [..., classes] float, as one_hot gives. prior_dist: [1, classes]; None: all classes alike.
    Szegedy et al., "Rethinking the Inception Architecture", CVPR 2016.
    Returns the shape of label.
    Example:
        >>> label = pm.layers.data("label", [-1, 1], "int64")
        >>> pm.layers.label_smooth(pm.layers.one_hot(label, 10), epsilon=0.1).shape
        (-1, 1, 10)
    """
    return emit("label_smooth", {"X": label, "PriorDist": prior_dist}, {"epsilon": epsilon}, name=name)


def hsigmoid(
    input: Variable,
    label: Variable,
    num_classes: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
    path_table: Variable | None = None,
    path_code: Variable | None = None,
    is_custom: bool = False,
) -> Variable:
    """Hierarchical sigmoid: −log of the class's probability in a binary tree; reads log₂ num_classes rows of W.

    input: [rows, width] float; width must be known. label: [rows, 1] int64. The tree is a full binary one; or
    with is_custom, num_classes counts its inner nodes, path_table [rows, length] int64 names those on the way
    to the row's class, ended by −1, and path_code, of the same shape, which child comes next, 0 or 1.
    Returns [rows, 1]. W [nodes, width] begins with Xavier, the bias [nodes, 1] with zeros, nodes being
    num_classes − 1 without is_custom; bias_attr=False: no bias. Morin and Bengio, AISTATS 2005.
    Example:
        >>> x, label = pm.layers.data("x", [-1, 8]), pm.layers.data("label", [-1, 1], "int64")
        >>> pm.layers.hsigmoid(x, label, num_classes=1000).shape
        (-1, 1)
    """
    require_float("hsigmoid", input)
    classes, width = whole("hsigmoid", "num_classes", num_classes, low=2), known_dim(input, 1, "hsigmoid")
    if is_custom != (path_table is not None) or is_custom != (path_code is not None):
        refuse(ProgramError, "hsigmoid: path_table and path_code go with is_custom=True, and with nothing else")
    nodes, prefix = classes if is_custom else classes - 1, layer_name("hsigmoid", name)
    inputs = {
        "X": input,
        "Label": label,
        "W": create_parameter([nodes, width], input.dtype, param_attr, prefix),
        "PathTable": path_table,
        "PathCode": path_code,
    }
    if bias_attr is not False:
        inputs["Bias"] = create_parameter([nodes, 1], input.dtype, bias_attr, prefix, bias=True)
    return emit("hierarchical_sigmoid", inputs, {"num_classes": classes}, name=prefix)
