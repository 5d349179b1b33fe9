"""roi_pool: the largest pixels in the bins of regions."""

import numpy as np
import pytest

import paddle_mini as pm
import regions
from harness import array, ints, op_tests, run_op


def ranges(begin, end, size, bins):
    """First and last pixel of each bin; sizes of bins are float32."""
    begin, end = regions.halves_up(np.array([begin, end]))
    step = np.float32(max(end - begin + 1, 1)) / np.float32(bins)
    number = np.arange(bins + 1, dtype="float32")
    first, last = np.floor(number * step)[:-1] + begin, np.ceil(number * step)[1:] + begin
    return np.clip(np.stack([first, last], 1), 0, size).astype(int)


def reference(inputs, attrs):
    x, rows, columns = inputs["X"], attrs["pooled_height"], attrs["pooled_width"]
    places, scale = regions.images(inputs), np.float32(attrs["spatial_scale"])
    out = np.zeros((len(places), x.shape[1], rows, columns), x.dtype)
    positions = np.full(out.shape, -1)
    pixels = np.arange(x.shape[2] * x.shape[3]).reshape(x.shape[2:])
    for n, (left, top, right, bottom) in enumerate(regions.boxes(inputs) * np.float64(scale)):
        for i, (y, y_end) in enumerate(ranges(top, bottom, x.shape[2], rows)):
            for j, (at, end) in enumerate(ranges(left, right, x.shape[3], columns)):
                part = x[places[n], :, y:y_end, at:end].reshape(x.shape[1], -1)
                if part.size:
                    best = part.argmax(1)
                    out[n, :, i, j] = part[np.arange(len(part)), best]
                    positions[n, :, i, j] = pixels[y:y_end, at:end].reshape(-1)[best]
    return {"Out": out, "Argmax": positions}


SIZE = {"pooled_height": 2, "pooled_width": 3}
WHOLE = {**regions.COUNTED, "X": ints(3, 8, 6, 7, low=-9, high=9, dtype="int32"), "ROIs": np.int32(regions.BOXES)}

test_roi_pool = op_tests(
    "roi_pool",
    reference,
    cases=regions.cases(SIZE, **{"one bin": (regions.COUNTED, {})}),
    values_only={"int32": (WHOLE, SIZE)},
    gradients=["X"],
    gradient_of=["Out"],
    refusals={
        **regions.refusals(SIZE),
        "boxes of another type": ({**regions.COUNTED, "ROIs": np.int32(regions.BOXES)}, SIZE, pm.ShapeError, "ROIs int32"),
    },
)


def test_nan_is_passed_over():
    x = np.array([np.nan, 3, np.nan, np.nan], "float32").reshape(1, 1, 2, 2)
    inputs = {"X": x, "ROIs": np.array([[0, 0, 1, 1]], "float32"), "RoisNum": np.array([1], "int32")}
    found = run_op("roi_pool", inputs, {"pooled_height": 2}, ["Out", "Argmax"])
    assert found["Out"].reshape(-1).tolist() == [3, np.finfo("float32").min]
    assert found["Argmax"].reshape(-1).tolist() == [1, -1]


@pytest.mark.parametrize("position", [-2, 4, 2**62])
def test_the_gradient_refuses_positions_outside(position):
    inputs = {"X": array(1, 1, 2, 2), "ROIs": array(1, 4), "RoisNum": np.array([1]), "Out@GRAD": np.ones((1, 1, 1, 1))}
    with pytest.raises(pm.OpError, match=rf"Argmax has {position} at element 0, a plane of X has 4 pixels"):
        run_op("roi_pool_grad", {**inputs, "Argmax": np.full((1, 1, 1, 1), position)}, {}, ["X@GRAD"])
