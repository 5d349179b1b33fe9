# Activations with a parameter, or with a number that callers give by position.
from __future__ import annotations

from typing import Any

from .._core import ProgramError
from ..errors import shown
from ..initializer import Constant
from ..variable import Variable
from .emit import create_parameter, emit, from_front, known_dim, layer_name, refuse, require_float


def maxout(x: Variable, groups: int, axis: int = 1, name: str | None = None) -> Variable:
    """The greatest of each `groups` neighbouring channels.

    x: [N, C, H, W] float, groups divides C; or any rank, with the channels along the axis. Returns x's shape with
    C / groups channels. Goodfellow et al., "Maxout Networks", ICML 2013.
    Example:
        >>> image = pm.layers.data("image", [-1, 16, 8, 8])
        >>> pm.layers.maxout(image, groups=2).shape
        (-1, 8, 8, 8)
    """
    return emit("maxout", {"X": x}, {"groups": groups, "axis": from_front(x, axis)}, name=name)


def prelu(x: Variable, mode: str, param_attr: Any = None, data_format: str = "NCHW", name: str | None = None) -> Variable:
    """x where x > 0, else α x, with a parameter α: one for "all", for each "channel", or for each
    "element" of a sample.

    x: float; what α depends on must be known. Returns the shape of x. α begins with 0.25.
    He et al., "Delving deep into rectifiers", ICCV 2015.
    mode: one of these. data_format: "NCHW", or "NHWC" with the channels last.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pm.layers.prelu(image, "channel").shape
        (-1, 3, 8, 8)
    """
    require_float("prelu", x)
    if mode == "all":
        shape = [1]
    elif mode == "channel":
        channels = known_dim(x, 1 if data_format == "NCHW" else len(x.shape) - 1, "prelu")
        window = [1] * (len(x.shape) - 2)
        shape = [1, channels, *window] if data_format == "NCHW" else [1, *window, channels]
    elif mode == "element":
        shape = [1, *(known_dim(x, axis, "prelu") for axis in range(1, len(x.shape)))]
    else:
        refuse(ProgramError, f"prelu: mode is {shown(mode)}, it must be 'all', 'channel' or 'element'")
    prefix = layer_name("prelu", name)
    alpha = create_parameter(shape, x.dtype, param_attr, prefix, Constant(0.25))
    return emit("prelu", {"X": x, "Alpha": alpha}, {"mode": mode, "data_format": data_format}, name=prefix)


def softshrink(x: Variable, alpha: float = 0.5, name: str | None = None) -> Variable:
    """x − α where x > α, x + α where x < −α, else 0.

    Args:
        x: any shape
        alpha: the threshold α
    Returns:
        the shape of x
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.softshrink(x).shape
        (-1, 8)
    """
    return emit("softshrink", {"X": x}, {"lambda": alpha}, name=name)


def pow(x: Variable, factor: float = 1.0, name: str | None = None) -> Variable:
    """x to the power of a number; of another variable: elementwise_pow.

    Args:
        x: any shape
        factor: the exponent
    Returns:
        the shape of x
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.pow(x, 2.0).shape
        (-1, 8)
    """
    return emit("pow", {"X": x}, {"factor": factor}, name=name)
