# Converters of pooling.
from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..variable import Variable
from .neural import as_1d, as_2d, window
from .node import Node, converter
from .tensors import Unsupported


@converter("MaxPool", "AveragePool", "LpPool")
def pool(n: Node) -> Any:
    if n.wants(1):
        return _pool_with_index(n)
    x, kernel = n.x(), list(n.attr("kernel_shape"))
    strides, dilations, pads = window(n, x, kernel)
    rank = len(kernel)
    if rank not in (1, 2, 3):
        raise Unsupported(f"windows of {rank} axes")
    narrow = x.dtype if x.dtype not in dtypes.FLOAT_NAMES else ""
    x = n.cast(x, "float32") if narrow else x
    p = float(n.attr("p", 0))
    x = n.op("pow", n.op("abs", x), factor=p) if p else x
    if _is_operators_ceil(n, x, kernel, strides, dilations, pads):
        made = _pool(n, x, kernel, strides, pads, False, ceil_mode=True)
    elif n.attr("ceil_mode") or any(dilation != 1 for dilation in dilations):
        made = _pool_of_windows(n, x, _positions(n, x, kernel, strides, dilations, pads), kernel)
    else:
        made = _pool(n, x, kernel, strides, pads, bool(n.attr("count_include_pad", 0)) or bool(p))
    if p:
        made = n.op("pow", n.scale(made, float(np.prod(kernel))), factor=1 / p)
    return n.cast(made, narrow) if narrow else made


def _is_operators_ceil(
    n: Node, x: Variable, kernel: list[int], strides: list[int], dilations: list[int], pads: list[int]
) -> bool:
    """Whether the operator's ceil_mode is ONNX's, for images whose size only a run knows: no window begins in the padding after
    x, and means are of the elements of x."""
    if not n.attr("ceil_mode") or min(x.shape[2:]) >= 0 or any(dilation != 1 for dilation in dilations):
        return False
    inside = all(stride + after <= width for width, stride, after in zip(kernel, strides, pads[1::2]))
    counts_pads = n.attr("count_include_pad", 0) and any(pads)
    return inside and (n.type == "MaxPool" or (n.type == "AveragePool" and not counts_pads))


def _pool_with_index(n: Node) -> list[Variable]:
    """The maxima and their positions: the operator counts within a plane, ONNX through all images and channels."""
    x, kernel = n.x(), list(n.attr("kernel_shape"))
    channels, *sizes = n.require_static(x, 1)
    rank, plane = len(kernel), int(np.prod(sizes))
    strides, dilations, pads = window(n, x, kernel)
    if rank not in (2, 3) or n.attr("ceil_mode") or n.attr("storage_order") or any(dilation != 1 for dilation in dilations):
        raise Unsupported("output Indices with ceil_mode, dilations, storage_order, or windows of one axis")
    if pads[::2] != pads[1::2]:
        raise Unsupported("output Indices with unequal pads")
    attrs = {"ksize": kernel, "strides": strides, "paddings": pads[::2]}
    made, mask = n.emit(f"max_pool{rank}d_with_index", {"X": x}, attrs, ["Out", "Mask"])
    first = n.emit(
        "slice", {"Input": mask}, {"axes": [*range(1, rank + 2)], "starts": [0] * (rank + 1), "ends": [1] * (rank + 1)}
    )
    ones = n.emit("fill_any_like", {"X": n.cast(first, "int64")}, {"value": 1.0})
    images = n.scale(n.op("cumsum", ones, axis=0, exclusive=True), channels * plane)
    planes = n.constant(np.arange(channels).reshape([1, channels] + [1] * rank) * plane, "int64")
    return [made, n.add(n.cast(mask, "int64"), n.add(images, planes))]


def _positions(
    n: Node, x: Variable, kernel: list[int], strides: list[int], dilations: list[int], pads: list[int]
) -> list[np.ndarray]:
    """For each axis the positions of all windows' elements, [windows, width], negative for padding before x."""
    positions = []
    for i, size in enumerate(n.require_static(x, 2)):
        low, high = pads[2 * i], pads[2 * i + 1]
        reach = size + low + high - dilations[i] * (kernel[i] - 1) - 1
        windows = (-(-reach // strides[i]) if n.attr("ceil_mode") else reach // strides[i]) + 1
        # A window may not begin in the padding after x.
        windows -= int((windows - 1) * strides[i] >= size + low)
        positions.append(np.arange(windows)[:, None] * strides[i] - low + np.arange(kernel[i]) * dilations[i])
    return positions


def _pool_of_windows(n: Node, x: Variable, positions: list[np.ndarray], kernel: list[int]) -> Variable:
    """Pools with dilations or with windows that end outside: the elements of all windows are laid out, then pooled."""
    maximum, sizes = n.type == "MaxPool", n.require_static(x, 2)
    weights = np.ones([1] * len(x.shape))
    for axis, (places, size) in enumerate(zip(positions, sizes), 2):
        x = n.emit("index_select", {"X": x, "Index": n.constant(places.clip(0, size - 1).ravel(), "int64")}, {"dim": axis})
        shape = [-1 if i == axis else 1 for i in range(len(x.shape))]
        weights = weights * ((places >= 0) & (places < size)).astype(float).ravel().reshape(shape)
    if maximum:
        # A repeated element at the edge may be one that no other element of the window is: it must not win.
        outside = np.where(weights > 0, 0.0, -np.inf)
        return _pool(n, n.add(x, n.constant(outside, x.dtype)), kernel, kernel, [0, 0] * len(kernel), True)
    x = n.mul(x, n.constant(weights, x.dtype))
    mean = _pool(n, x, kernel, kernel, [0, 0] * len(kernel), True)
    if n.type == "LpPool":
        return mean
    counted = _counted(n, positions, sizes)
    return n.mul(mean, n.constant(np.prod(kernel) / counted, x.dtype))


def _counted(n: Node, positions: list[np.ndarray], sizes: list[int]) -> np.ndarray:
    """The number of elements by which each window of AveragePool is divided."""
    rank, counted = len(sizes), np.ones([1] * (len(sizes) + 2))
    pads = n.attr("pads", [0] * 2 * rank) if n.attr("count_include_pad", 0) else [0] * 2 * rank
    for axis, (places, size) in enumerate(zip(positions, sizes)):
        inside = (places >= -pads[axis]) & (places < size + pads[axis + rank])
        counted = counted * inside.sum(1).reshape([-1 if i == axis + 2 else 1 for i in range(rank + 2)])
    return counted


def _pool(
    n: Node, x: Variable, kernel: list[int], strides: list[int], pads: list[int], include: bool, ceil_mode: bool = False
) -> Variable:
    rank = len(kernel)
    if rank == 1:
        x, kernel, strides, pads = as_2d(n, x), [1, *kernel], [1, *strides], [0, 0, *pads]
    if include and pads[::2] != pads[1::2]:
        # The operator's mean divides by counts that assume the same padding on both sides.
        x, pads = n.op("pad", x, paddings=[0, 0, 0, 0, *pads], pad_value=0.0), [0] * len(pads)
    attrs: dict[str, Any] = {
        "pooling_type": "max" if n.type == "MaxPool" else "avg",
        "ksize": kernel,
        "strides": strides,
        "paddings": pads,
        "exclusive": not include,
        "ceil_mode": ceil_mode,
    }
    made = n.op("pool3d" if rank == 3 else "pool2d", x, **attrs)
    return as_1d(n, made) if rank == 1 else made


@converter("GlobalAveragePool", "GlobalMaxPool")
def global_pool(n: Node) -> Variable:
    axes = list(range(2, len(n.x().shape)))
    return n.op("reduce_mean" if n.type == "GlobalAveragePool" else "reduce_max", n.x(), dim=axes, keep_dim=True)


@converter("GlobalLpPool")
def global_lp_pool(n: Node) -> Variable:
    x, p = n.x(), float(n.attr("p"))
    total = n.op("reduce_sum", n.op("pow", n.op("abs", x), factor=p), dim=list(range(2, len(x.shape))), keep_dim=True)
    return n.op("pow", total, factor=1 / p)


@converter("MaxUnpool")
def max_unpool(n: Node) -> Variable:
    x, kernel = n.x(), list(n.attr("kernel_shape"))
    if len(kernel) != 2:
        raise Unsupported(f"windows of {len(kernel)} axes")
    strides, pads = list(n.attr("strides", [1, 1])), list(n.attr("pads", [0] * 4))
    sizes = [
        (size - 1) * step + width - low - high
        for size, step, width, low, high in zip(n.require_static(x, 2), strides, kernel, pads[:2], pads[2:])
    ]
    # ONNX counts the elements of all images and channels, the operator those of a plane.
    index = n.op("elementwise_mod", n.x(1), n.constant(int(np.prod(sizes)), "int64"))
    attrs = {"ksize": kernel, "strides": strides, "output_size": sizes, "unpooling_type": "max"}
    made = n.emit("unpool", {"X": x, "Indices": index}, attrs)
    if not n.has(2):
        return made
    more = [want - have for want, have in zip(n.known_ints(2)[2:], sizes)]
    return n.op("pad", made, paddings=[0, 0, 0, 0, 0, more[0], 0, more[1]], pad_value=0.0)
