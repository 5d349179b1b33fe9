"""grid_sampler: every pixel of Output is the value of X at a position given by Grid."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op


def place(coordinate, size, attrs):
    """A coordinate as a position along an axis of X."""
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


def pixel(image, places):
    """0 outside of the image."""
    inside = all(0 <= at < size for at, size in zip(places, image.shape[1:]))
    return image[(slice(None), *map(int, places))] if inside else np.zeros(len(image))


def reference(inputs, attrs):
    x, grid = inputs["X"], inputs["Grid"]
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    axes = x.ndim - 2
    for n, *at in itertools.product(*map(range, grid.shape[:-1])):
        places = np.array([place(grid[(n, *at, axes - 1 - k)], x.shape[2 + k], attrs) for k in range(axes)])
        if attrs["mode"] == "nearest":
            inside = axes == 2 or all(0 <= one <= size - 1 for one, size in zip(places, x.shape[2:]))
            out[(n, slice(None), *at)] = (
                pixel(x[n], np.floor(places + 0.5)) if inside else 0
            )  # half a pixel around volumes is outside
            continue
        first = np.floor(places)
        for corner in itertools.product(range(2), repeat=axes):
            out[(n, slice(None), *at)] += np.prod(1 - abs(places - first - corner)) * pixel(x[n], first + corner)
    return {"Output": out}


def sampled(*shape, grid=(4, 5), reach=2.7):
    return {"X": array(*shape), "Grid": array(shape[0], *grid, len(shape) - 2, low=-reach, high=reach, seed=1)}


X = sampled(2, 3, 4, 5)
VOLUMES = sampled(2, 3, 3, 4, 5, grid=(2, 3, 2))

test_grid_sampler = op_tests(
    "grid_sampler",
    reference,
    cases={
        **{
            f"{mode}, {padding}, {'corners' if corners else 'edges'}": (
                X,
                {"mode": mode, "padding_mode": padding, "align_corners": corners},
            )
            for mode in ("bilinear", "nearest")
            for padding in ("zeros", "border", "reflection")
            for corners in (True, False)
        },
        **{
            f"volumes, {mode}, {padding}, {'corners' if corners else 'edges'}": (
                VOLUMES,
                {"mode": mode, "padding_mode": padding, "align_corners": corners},
            )
            for mode in ("bilinear", "nearest")
            for padding in ("zeros", "border", "reflection")
            for corners in (True, False)
        },
        "one voxel": (sampled(1, 2, 1, 1, 1, grid=(1, 2, 2)), {"align_corners": False}),
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
        "three dimensions": ({"X": array(1, 2, 2), "Grid": array(1, 2, 1)}, {}, pm.ShapeError, "X 3 4 5"),
        "a plane of places in volumes": ({"X": array(1, 1, 2, 2, 2), "Grid": array(1, 2, 2, 3)}, {}, pm.ShapeError, "Grid 4 5"),
        "grid of other images": ({**X, "Grid": array(3, 2, 2, 2)}, {}, pm.ShapeError, "Grid [3, 2, 2, 2]"),
        "three coordinates": ({**X, "Grid": array(2, 2, 2, 3)}, {}, pm.ShapeError, "Grid [2, 2, 2, 3]"),
        "no pixels": (sampled(1, 1, 0, 3), {}, pm.ShapeError, "X [1, 1, 0, 3] no pixels"),
        "other mode": (X, {"mode": "bicubic"}, pm.ProgramError, "mode bicubic bilinear nearest"),
        "other padding": (X, {"padding_mode": "wrap"}, pm.ProgramError, "padding_mode wrap"),
    },
    # Positions are off by a few parts in 10^7 of the image's size.
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
    run_op("grid_sampler_grad", {**inputs, "Output@GRAD": np.ones((1, 1, 1, 1), "float32")}, attrs, ["X@GRAD", "Grid@GRAD"])
