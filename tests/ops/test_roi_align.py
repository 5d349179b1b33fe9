"""roi_align: the means of samples between the pixels of an image, in the bins of regions."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
import regions
from harness import array, op_tests, run_op


def pixel(plane, y, x):
    """One sample by linear interpolation, pixels farther than one outside are 0."""
    height, width = plane.shape[1:]
    if not (-1 <= y <= height and -1 <= x <= width):
        return np.zeros(len(plane))
    y, x = (min(max(at, 0), size - 1) for at, size in ((y, height), (x, width)))
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    a, b = y - top, x - left
    return (plane[:, top, left] * (1 - b) + plane[:, top, right] * b) * (1 - a) + (
        plane[:, bottom, left] * (1 - b) + plane[:, bottom, right] * b
    ) * a


def reference(inputs, attrs):
    x, rows, columns = inputs["X"], attrs["pooled_height"], attrs["pooled_width"]
    places, scale = regions.images(inputs), np.float64(np.float32(attrs["spatial_scale"]))
    out = np.zeros((len(places), x.shape[1], rows, columns))
    for n, box in enumerate(regions.boxes(inputs) * scale - 0.5 * attrs["aligned"]):
        size = (box[2:] - box[:2]) if attrs["aligned"] else np.maximum(box[2:] - box[:2], 1)
        bins = size / [columns, rows]
        counts = [attrs["sampling_ratio"] if attrs["sampling_ratio"] > 0 else max(int(np.ceil(one)), 0) for one in bins]
        for i, j, a, b in itertools.product(range(rows), range(columns), range(counts[1]), range(counts[0])):
            at = box[:2] + bins * [j + (b + 0.5) / counts[0], i + (a + 0.5) / counts[1]]
            out[n, :, i, j] += pixel(x[places[n]], at[1], at[0]) / (counts[0] * counts[1])
    return {"Out": out}


SIZE = {"pooled_height": 2, "pooled_width": 3}

test_roi_align = op_tests(
    "roi_align",
    reference,
    cases=regions.cases(
        SIZE,
        **{
            "aligned": (regions.COUNTED, {**SIZE, "aligned": True}),
            "two samples": (regions.COUNTED, {**SIZE, "sampling_ratio": 2}),
            "two samples, aligned": (regions.COUNTED, {**SIZE, "sampling_ratio": 2, "aligned": True}),
            "one bin": (regions.COUNTED, {}),
            "one pixel": ({"X": array(1, 2, 1, 1), "ROIs": regions.BOXES, "RoisNum": np.array([6], "int32")}, SIZE),
        },
    ),
    gradients=["X"],
    refusals={
        **regions.refusals(SIZE),
        "no pixels": ({**regions.COUNTED, "X": array(3, 8, 0, 7)}, SIZE, pm.ShapeError, "X [3, 8, 0, 7] no pixels"),
    },
    tolerance={"float32": 1e-5},
)


@pytest.mark.parametrize("aligned", [True, False])
def test_a_huge_region_takes_no_longer_than_the_image(aligned):
    box = np.array([[-(2.0**29), -(2.0**29), 2.0**29, 2.0**29]])
    inputs = {"X": np.ones((1, 1, 4, 4)), "ROIs": box, "RoisNum": np.array([1])}
    out = run_op("roi_align", inputs, {**SIZE, "pooled_width": 2, "aligned": aligned})["Out"]
    assert out.shape == (1, 1, 2, 2)
    assert ((out >= 0) & (out < 1e-6)).all()
    back = run_op("roi_align_grad", {**inputs, "Out@GRAD": out}, {**SIZE, "pooled_width": 2}, ["X@GRAD"])["X@GRAD"]
    assert np.isfinite(back).all()
