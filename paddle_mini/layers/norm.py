# Normalization layers: batch, layer, group, instance and local response normalization.
from __future__ import annotations

import math
from typing import Any

from .._core import ProgramError
from ..initializer import Constant, Normal
from ..param_attr import ParamAttr
from ..variable import Variable
from .emit import activation, create_parameter, emit, emit_all, from_front, known_dim, layer_name, refuse, require_float, whole


def batch_norm(
    input: Variable,
    act: str | None = None,
    is_test: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    data_layout: str = "NCHW",
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    use_global_stats: bool = False,
) -> Variable:
    """Y = act(scale · (X − mean) / √(variance + ε) + bias) for each channel.

    In training, mean and variance (biased, that is without n / (n − 1)) are the batch's, and the
    moving ones become momentum · moving + (1 − momentum) · batch; in a test (is_test, or
    Program.clone(for_test=True)) and with use_global_stats they are the moving ones.
    input: [N, C, ...] float, or [N, ..., C] with data_layout="NHWC"; C must be known.
    Returns the shape of input. scale [C] begins with ones, bias [C] with zeros, the moving mean with
    zeros and the moving variance with ones. param_attr=False, bias_attr=False: scale stays 1, bias stays 0.
    Ioffe and Szegedy, "Batch Normalization", ICML 2015.
    moving_mean_name, moving_variance_name: names of the moving statistics, to share them; None: new ones.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.batch_norm(pm.layers.conv2d(image, 16, 3, bias_attr=False), act="relu").shape
        (-1, 16, 6, 6)
    """
    require_float("batch_norm", input)
    channels = known_dim(input, len(input.shape) - 1 if data_layout == "NHWC" else 1, "batch_norm")
    prefix = layer_name("batch_norm", name)
    dtype = input.dtype
    # PaddlePaddle's training needs Scale and Bias, so False makes parameters that stay as they are, as its BatchNorm does.
    attrs = [ParamAttr(trainable=False) if attr is False else attr for attr in (param_attr, bias_attr)]
    scale = create_parameter([channels], dtype, attrs[0], prefix, Constant(1.0))
    bias = create_parameter([channels], dtype, attrs[1], prefix, bias=True)
    mean, variance = (
        create_parameter([channels], dtype, ParamAttr(given, Constant(value), trainable=False), prefix)
        for given, value in [(moving_mean_name, 0.0), (moving_variance_name, 1.0)]
    )
    names = [variable.name for variable in (scale, bias, mean, variance)]
    if len(set(names)) < len(names):
        refuse(
            ProgramError,
            f"batch_norm: scale, bias, moving mean and moving variance are {', '.join(map(repr, names))}; give each its own name",
        )
    outputs = emit_all(
        "batch_norm",
        {"X": input, "Scale": scale, "Bias": bias, "Mean": mean, "Variance": variance},
        {
            "is_test": is_test,
            "momentum": momentum,
            "epsilon": epsilon,
            "data_layout": data_layout,
            "use_global_stats": use_global_stats,
        },
        name=prefix,
        # PaddlePaddle requires ReserveSpace in training; it stays empty here.
        outputs={"MeanOut": mean, "VarianceOut": variance, "SavedMean": 1, "SavedVariance": 1, "ReserveSpace": 1, "Y": 1},
    )
    return activation(act, outputs["Y"], prefix)  # type: ignore[arg-type]


def layer_norm(
    input: Variable,
    scale: bool = True,
    shift: bool = True,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """Y = act(scale · (X − mean) / √(variance + ε) + shift) for each row: the axes from begin_norm_axis on.

    input: [rows..., features...] float; its features must be known. Returns the shape of input. scale
    [features] begins with ones, shift [features] with zeros; False: neither, as param_attr=False and
    bias_attr=False do too. Ba, Kiros and Hinton, "Layer Normalization", 2016.
    Example:
        >>> x = pm.layers.data("x", [-1, 5, 16])
        >>> pm.layers.layer_norm(x, begin_norm_axis=2).shape
        (-1, 5, 16)
    """
    require_float("layer_norm", input)
    begin = whole("layer_norm", "begin_norm_axis", begin_norm_axis)
    size = math.prod(known_dim(input, axis, "layer_norm") for axis in range(begin, len(input.shape)))
    prefix = layer_name("layer_norm", name)
    inputs = {
        "X": input,
        **_scale_and_bias(size, input.dtype, param_attr if scale else False, bias_attr if shift else False, prefix),
    }
    out = emit("layer_norm", inputs, {"begin_norm_axis": begin, "epsilon": epsilon}, name=prefix)
    return activation(act, out, prefix)


def group_norm(
    input: Variable,
    groups: int,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Y = act(scale · (X − mean) / √(variance + ε) + bias), with mean and variance of each group of
    neighbouring channels of each image.

    input: [N, C, ...] float, or [N, ..., C] with data_layout="NHWC"; C must be known. Returns the shape of
    input. scale [C] begins with ones, bias [C] with zeros; param_attr=False, bias_attr=False: none.
    Wu and He, "Group Normalization", ECCV 2018.
    groups: how many; C is a multiple.
    Example:
        >>> image = pm.layers.data("image", [-1, 16, 8, 8])
        >>> pm.layers.group_norm(image, groups=4).shape
        (-1, 16, 8, 8)
    """
    require_float("group_norm", input)
    channels = known_dim(input, len(input.shape) - 1 if data_layout == "NHWC" else 1, "group_norm")
    prefix = layer_name("group_norm", name)
    inputs = {"X": input, **_scale_and_bias(channels, input.dtype, param_attr, bias_attr, prefix)}
    attrs = {"groups": whole("group_norm", "groups", groups), "epsilon": epsilon, "data_layout": data_layout}
    return activation(act, emit("group_norm", inputs, attrs, name=prefix), prefix)


def instance_norm(
    input: Variable, epsilon: float = 1e-5, param_attr: Any = None, bias_attr: Any = None, name: str | None = None
) -> Variable:
    """Y = scale · (X − mean) / √(variance + ε) + bias, with mean and variance of each channel of each image.

    input: [N, C, ...] float; C must be known. The rest is as in group_norm.
    Ulyanov et al., "Instance Normalization", 2016. Returns the shape of input.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.instance_norm(image).shape
        (-1, 3, 8, 8)
    """
    require_float("instance_norm", input)
    channels = known_dim(input, 1, "instance_norm")
    prefix = layer_name("instance_norm", name)
    inputs = {"X": input, **_scale_and_bias(channels, input.dtype, param_attr, bias_attr, prefix)}
    return emit("instance_norm", inputs, {"epsilon": epsilon}, name=prefix, outputs={"SavedMean": 1, "SavedVariance": 1})


def spectral_norm(weight: Variable, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None) -> Variable:
    """weight / σ, with an estimate of its largest singular value as a matrix whose rows are the slices along axis dim.

    weight: float; its shape must be known. power_iters: iterations that begin in each run from two parameters, which are random
    and not trained. eps is added to their norms. Returns the shape of weight. Miyato et al., "Spectral
    Normalization for Generative Adversarial Networks", ICLR 2018.
    dim: the axis of the output channels.
    Example:
        >>> weight = pm.layers.data("weight", [16, 3, 3, 3])
        >>> pm.layers.spectral_norm(weight, power_iters=2).shape
        (16, 3, 3, 3)
    """
    require_float("spectral_norm", weight)
    rows = known_dim(weight, whole("spectral_norm", "dim", dim, 0), "spectral_norm")
    columns = math.prod(known_dim(weight, axis, "spectral_norm") for axis in range(len(weight.shape)) if axis != dim)
    prefix = layer_name("spectral_norm", name)
    attr = lambda: ParamAttr(initializer=Normal(0.0, 1.0), trainable=False)
    u = create_parameter([rows], weight.dtype, attr(), prefix)
    v = create_parameter([columns], weight.dtype, attr(), prefix)
    u.stop_gradient = v.stop_gradient = True
    attrs = {"dim": dim, "power_iters": whole("spectral_norm", "power_iters", power_iters), "eps": eps}
    return emit("spectral_norm", {"Weight": weight, "U": u, "V": v}, attrs, name=prefix)


def affine_channel(x: Variable, scale: Variable, bias: Variable, data_layout: str = "NCHW", name: str | None = None) -> Variable:
    """scale · x + bias, with a number of each for every channel.

    x: [N, C, ...], or [N, ..., C] with data_layout="NHWC". scale, bias: [C]. Returns the shape of x.
    Example:
        >>> image, factor = pm.layers.data("image", [-1, 3, 8, 8]), pm.layers.data("factor", [3])
        >>> pm.layers.affine_channel(image, factor, pm.layers.zeros([3])).shape
        (-1, 3, 8, 8)
    """
    return emit("affine_channel", {"X": x, "Scale": scale, "Bias": bias}, {"data_layout": data_layout}, name=name)


def lrn(
    input: Variable,
    n: int = 5,
    k: float = 1.0,
    alpha: float = 1e-4,
    beta: float = 0.75,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """X / (k + alpha Σ X²)^beta, the sum over n channels around each one.

    input: [N, C, H, W] float, or [N, H, W, C] with data_format="NHWC".
    Krizhevsky et al., "ImageNet classification with deep convolutional neural networks", NIPS 2012.
    Returns the shape of input.
    Example:
        >>> image = pm.layers.data("image", [-1, 16, 8, 8])
        >>> pm.layers.lrn(image).shape
        (-1, 16, 8, 8)
    """
    return emit("lrn", {"X": input}, {"n": n, "k": k, "alpha": alpha, "beta": beta, "data_format": data_format}, name=name)


def l2_normalize(x: Variable, axis: int = -1, epsilon: float = 1e-12, name: str | None = None) -> Variable:
    """x / √(Σ x² + epsilon), the sum along the axis.

    Args:
        x: any shape
        axis: the axis of the sum
        epsilon: added to the sum
    Returns:
        the shape of x
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.l2_normalize(x).shape
        (-1, 8)
    """
    return emit(
        "norm",
        {"X": x},
        {"axis": axis, "epsilon": epsilon},
        name=name or layer_name("l2_normalize"),
        outputs={"Out": 1, "Norm": 1},
    )


def renorm(x: Variable, p: float, axis: int, max_norm: float, name: str | None = None) -> Variable:
    """x with each slice along the axis scaled so that its p-norm is at most max_norm.

    x: float with at least 2 dimensions. p: above 0. Returns x's shape.
    Example:
        >>> x = pm.layers.data("x", [4, 3])
        >>> pm.layers.renorm(x, p=2.0, axis=0, max_norm=1.0).shape
        (4, 3)
    """
    return emit("renorm", {"X": x}, {"p": p, "axis": from_front(x, axis), "max_norm": max_norm}, name=name)


def _scale_and_bias(size: int, dtype: str, param_attr: Any, bias_attr: Any, prefix: str) -> dict[str, Variable]:
    inputs: dict[str, Variable] = {}
    if param_attr is not False:
        inputs["Scale"] = create_parameter([size], dtype, param_attr, prefix, Constant(1.0))
    if bias_attr is not False:
        inputs["Bias"] = create_parameter([size], dtype, bias_attr, prefix, bias=True)
    return inputs
