# Shared parts of the tests of operators that resize images.
from __future__ import annotations

from typing import Any

import numpy as np

import paddle_mini as pm
from harness import Cases, array

X = {"X": array(2, 3, 5, 4)}

CASES: Cases = {
    "corners": (X, {"out_h": 8, "out_w": 9}),
    "scale": (X, {"scale": [2.0, 1.5], "align_corners": False}),
    "one pixel": (X, {"out_h": 1, "out_w": 1}),
    "same size": (X, {"scale": [1.1, 1.1], "align_corners": False}),
    "channels last": (X, {"out_h": 7, "out_w": 3, "data_layout": "NHWC"}),
    "one element": ({"X": array(1, 1, 1, 1)}, {"out_h": 2, "out_w": 3}),
    "no images": ({"X": array(0, 3, 5, 4)}, {"out_h": 8, "out_w": 9}),
}

REFUSALS: dict[str, Any] = {
    "three dimensions": ({"X": array(3, 5, 4)}, {"out_h": 8, "out_w": 9}, pm.ShapeError, "X 3 4"),
    "no size": (X, {}, pm.ProgramError, "out_h 0"),
    "no pixels": ({"X": array(1, 1, 0, 4)}, {"out_h": 8, "out_w": 9}, pm.ShapeError, "0 8"),
    "huge scale": (X, {"scale": [1e30, 1.0]}, pm.ShapeError, "scale"),
}


REFUSALS_OF_FIRST: dict[str, Any] = {
    **REFUSALS,
    "huge scale": (X, {"scale": 1e30}, pm.ShapeError, "scale"),
    "two factors": (X, {"scale": [2.0, 2.0]}, pm.ProgramError, "scale"),
    "two factors in a tensor": ({**X, "Scale": np.ones(2, "float32")}, {}, pm.ShapeError, "Scale 2 1"),
}


def by(method: str, cases: Cases) -> Cases:
    """PaddlePaddle writes no result if interp_method is another one."""
    return {name: (inputs, {**attrs, "interp_method": method}) for name, (inputs, attrs) in cases.items()}


def of_first(method: str, cases: Cases) -> Cases:
    """The cases for *_interp, whose attribute scale is one factor; one of 0 or less is none."""
    first = {name: (x, {**attrs, "scale": [*attrs.get("scale", ()), -1.0][0]}) for name, (x, attrs) in cases.items()}
    return by(method, first)


def factors(attrs: dict[str, Any], axes: int) -> list[float]:
    """The scale of each axis, 0 where none is given."""
    scale = attrs["scale"]
    return [max(scale, 0.0)] * axes if isinstance(scale, float) else list(scale) or [0] * axes


def steps(attrs: dict[str, Any], size: int, scale: float, wanted: int) -> tuple[int, np.float32]:
    """The number of pixels along an axis of Out, and the step in X from one to the next."""
    out = int(np.float32(size) * np.float32(scale)) if scale else wanted
    if attrs["align_corners"]:
        ratio = np.float32(size - 1) / np.float32(max(out - 1, 1))
    else:
        by_scale = scale and not isinstance(attrs["scale"], float)  # in *_interp it sets sizes only
        ratio = np.float32(1) / np.float32(scale) if by_scale else np.float32(size) / np.float32(out)
    return out, ratio if out > 1 else np.float32(0)


def linear_matrix(attrs: dict[str, Any], size: int, scale: float, wanted: int) -> np.ndarray:
    """The weights of linear interpolation along an axis: [pixels of Out, pixels of X]."""
    out, ratio = steps(attrs, size, scale, wanted)
    pixels = np.arange(out)
    at = (ratio * pixels.astype("float32")).astype("float32")
    if attrs["align_mode"] == 0 and not attrs["align_corners"]:
        at = np.maximum((np.float64(ratio) * (pixels + 0.5) - 0.5).astype("float32"), np.float32(0))
    first = np.minimum(at.astype("int64"), size - 1)
    part = at - first.astype("float32")  # Trap: positions and weights are float32 for every type of X
    matrix = np.zeros((out, size))
    matrix[pixels, first] += np.float32(1) - part
    matrix[pixels, np.minimum(first + 1, size - 1)] += part
    return matrix
