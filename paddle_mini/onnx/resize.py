# Converters of Resize and GridSample.
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._core import ProgramError
from ..variable import Variable
from .node import Node, converter
from .tensors import Unsupported


@converter("Resize")
def resize(n: Node) -> Variable:
    x = n.x()
    shape, rank = n.require_static(x), len(x.shape)
    axes = [n.axis(axis, rank) for axis in n.attr("axes", range(rank))]
    sizes, scales = _sizes_and_scales(n, shape, axes)
    if n.attr("mode") not in ("nearest", "linear", "cubic"):
        raise Unsupported(f"mode {n.attr('mode')}")
    if n.attr("coordinate_transformation_mode") == "tf_crop_and_resize":
        return _cropped(n, x, axes, sizes)
    for axis, size in sizes.items():
        if size != shape[axis] or scales[axis] != 1:
            x = _resized(n, x, axis, shape[axis], _positions(n, shape[axis], size, scales[axis]), scales[axis])
    return x


def _cropped(n: Node, x: Variable, axes: list[int], sizes: dict[int, int]) -> Variable:
    """The region of each axis, given as fractions of it; positions outside of x have one value."""
    if not (n.has(3) and n.known(3).size):
        raise Unsupported("tf_crop_and_resize with scales")
    region = n.known(1).astype(np.float64)
    for axis, first, last in zip(axes, region, region[len(axes) :]):
        old, new = x.shape[axis], sizes[axis]
        at = np.linspace(first, last, new) * (old - 1) if new > 1 else np.array([(first + last) / 2 * (old - 1)])
        x = _resized(n, x, axis, old, at, new / (old * (last - first)) if last != first else 1.0)
        outside = (at < 0) | (at > old - 1)
        if outside.any():
            shape = [new if i == axis else 1 for i in range(len(x.shape))]
            values = (outside * n.attr("extrapolation_value")).reshape(shape)
            x = n.add(n.mul(x, n.constant((~outside).reshape(shape), x.dtype)), n.constant(values, x.dtype))
    return x


def _sizes_and_scales(n: Node, shape: list[int], axes: list[int]) -> tuple[dict[int, int], dict[int, float]]:
    """The new dimensions and the factors by axis."""
    if not (n.has(3) and n.known(3).size):
        scales = dict(zip(axes, map(float, n.known(2).ravel())))
        return {axis: int(np.floor(shape[axis] * scale)) for axis, scale in scales.items()}, scales
    sizes = dict(zip(axes, n.known_ints(3)))
    scales = {axis: size / shape[axis] for axis, size in sizes.items()}
    policy = n.attr("keep_aspect_ratio_policy", "")
    if policy in ("not_larger", "not_smaller"):
        common = min(scales.values()) if policy == "not_larger" else max(scales.values())
        scales = dict.fromkeys(axes, common)
        sizes = {axis: int(np.floor(common * shape[axis] + 0.5)) for axis in axes}
    return sizes, scales


def _positions(n: Node, old: int, new: int, scale: float) -> np.ndarray:
    """The coordinates in the input of the elements of the output, along one axis."""
    out, mode = np.arange(new, dtype=np.float64), n.attr("coordinate_transformation_mode")
    if mode == "align_corners":
        return out * (old - 1) / (scale * old - 1) if new > 1 else out * 0
    if mode == "asymmetric":
        return out / scale
    if mode == "pytorch_half_pixel" and new == 1:
        return out * 0
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return (out + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        return old / 2 * (1 - new / (scale * old)) + (out + 0.5) / scale - 0.5
    raise Unsupported(f"coordinate_transformation_mode {mode}")


_NEAREST: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _resized(n: Node, x: Variable, axis: int, old: int, at: np.ndarray, scale: float) -> Variable:
    """One axis resized: elements are selected, and for the modes linear and cubic weighted and added."""

    def take(index: np.ndarray) -> Variable:
        return n.emit("index_select", {"X": x, "Index": n.constant(np.clip(index, 0, old - 1), "int64")}, {"dim": axis})

    if n.attr("mode") == "nearest":
        if n.attr("nearest_mode") not in _NEAREST:
            raise ProgramError(f"nearest_mode {n.attr('nearest_mode')} does not exist")
        return take(_NEAREST[n.attr("nearest_mode")](at))
    shape = [len(at) if i == axis else 1 for i in range(len(x.shape))]
    made = None
    for index, weight in _weighted(n, at, old, min(scale, 1.0) if n.attr("antialias", 0) else 1.0):
        part = n.mul(take(index), n.constant(weight.reshape(shape), x.dtype))
        made = part if made is None else n.add(made, part)
    assert made is not None
    return made


def _weighted(n: Node, at: np.ndarray, old: int, width: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """The neighbours of each position along one axis, and their weights, which add up to 1. Below a width of 1, which is for
    smaller images without aliasing, the kernel is widened by 1 / width."""
    reach = 1 if n.attr("mode") == "linear" else 2
    first = int(np.floor(-reach / width)) + 1
    part, a = at - np.floor(at), n.attr("cubic_coeff_a")
    pairs = []
    for offset in range(first, 2 - first):
        d = np.abs(part - offset) * width
        if reach == 1:
            weight = np.maximum(1 - d, 0)
        else:
            near = (a + 2) * d**3 - (a + 3) * d**2 + 1
            far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
            weight = np.where(d <= 1, near, np.where(d < 2, far, 0))
        pairs.append((np.floor(at) + offset, weight))
    if width < 1:
        total = np.sum([weight for _, weight in pairs], axis=0)
        pairs = [(index, weight / total) for index, weight in pairs]
    if not n.attr("exclude_outside"):
        return pairs
    kept = [(index, np.where((index >= 0) & (index < old), weight, 0)) for index, weight in pairs]
    total = np.sum([weight for _, weight in kept], axis=0)
    return [(index, weight / total) for index, weight in kept]


@converter("GridSample")
def grid_sample(n: Node) -> Variable:
    # Mode nearest of the operator grid_sampler rounds halves otherwise than ONNX.
    if n.attr("mode") not in ("linear", "bilinear") or len(n.x().shape) not in (4, 5):
        raise Unsupported(f"mode {n.attr('mode')} of {len(n.x().shape) - 2} axes")
    attrs = {"mode": "bilinear", "padding_mode": n.attr("padding_mode"), "align_corners": bool(n.attr("align_corners"))}
    return n.emit("grid_sampler", {"X": n.x(0), "Grid": n.x(1)}, attrs, "Output")
