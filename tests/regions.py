"""Regions of images, for the tests of roi_align, roi_pool and psroi_pool."""

import numpy as np

import paddle_mini as pm
from harness import array

# Inside, across the edges, outside, smaller than a pixel, and ending before it begins.
BOXES = np.array(
    [
        [1.3, 0.6, 8.2, 6.9],
        [-3.1, 2.2, 4.7, 14.3],
        [30.2, 30.4, 40.1, 44.3],
        [2.1, 3.3, 2.4, 3.4],
        [9.2, 7.1, 3.3, 2.4],
        [0.2, 0.1, 15.6, 12.7],
    ]
)
X = array(3, 8, 6, 7, low=-2, high=2)
COUNTED = {"X": X, "ROIs": BOXES, "RoisNum": np.array([2, 0, 4], "int32")}
SEQUENCES = {"X": X, "ROIs": pm.LoDTensor(BOXES, [[0, 2, 2, 6]])}


def cases(attrs, **more):
    """Both ways to say which image a region is in, with other scales and sizes."""
    return {
        "counted": (COUNTED, attrs),
        "counted by int64": ({**COUNTED, "RoisNum": COUNTED["RoisNum"].astype("int64")}, attrs),
        "sequences": (SEQUENCES, attrs),
        "half the size": (COUNTED, {**attrs, "spatial_scale": 0.5}),
        "no regions": ({"X": X, "ROIs": BOXES[:0], "RoisNum": np.zeros(3, "int32")}, attrs),
        **more,
    }


def refusals(attrs):
    """The inputs that all three refuse."""
    with_box = lambda value: {**COUNTED, "ROIs": np.where(np.arange(24).reshape(6, 4) == 9, value, BOXES)}
    with_counts = lambda *counts: {**COUNTED, "RoisNum": np.array(counts, "int32")}
    return {
        "counts too large": (with_counts(2, 0, 5), attrs, pm.OpError, "RoisNum 5 image 2 4 rows left"),
        "a negative count": (with_counts(2, -1, 5), attrs, pm.OpError, "RoisNum -1 image 1"),
        "counts too small": (with_counts(2, 0, 3), attrs, pm.OpError, "RoisNum 5 6 rows"),
        "a count that overflows": (with_counts(2**31 - 1, 0, 4), attrs, pm.OpError, "RoisNum 2147483647 image 0"),
        "other images": (with_counts(2, 4), attrs, pm.ShapeError, "RoisNum 2 images, X has 3"),
        "floats as counts": ({**COUNTED, "RoisNum": np.ones(3)}, attrs, pm.ShapeError, "RoisNum float64"),
        "other sequences": ({**SEQUENCES, "X": X[:2]}, attrs, pm.ShapeError, "ROIs 3 images, X has 2"),
        "neither": ({"X": X, "ROIs": BOXES}, attrs, pm.ShapeError, "ROIs no sequences"),
        "levels": ({"X": X, "ROIs": pm.LoDTensor(BOXES, [[0, 1, 3], [0, 2, 2, 6]])}, attrs, pm.ShapeError, "ROIs 2 levels"),
        "five numbers": ({**COUNTED, "ROIs": array(6, 5)}, attrs, pm.ShapeError, "ROIs [6, 5]"),
        "not images": ({**COUNTED, "X": array(3, 8, 6)}, attrs, pm.ShapeError, "X 3 4"),
        "NaN": (with_box(np.nan), attrs, pm.OpError, "ROIs nan row 2"),
        "infinity": (with_box(np.inf), attrs, pm.OpError, "ROIs inf row 2"),
        "too large": (with_box(1e10), attrs, pm.OpError, "ROIs 1e+10 row 2"),
        "no scale": (COUNTED, {**attrs, "spatial_scale": 0.0}, pm.ProgramError, "'spatial_scale' 0 positive"),
        "no rows": (COUNTED, {**attrs, "pooled_height": 0}, pm.ProgramError, "'pooled_height' 0"),
    }


def images(inputs):
    """The image of each region."""
    if "RoisNum" in inputs:
        return np.repeat(np.arange(len(inputs["RoisNum"])), inputs["RoisNum"])
    return np.repeat(np.arange(len(inputs["ROIs"].lod[0]) - 1), np.diff(inputs["ROIs"].lod[0]))


def boxes(inputs):
    return getattr(inputs["ROIs"], "array", inputs["ROIs"])


def halves_up(x):
    """Rounds halves away from zero, as C does."""
    return np.sign(x) * np.floor(np.abs(x) + 0.5)
