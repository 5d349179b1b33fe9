# Inputs and a reference of convolutions whose taps are moved by offsets.
from __future__ import annotations

from typing import Any

import numpy as np

import paddle_mini as pm
from harness import array, ints


def sample(image: np.ndarray, y: float, x: float) -> np.ndarray:
    """Bilinear interpolation in [channels, height, width], with zeros outside."""
    height, width = image.shape[1:]
    total = np.zeros(len(image))
    top, left = int(np.floor(y)), int(np.floor(x))
    for i in (top, top + 1):
        for j in (left, left + 1):
            if 0 <= i < height and 0 <= j < width:
                total += image[:, i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return total


def reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    x, offset, filters, mask = inputs["Input"], inputs["Offset"], inputs["Filter"], inputs.get("Mask")
    groups, parts, (sy, sx), (dy, dx) = attrs["groups"], attrs["deformable_groups"], attrs["strides"], attrs["dilations"]
    top, left = attrs["paddings"][0], attrs["paddings"][-1] if len(attrs["paddings"]) == 2 else attrs["paddings"][2]
    (height, width), (n, outs), (oh, ow) = filters.shape[2:], (len(x), len(filters)), offset.shape[2:]
    out, each, ins = np.zeros((n, outs, oh, ow)), x.shape[1] // parts, x.shape[1] // groups
    for image, o_y, o_x in np.ndindex(n, oh, ow):
        taps = np.zeros((x.shape[1], height, width))
        for part, i, j in np.ndindex(parts, height, width):
            tap = (part * height + i) * width + j
            down, right = offset[image, 2 * tap : 2 * tap + 2, o_y, o_x]
            found = sample(
                x[image, part * each : (part + 1) * each], o_y * sy - top + i * dy + down, o_x * sx - left + j * dx + right
            )
            taps[part * each : (part + 1) * each, i, j] = found * (1 if mask is None else mask[image, tap, o_y, o_x])
        for o in range(outs):
            first = o // (outs // groups) * ins
            out[image, o, o_y, o_x] = (taps[first : first + ins] * filters[o]).sum()
    return {"Output": out}


def given(n, channels, size, outs, window, out, groups=1, parts=1, masked=True, spread=1.0):
    taps = parts * window[0] * window[1]
    offset = array(n, 2 * taps, *out, seed=2) * spread
    return {
        "Input": array(n, channels, *size),
        "Offset": offset,
        "Filter": array(outs, channels // groups, *window, seed=1),
        **({"Mask": array(n, taps, *out, seed=3)} if masked else {}),
    }


GEOMETRIES = {
    "plain": (dict(n=2, channels=3, size=(4, 5), outs=4, window=(3, 3), out=(2, 3)), {}),
    "strides": (dict(n=1, channels=2, size=(6, 7), outs=3, window=(3, 2), out=(2, 2)), {"strides": [2, 3]}),
    "paddings": (dict(n=1, channels=2, size=(4, 4), outs=3, window=(3, 3), out=(4, 6)), {"paddings": [1, 2]}),
    "dilations": (dict(n=1, channels=2, size=(5, 6), outs=3, window=(2, 3), out=(3, 2)), {"dilations": [2, 2]}),
    "groups": (dict(n=2, channels=4, size=(4, 4), outs=6, window=(3, 3), out=(2, 2), groups=2), {"groups": 2}),
    "deformable groups": (
        dict(n=2, channels=4, size=(4, 4), outs=3, window=(3, 3), out=(2, 2), parts=2),
        {"deformable_groups": 2},
    ),
    "far away": (dict(n=1, channels=2, size=(4, 4), outs=2, window=(3, 3), out=(2, 2), spread=6.0), {}),
    "one element": (dict(n=1, channels=1, size=(1, 1), outs=1, window=(1, 1), out=(1, 1), spread=0.3), {}),
    "no images": (dict(n=0, channels=2, size=(4, 4), outs=2, window=(3, 3), out=(2, 2)), {}),
}


def cases(masked: bool) -> dict[str, Any]:
    return {name: (given(**sizes, masked=masked), attrs) for name, (sizes, attrs) in GEOMETRIES.items()}


def refusals(masked: bool) -> dict[str, Any]:
    plain = given(**GEOMETRIES["plain"][0], masked=masked)
    return {
        "offsets": ({**plain, "Offset": array(2, 18, 3, 3)}, {}, pm.ShapeError, "Offset [2, 18, 3, 3] [2, 18, 2, 3]"),
        "channels": ({**plain, "Filter": array(4, 2, 3, 3)}, {}, pm.ShapeError, "Filter 2 Input 3"),
        "deformable groups that do not divide": (plain, {"deformable_groups": 2}, pm.ShapeError, "3 2 deformable groups"),
        "three dimensions": ({**plain, "Input": array(3, 4, 5)}, {}, pm.ShapeError, "Input 4 dimensions"),
        "window too large": ({**plain, "Filter": array(4, 3, 5, 3)}, {}, pm.ShapeError, "spans 5 4"),
        "integers": ({**plain, "Filter": ints(4, 3, 3, 3)}, {}, pm.ShapeError, "Filter int64"),
        "stride 0": (plain, {"strides": [0, 1]}, pm.ProgramError, "strides 0"),
        **(
            {"mask": ({**plain, "Mask": array(2, 8, 2, 3)}, {}, pm.ShapeError, "Mask [2, 8, 2, 3] [2, 9, 2, 3]")}
            if masked
            else {}
        ),
    }
