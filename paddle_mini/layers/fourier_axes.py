# Layers of Fourier transforms along several axes.
from __future__ import annotations

from collections.abc import Sequence

from ..variable import Variable
from .fourier import transform


def fftn(
    x: Variable,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Variable:
    """fft along several axes, by default all.

    Args:
        x: any shape; real numbers become complex.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which comes last; None: the last ones, as many as s has, or all.
        norm: as of fft.
    Returns:
        as fft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.fftn(matrix).shape
        (6, 8)
    """
    return transform("fftn", "fft_c2c", x, s, axes, norm, True, name)


def fft2(
    x: Variable, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Variable:
    """fft along several axes, by default the last two.

    Args:
        x: any shape; real numbers become complex.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which comes last; None: the last ones, as many as s has, or all.
        norm: as of fft.
    Returns:
        as fft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.fft2(matrix).shape
        (6, 8)
    """
    return transform("fft2", "fft_c2c", x, s, axes, norm, True, name)


def ifftn(
    x: Variable,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Variable:
    """ifft along several axes, by default all.

    Args:
        x: any shape; real numbers become complex.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which comes last; None: the last ones, as many as s has, or all.
        norm: as of ifft.
    Returns:
        as ifft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.ifftn(matrix).shape
        (6, 8)
    """
    return transform("ifftn", "fft_c2c", x, s, axes, norm, False, name)


def ifft2(
    x: Variable, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Variable:
    """ifft along several axes, by default the last two.

    Args:
        x: any shape; real numbers become complex.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which comes last; None: the last ones, as many as s has, or all.
        norm: as of ifft.
    Returns:
        as ifft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.ifft2(matrix).shape
        (6, 8)
    """
    return transform("ifft2", "fft_c2c", x, s, axes, norm, False, name)


def rfftn(
    x: Variable,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Variable:
    """rfft along several axes, by default all.

    Args:
        x: any shape, real.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which is halved; None: the last ones, as many as s has, or all.
        norm: as of rfft.
    Returns:
        as rfft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.rfftn(matrix).shape
        (6, 5)
    """
    return transform("rfftn", "fft_r2c", x, s, axes, norm, True, name)


def rfft2(
    x: Variable, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Variable:
    """rfft along several axes, by default the last two.

    Args:
        x: any shape, real.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which is halved; None: the last ones, as many as s has, or all.
        norm: as of rfft.
    Returns:
        as rfft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.rfft2(matrix).shape
        (6, 5)
    """
    return transform("rfft2", "fft_r2c", x, s, axes, norm, True, name)


def irfftn(
    x: Variable,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Variable:
    """irfft along several axes, by default all.

    Args:
        x: any shape.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which is the halved one; None: the last ones, as many as s has, or all.
        norm: as of irfft.
    Returns:
        as irfft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.irfftn(matrix).shape
        (6, 14)
    """
    return transform("irfftn", "fft_c2r", x, s, axes, norm, False, name)


def irfft2(
    x: Variable, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Variable:
    """irfft along several axes, by default the last two.

    Args:
        x: any shape.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which is the halved one; None: the last ones, as many as s has, or all.
        norm: as of irfft.
    Returns:
        as irfft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.irfft2(matrix).shape
        (6, 14)
    """
    return transform("irfft2", "fft_c2r", x, s, axes, norm, False, name)


def hfftn(
    x: Variable,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Variable:
    """hfft along several axes, by default all.

    Args:
        x: any shape.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which is the halved one; None: the last ones, as many as s has, or all.
        norm: as of hfft.
    Returns:
        as hfft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.hfftn(matrix).shape
        (6, 14)
    """
    return transform("hfftn", "fft_c2r", x, s, axes, norm, True, name)


def hfft2(
    x: Variable, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Variable:
    """hfft along several axes, by default the last two.

    Args:
        x: any shape.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which is the halved one; None: the last ones, as many as s has, or all.
        norm: as of hfft.
    Returns:
        as hfft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.hfft2(matrix).shape
        (6, 14)
    """
    return transform("hfft2", "fft_c2r", x, s, axes, norm, True, name)


def ihfftn(
    x: Variable,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Variable:
    """ihfft along several axes, by default all.

    Args:
        x: any shape, real.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which is halved; None: the last ones, as many as s has, or all.
        norm: as of ihfft.
    Returns:
        as ihfft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.ihfftn(matrix).shape
        (6, 5)
    """
    return transform("ihfftn", "fft_r2c", x, s, axes, norm, False, name)


def ihfft2(
    x: Variable, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str = "backward", name: str | None = None
) -> Variable:
    """ihfft along several axes, by default the last two.

    Args:
        x: any shape, real.
        s: the lengths along the axes, to which x is cut or padded with zeros; None: those of x.
        axes: the axes, the last of which is halved; None: the last ones, as many as s has, or all.
        norm: as of ihfft.
    Returns:
        as ihfft along the last of the axes; along the others s elements.
    Example:
        >>> matrix = pm.layers.data("matrix", [6, 8])
        >>> pm.layers.ihfft2(matrix).shape
        (6, 5)
    """
    return transform("ihfft2", "fft_r2c", x, s, axes, norm, False, name)
