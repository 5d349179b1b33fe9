# Layers of Fourier transforms: those of NumPy's numpy.fft.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core import ProgramError, ShapeError
from ..errors import shown
from ..variable import Variable
from .cut import slice
from .emit import emit, refuse, require_variable, whole
from .rearrange import pad, roll
from .tensor import cast

_COMPLEX = {"float64": "complex128", "complex64": "complex64", "complex128": "complex128"}


def fft(x: Variable, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Variable:
    """The discrete Fourier transform of complex numbers along an axis: out[j] = sum of x[k] exp(-2 pi i j k / n).

    Args:
        x: any shape; real numbers become complex.
        n: the length of the transform, to which x is cut or padded with zeros; None: that of x.
        axis: negative ones count from the end.
        norm: "backward": the inverse divides by n; "forward": the other direction does; "ortho": both divide by its root.
    Returns:
        complex, the shape of x with n elements along the axis.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.fft(x).shape
        (-1, 8)
    """
    return transform("fft", "fft_c2c", x, None if n is None else [n], [axis], norm, True, name)


def ifft(x: Variable, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Variable:
    """The inverse of fft.

    Args:
        x: any shape; real numbers become complex.
        n: the length of the transform, to which x is cut or padded with zeros; None: that of x.
        axis: negative ones count from the end.
        norm: "backward": the inverse divides by n; "forward": the other direction does; "ortho": both divide by its root.
    Returns:
        complex, the shape of x with n elements along the axis.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.ifft(x).shape
        (-1, 8)
    """
    return transform("ifft", "fft_c2c", x, None if n is None else [n], [axis], norm, False, name)


def rfft(x: Variable, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Variable:
    """The first half of the transform of real numbers, n // 2 + 1 elements; the others are their conjugates.

    Args:
        x: any shape, real.
        n: the length of the transform, to which x is cut or padded with zeros; None: that of x.
        axis: negative ones count from the end.
        norm: "backward": the inverse divides by n; "forward": the other direction does; "ortho": both divide by its root.
    Returns:
        complex, the shape of x with n // 2 + 1 elements along the axis.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.rfft(x).shape
        (-1, 5)
    """
    return transform("rfft", "fft_r2c", x, None if n is None else [n], [axis], norm, True, name)


def irfft(x: Variable, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Variable:
    """The inverse of rfft: real numbers from the first half of their transform.

    Args:
        x: any shape.
        n: the length of the transform, to which x is cut or padded with zeros; None: 2 (m - 1), where x has m.
        axis: negative ones count from the end.
        norm: "backward": the inverse divides by n; "forward": the other direction does; "ortho": both divide by its root.
    Returns:
        real, the shape of x with n elements along the axis.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.irfft(x).shape
        (-1, 14)
    """
    return transform("irfft", "fft_c2r", x, None if n is None else [n], [axis], norm, False, name)


def hfft(x: Variable, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Variable:
    """The transform, which is real, of numbers whose second half are the conjugates of the first, which x is.

    Args:
        x: any shape.
        n: the length of the transform, to which x is cut or padded with zeros; None: 2 (m - 1), where x has m.
        axis: negative ones count from the end.
        norm: "backward": the inverse divides by n; "forward": the other direction does; "ortho": both divide by its root.
    Returns:
        real, the shape of x with n elements along the axis.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.hfft(x).shape
        (-1, 14)
    """
    return transform("hfft", "fft_c2r", x, None if n is None else [n], [axis], norm, True, name)


def ihfft(x: Variable, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Variable:
    """The inverse of hfft.

    Args:
        x: any shape, real.
        n: the length of the transform, to which x is cut or padded with zeros; None: that of x.
        axis: negative ones count from the end.
        norm: "backward": the inverse divides by n; "forward": the other direction does; "ortho": both divide by its root.
    Returns:
        complex, the shape of x with n // 2 + 1 elements along the axis.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.ihfft(x).shape
        (-1, 5)
    """
    return transform("ihfft", "fft_r2c", x, None if n is None else [n], [axis], norm, False, name)


def fftshift(x: Variable, axes: int | Sequence[int] | None = None, name: str | None = None) -> Variable:
    """Moves the first element along each axis, that of frequency 0, to the middle.

    Args:
        x: any shape.
        axes: an axis or a list of axes; None: all.
    Returns:
        the shape of x.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.fftshift(x, axes=1).shape
        (-1, 8)
    """
    return _shift("fftshift", x, axes, lambda length: length // 2, name)


def ifftshift(x: Variable, axes: int | Sequence[int] | None = None, name: str | None = None) -> Variable:
    """The inverse of fftshift.

    Args:
        x: any shape.
        axes: an axis or a list of axes; None: all.
    Returns:
        the shape of x.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.ifftshift(x, axes=1).shape
        (-1, 8)
    """
    return _shift("ifftshift", x, axes, lambda length: -(length // 2), name)


def _shift(layer: str, x: Variable, axes: int | Sequence[int] | None, steps: Any, name: str | None) -> Variable:
    require_variable(layer, x)
    chosen = range(len(x.shape)) if axes is None else [axes] if isinstance(axes, int) else list(axes)
    positions = [_position(layer, x, axis) for axis in chosen]
    return roll(x, [steps(_length(layer, x, axis)) for axis in positions], positions, name=name)


def _position(layer: str, x: Variable, axis: Any) -> int:
    rank = len(x.shape)
    if isinstance(axis, bool) or not isinstance(axis, int) or not -rank <= axis < rank:
        refuse(ShapeError, f"{layer}: {shown(axis)} is not an axis of a tensor of {rank} dimensions")
    return axis % rank


def _length(layer: str, x: Variable, axis: int) -> int:
    if x.shape[axis] < 0:
        refuse(ShapeError, f"{layer}: the length of x, {x.shape}, along axis {axis} must be known")
    return x.shape[axis]


def _resized(layer: str, x: Variable, axis: int, length: int) -> Variable:
    have = _length(layer, x, axis)
    if have > length:
        return slice(x, [axis], [0], [length])
    paddings = [0] * (2 * len(x.shape))
    paddings[2 * axis + 1] = length - have
    return pad(x, paddings) if have < length else x


def transform(
    layer: str,
    op_type: str,
    x: Variable,
    lengths: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: str,
    forward: bool,
    name: str | None,
) -> Variable:
    require_variable(layer, x)
    if norm not in ("backward", "forward", "ortho"):
        refuse(ProgramError, f"{layer}: norm is {shown(norm)}, it must be 'backward', 'forward' or 'ortho'")
    rank = len(x.shape)
    if axes is None:
        axes = range(rank) if lengths is None else range(rank - len(lengths), rank)
    positions = [_position(layer, x, axis) for axis in axes]
    if not positions or len(set(positions)) < len(positions):
        refuse(ProgramError, f"{layer}: axes are {shown(list(axes))}, they must be different axes, at least one")
    real = op_type == "fft_r2c"
    if real and x.dtype in ("complex64", "complex128"):
        refuse(ShapeError, f"{layer}: x is {x.dtype}, it must be real")
    wanted = _COMPLEX.get(x.dtype, "complex64") if not real else x.dtype if x.dtype in ("float32", "float64") else "float32"
    if x.dtype != wanted:
        x = cast(x, wanted)
    attrs: dict[str, Any] = {"axes": positions, "normalization": norm, "forward": forward}
    if lengths is not None:
        sizes = [whole(layer, "the length", length) for length in lengths]
        if len(sizes) != len(positions):
            refuse(ProgramError, f"{layer}: there are {len(sizes)} lengths for {len(positions)} axes")
        if op_type == "fft_c2r":
            attrs["last_dim_size"] = sizes[-1]
            sizes[-1] = sizes[-1] // 2 + 1
        for axis, size in zip(positions, sizes):
            x = _resized(layer, x, axis, size)
    if real:
        attrs["onesided"] = True
    return emit(op_type, {"X": x}, attrs, name=name)
