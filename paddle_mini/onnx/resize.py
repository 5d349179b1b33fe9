# Converters of Resize.
from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from .._core import ProgramError
from ..variable import Variable
from .node import Node, converter
from .tensors import Unsupported

_KEEPING = ("not_larger", "not_smaller")  # policies that keep the ratio of height and width


@converter("Resize")
def resize(n: Node) -> Variable:
    x = n.x()
    shape, rank = list(x.shape), len(x.shape)
    axes = [n.axis(axis, rank) for axis in n.attr("axes", range(rank))]
    if n.attr("mode") not in ("nearest", "linear", "cubic"):
        raise Unsupported(f"mode {n.attr('mode')}")
    if n.attr("mode") != "nearest" and x.dtype not in dtypes.FLOAT_NAMES:
        raise Unsupported(f"mode {n.attr('mode')} of {x.dtype}: ONNX does not say how sums are rounded")
    cropped = n.attr("coordinate_transformation_mode") == "tf_crop_and_resize"
    if n.has(3) and (cropped or n.attr("keep_aspect_ratio_policy", "") in _KEEPING):
        n.require_static(x)
        n.known(3)
    sizes, scales = _sizes_and_scales(n, shape, axes)
    if cropped:
        return _cropped(n, x, axes, sizes)
    # The first dimension is kept where only a run knows it: no model resizes the batch.
    batch = shape[0] < 0 and sizes.get(0, 0) < 0 and scales[0] < 0 and len(sizes) == rank
    for axis, size in sizes.items():
        if axis == 0 and batch:
            continue
        if shape[axis] < 0 or size < 0:
            x = _resized_at_run(n, x, axis, axes.index(axis), scales[axis])
        elif size != shape[axis] or scales[axis] != 1:
            x = _resized(n, x, axis, _positions(n, shape[axis], size, scales[axis]), scales[axis])
    if not batch:
        return x
    made = n.emit("reshape2", {"X": x, "Shape": n.x(3)})  # a run that gives another dimension 0 is refused
    made.set_info(x.info())
    return made


def _resized_at_run(n: Node, x: Variable, axis: int, index: int, scale: float) -> Variable:
    """As _resized, where a run computes the old or the new dimension; index: the place of the axis in sizes."""
    if scale == 1:
        return x
    if scale < 0 and n.attr("antialias", 0):
        if n.dims(3) is None:
            n.known(3)
        raise Unsupported(f"antialias along dimension {axis} by a factor that only a run knows")
    old = n.sizes(x, axis, axis + 1, "float64")
    if scale > 0:
        factor = n.constant([scale], "float64")
        new = n.op("floor", n.mul(old, factor))
    else:
        given = n.emit("slice", {"Input": n.x(3)}, {"axes": [0], "starts": [index], "ends": [index + 1]})
        new = n.cast(given, "float64")
        factor = new / old
    zero, one = n.constant([0.0], "float64"), n.constant([1.0], "float64")
    counted = n.emit("range", {"Start": zero, "End": new, "Step": one})
    return _resized(n, x, axis, _positions_of(n, counted, old, new, factor), scale if scale > 0 else 1.0)


def _cropped(n: Node, x: Variable, axes: list[int], sizes: dict[int, int]) -> Variable:
    """The region of each axis, given as fractions of it; positions outside of x have one value."""
    if not (n.has(3) and n.known(3).size):
        raise Unsupported("tf_crop_and_resize with scales")
    region = n.known(1).astype(np.float64)
    for axis, first, last in zip(axes, region, region[len(axes) :]):
        old, new = x.shape[axis], sizes[axis]
        at = np.linspace(first, last, new) * (old - 1) if new > 1 else np.array([(first + last) / 2 * (old - 1)])
        x = _resized(n, x, axis, at, new / (old * (last - first)) if last != first else 1.0)
        outside = (at < 0) | (at > old - 1)
        if outside.any():
            shape = [new if i == axis else 1 for i in range(len(x.shape))]
            values = (outside * n.attr("extrapolation_value")).reshape(shape)
            x = n.add(n.mul(x, n.constant((~outside).reshape(shape), x.dtype)), n.constant(values, x.dtype))
    return x


def _sizes_and_scales(n: Node, shape: list[int], axes: list[int]) -> tuple[dict[int, int], dict[int, float]]:
    """The new dimensions and the factors by axis, -1 where only a run knows them."""
    if not n.has(3) or n.dims(3) == []:
        factors = [float(scale) for scale in n.known(2).ravel()]
        if len(factors) != len(axes) or not all(0 < scale < np.inf for scale in factors):
            raise ProgramError(f"scales {factors}: there must be one number above 0 for each of {len(axes)} axes")
        scales = dict(zip(axes, factors))
        return {axis: int(np.floor(shape[axis] * scale)) for axis, scale in scales.items()}, scales
    dims = n.dims(3) or [None] * len(axes)
    if len(dims) != len(axes):
        raise ProgramError(f"sizes has {len(dims)} elements: there must be one for each of {len(axes)} axes")
    sizes = {axis: -1 if size is None else size for axis, size in zip(axes, dims)}
    scales = {axis: size / shape[axis] if size >= 0 and shape[axis] >= 0 else -1.0 for axis, size in sizes.items()}
    policy = n.attr("keep_aspect_ratio_policy", "")
    if policy in _KEEPING:
        common = min(scales.values()) if policy == "not_larger" else max(scales.values())
        scales = dict.fromkeys(axes, common)
        sizes = {axis: int(np.floor(common * shape[axis] + 0.5)) for axis in axes}
    return sizes, scales


def _positions(n: Node, old: int, new: int, scale: float) -> np.ndarray:
    """The coordinates in the input of the elements of the output, along one axis."""
    made: np.ndarray = _positions_of(n, np.arange(new, dtype=np.float64), old, new, scale)
    return made


def _positions_of(n: Node, out: Any, old: Any, new: Any, scale: Any) -> Any:
    """As _positions, for numbers and arrays or for variables: out has the places 0 to new - 1."""
    mode = n.attr("coordinate_transformation_mode")
    if mode == "align_corners":
        return out * (old - 1) / _clip(n, scale * old - 1, 1, _MOST)  # there is only the place 0 if new is 1
    if mode == "asymmetric":
        return out / scale
    if mode == "half_pixel":
        return (out + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return ((out + 0.5) / scale - 0.5) * _clip(n, new - 1, 0, 1)
    if mode == "half_pixel_symmetric":
        return old / 2 * (1 - new / (scale * old)) + (out + 0.5) / scale - 0.5
    raise Unsupported(f"coordinate_transformation_mode {mode}")


_MOST = 2**31


def _clip(n: Node, value: Any, low: int, high: Any) -> Any:
    """Numbers, arrays or variables between two bounds."""
    if not isinstance(value, Variable):
        return np.clip(value, low, high)
    bounds = [bound if isinstance(bound, Variable) else n.constant([bound], value.dtype) for bound in (low, high)]
    return n.op("elementwise_min", n.op("elementwise_max", value, bounds[0]), bounds[1])


def _each(n: Node, op_type: str, value: Any) -> Any:
    """The floor, ceil or abs of numbers or of a variable."""
    return n.op(op_type, value) if isinstance(value, Variable) else getattr(np, op_type)(value)


_NEAREST: dict[str, tuple[str, float]] = {
    "round_prefer_floor": ("ceil", -0.5),
    "round_prefer_ceil": ("floor", 0.5),
    "floor": ("floor", 0.0),
    "ceil": ("ceil", 0.0),
}


def _resized(n: Node, x: Variable, axis: int, at: Any, scale: float) -> Variable:
    """One axis resized: elements are selected, and for the modes linear and cubic weighted and added."""
    old: Any = x.shape[axis] if x.shape[axis] >= 0 else n.sizes(x, axis, axis + 1, "float64")

    def take(index: Any) -> Variable:
        near = _clip(n, index, 0, old - 1)
        chosen = n.cast(near, "int64") if isinstance(near, Variable) else n.constant(near, "int64")
        return n.emit("index_select", {"X": x, "Index": chosen}, {"dim": axis})

    if n.attr("mode") == "nearest":
        if n.attr("nearest_mode") not in _NEAREST:
            raise ProgramError(f"nearest_mode {n.attr('nearest_mode')} does not exist")
        op_type, shift = _NEAREST[n.attr("nearest_mode")]
        return take(_each(n, op_type, at + shift))
    shape = [-1 if i == axis else 1 for i in range(len(x.shape))]
    made = None
    for index, weight in _weighted(n, at, old, min(scale, 1.0) if n.attr("antialias", 0) else 1.0):
        is_constant = not isinstance(weight, Variable)
        factor = n.constant(weight.reshape(shape), x.dtype) if is_constant else n.reshape(n.cast(weight, x.dtype), shape)
        part = n.mul(take(index), factor)
        made = part if made is None else n.add(made, part)
    assert made is not None
    return made


def _weighted(n: Node, at: Any, old: Any, width: float) -> list[tuple[Any, Any]]:
    """The neighbours of each position along one axis, and their weights, which add up to 1; arrays or variables. Below a width
    of 1, which is for smaller images without aliasing, the kernel is widened by 1 / width."""
    first = int(np.floor(-(1 if n.attr("mode") == "linear" else 2) / width)) + 1
    low = _each(n, "floor", at)
    pairs = []
    for offset in range(first, 2 - first):
        index = low + float(offset)
        weight = _weight_at(n, _each(n, "abs", at - index) * width)
        if n.attr("exclude_outside"):
            outside = _each(n, "abs", index - _clip(n, index, 0, old - 1))
            weight = weight * (1.0 - _clip(n, outside, 0, 1))
        pairs.append((index, weight))
    if width == 1 and not n.attr("exclude_outside"):
        return pairs
    total = sum(weight for _, weight in pairs)
    return [(index, weight / total) for index, weight in pairs]


def _weight_at(n: Node, distance: Any) -> Any:
    """The weights of elements at these distances, 0 from 1 on, or from 2 on for mode cubic."""
    if n.attr("mode") == "linear":
        return _clip(n, 1.0 - distance, 0, 1)
    a = n.attr("cubic_coeff_a")
    near, far = _clip(n, distance, 0, 1), _clip(n, distance, 1, 2)  # each polynomial is 0 at the ends of the other one's part
    return ((a + 2) * near - (a + 3)) * near * near + 1.0 + ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
