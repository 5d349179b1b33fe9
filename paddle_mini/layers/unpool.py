# Layers that undo a maximum pooling.
from __future__ import annotations

from collections.abc import Sequence

from .._core import ProgramError
from ..variable import Variable
from .emit import emit, known_dim, refuse, require_float


def max_unpool2d(
    x: Variable,
    indices: Variable,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Variable:
    """Zeros with the elements of x at the positions that max_pool2d_with_index found.

    Args:
        x: [n, channels, rows, columns]; float32 or float64.
        indices: int32 or int64 of that shape, row-major positions in a plane of the result.
        kernel_size: the window of the pooling: one number, or [height, width].
        stride: its strides; None: those of kernel_size.
        padding: its paddings.
        output_size: [height, width] of the result; None: the smallest that the pooling may have had.
    Returns:
        [n, channels, height, width], height = (rows - 1) stride - 2 padding + kernel_size.
    Example:
        >>> image = pm.layers.data("image", [-1, 3, 8, 8])
        >>> pooled, indices = pm.layers.max_pool2d_with_index(image, 2, 2)
        >>> pm.layers.max_unpool2d(pooled, indices, 2).shape
        (-1, 3, 8, 8)
    """
    return _unpool("unpool", 2, x, indices, kernel_size, stride, padding, output_size, name)


def max_unpool3d(
    x: Variable,
    indices: Variable,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Variable:
    """Zeros with the elements of x at the positions that max_pool3d_with_index found.

    Args:
        x: [n, channels, planes, rows, columns]; float32 or float64.
        indices: int32 or int64 of that shape, row-major positions in a volume of the result.
        kernel_size: the window of the pooling: one number, or [depth, height, width].
        stride: its strides; None: those of kernel_size.
        padding: its paddings.
        output_size: [depth, height, width] of the result; None: the smallest that the pooling may have had.
    Returns:
        [n, channels, depth, height, width], depth = (planes - 1) stride - 2 padding + kernel_size.
    Example:
        >>> x, indices = pm.layers.data("x", [-1, 3, 2, 4, 4]), pm.layers.data("indices", [-1, 3, 2, 4, 4], "int32")
        >>> pm.layers.max_unpool3d(x, indices, 2).shape
        (-1, 3, 4, 8, 8)
    """
    return _unpool("unpool3d", 3, x, indices, kernel_size, stride, padding, output_size, name)


def _unpool(
    op_type: str,
    axes: int,
    x: Variable,
    indices: Variable,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None,
    padding: int | Sequence[int],
    output_size: Sequence[int] | None,
    name: str | None,
) -> Variable:
    require_float(f"max_{op_type}", x)

    def numbers(value: int | Sequence[int], argument: str) -> list[int]:
        found = [value] * axes if isinstance(value, int) else list(value)
        if len(found) != axes:
            refuse(ProgramError, f"max_{op_type}: {argument} has {len(found)} numbers, it must have 1 or {axes}")
        return found

    window, paddings = numbers(kernel_size, "kernel_size"), numbers(padding, "padding")
    strides = window if stride is None else numbers(stride, "stride")
    if output_size is None:
        sizes = [known_dim(x, 2 + a, f"max_{op_type}") for a in range(axes)]
        output_size = [(sizes[a] - 1) * strides[a] - 2 * paddings[a] + window[a] for a in range(axes)]
    attrs = {"ksize": window, "strides": strides, "paddings": paddings, "output_size": numbers(output_size, "output_size")}
    more = {"unpooling_type": "max"} if axes == 2 else {}
    return emit(op_type, {"X": x, "Indices": indices}, {**attrs, **more}, name=name)
