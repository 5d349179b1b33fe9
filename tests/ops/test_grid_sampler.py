"""grid_sampler: every pixel of Output is what X shows at a place that Grid names."""
import itertools

import numpy as np
import paddle_mini as pm
import pytest
from harness import array, op_tests, run_op


def place(coordinate, size, attrs):
    """A coordinate as a place along an axis of X."""
    last = size - 1
    if attrs["align_corners"]:
        at = (coordinate + 1) / 2 * last
        mirror, period = at, 2 * last
    else:
        at = ((coordinate + 1) * size - 1) / 2
        mirror, period = at + 0.5, 2 * size
    if attrs["padding_mode"] == "border":
        return np.clip(at, 0, last)
    if attrs["padding_mode"] == "reflection":
        if period == 0:
            return 0.0
        rest = abs(mirror) % period
        at = min(rest, period - rest) - (mirror - at)
        return np.clip(at, 0, last)
    return at


def pixel(plane, y, x):
    """0 outside of the image."""
    inside = 0 <= y < plane.shape[-2] and 0 <= x < plane.shape[-1]
    return plane[:, int(y), int(x)] if inside else np.zeros(len(plane))


def reference(inputs, attrs):
    x, grid = inputs["X"], inputs["Grid"]
    out = np.zeros((*x.shape[:2], *grid.shape[1:3]))
    for n, i, j in itertools.product(*map(range, grid.shape[:3])):
        column, row = (place(grid[n, i, j, k], x.shape[3 - k], attrs) for k in range(2))
        if attrs["mode"] == "nearest":
            out[n, :, i, j] = pixel(x[n], np.floor(row + 0.5), np.floor(column + 0.5))
            continue
        top, left = np.floor(row), np.floor(column)
        for a, b in itertools.product(range(2), range(2)):
            part = (1 - abs(row - top - a)) * (1 - abs(column - left - b))
            out[n, :, i, j] += part * pixel(x[n], top + a, left + b)
    return {"Output": out}


def sampled(*shape, grid=(4, 5), reach=2.7):
    return {"X": array(*shape), "Grid": array(shape[0], *grid, 2, low=-reach, high=reach, seed=1)}


X = sampled(2, 3, 4, 5)

test_grid_sampler = op_tests(
    "grid_sampler",
    reference,
    cases={
        **{f"{mode}, {padding}, {'corners' if corners else 'edges'}":
           (X, {"mode": mode, "padding_mode": padding, "align_corners": corners})
           for mode in ("bilinear", "nearest") for padding in ("zeros", "border", "reflection")
           for corners in (True, False)},
        "inside": (sampled(2, 2, 3, 3, reach=0.9), {}),
        "one pixel": (sampled(2, 2, 1, 1), {"align_corners": False}),
        "one pixel, mirrored": (sampled(1, 1, 1, 1), {"padding_mode": "reflection"}),
        "one element": (sampled(1, 1, 1, 1, grid=(1, 1)), {}),
        "no images": (sampled(0, 2, 3, 3), {}),
        "no channels": (sampled(2, 0, 3, 3), {}),
        "no samples": (sampled(2, 2, 3, 3, grid=(0, 2)), {}),
    },
    gradients=["X", "Grid"],
    refusals={
        "volumes": ({"X": array(1, 1, 2, 2, 2), "Grid": array(1, 2, 2, 2, 3)}, {}, pm.ShapeError, "X 4 dimensions"),
        "grid of other images": ({**X, "Grid": array(3, 2, 2, 2)}, {}, pm.ShapeError, "Grid [3, 2, 2, 2]"),
        "three coordinates": ({**X, "Grid": array(2, 2, 2, 3)}, {}, pm.ShapeError, "Grid [2, 2, 2, 3]"),
        "no pixels": (sampled(1, 1, 0, 3), {}, pm.ShapeError, "X [1, 1, 0, 3] no pixels"),
        "other mode": (X, {"mode": "bicubic"}, pm.ProgramError, "mode bicubic bilinear nearest"),
        "other padding": (X, {"padding_mode": "wrap"}, pm.ProgramError, "padding_mode wrap"),
    },
    # Places are off by a few parts in 10^7 of the image's size.
    tolerance={"float32": 1e-5},
)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("coordinate", [np.nan, np.inf, -np.inf, 1e30, -1e30])
def test_places_that_are_nowhere_do_no_harm(mode, padding, coordinate):
    inputs = {"X": np.ones((1, 1, 3, 3), "float32"), "Grid": np.full((1, 1, 1, 2), coordinate, "float32")}
    attrs = {"mode": mode, "padding_mode": padding}
    value = run_op("grid_sampler", inputs, attrs)["Output"].item()
    if padding == "zeros":
        assert value == 0
    run_op("grid_sampler_grad", {**inputs, "Output@GRAD": np.ones((1, 1, 1, 1), "float32")}, attrs,
           ["X@GRAD", "Grid@GRAD"])
