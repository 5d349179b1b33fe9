"""max_pool2d_with_index: the largest of every window of an image, and its position in the image."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op


def ranges(size, window, stride, padding, attrs):
    if attrs["global_pooling"]:
        return [(0, size)]
    if attrs["adaptive"]:
        return [(o * size // window, -(-(o + 1) * size // window)) for o in range(window)]
    firsts = [o * stride - padding for o in range((size + 2 * padding - window) // stride + 1)]
    return [(min(max(first, 0), size), max(min(first + window, size), 0)) for first in firsts]


def reference(inputs, attrs):
    x = inputs["X"]
    axes = [ranges(*size, attrs) for size in zip(x.shape[2:], attrs["ksize"], attrs["strides"], attrs["paddings"])]
    shape = (*x.shape[:2], *map(len, axes))
    out, mask = np.zeros(shape), np.zeros(shape, "int32")
    places = np.arange(np.prod(x.shape[2:], dtype=int)).reshape(x.shape[2:])
    for n, c, *place in itertools.product(*map(range, shape)):
        window = tuple(slice(*axis[i]) for axis, i in zip(axes, place))
        part = x[(n, c, *window)]
        if part.size:
            at = np.unravel_index(part.argmax(), part.shape)
            out[(n, c, *place)], mask[(n, c, *place)] = part[at], places[window][at]
        else:
            out[(n, c, *place)], mask[(n, c, *place)] = -np.inf, -1
    return {"Out": out, "Mask": mask}


X = {"X": array(2, 3, 5, 6)}
VOLUMES = {"X": array(2, 2, 3, 4, 5)}

REFUSALS = {
    "no size": (X, {}, pm.ProgramError, "ksize missing"),
    "window too large": (X, {"ksize": [6, 2]}, pm.ShapeError, "spans 6 fit into 5"),
    "window of nothing": (X, {"ksize": [2, 0]}, pm.ProgramError, "ksize 0"),
    "three sizes": (X, {"ksize": [2, 2, 2]}, pm.ProgramError, "ksize 3 numbers"),
    "four paddings": (X, {"ksize": [2, 2], "paddings": [1, 1, 1, 1]}, pm.ProgramError, "paddings 4 numbers"),
    "stride 0": (X, {"ksize": [2, 2], "strides": [1, 0]}, pm.ProgramError, "strides 0"),
    "no rows": ({"X": array(2, 3, 0, 4)}, {"ksize": [1, 1]}, pm.ShapeError, "X [2, 3, 0, 4] elements"),
    "three axes": ({"X": array(3, 4, 4)}, {"ksize": [2, 2]}, pm.ShapeError, "X 4 dimensions"),
}

test_max_pool2d_with_index = op_tests(
    "max_pool2d_with_index",
    reference,
    cases={
        "two by two": (X, {"ksize": [2, 2], "strides": [2, 2]}),
        "overlapping": (X, {"ksize": [3, 2]}),
        "paddings": (X, {"ksize": [3, 3], "strides": [2, 2], "paddings": [1, 1]}),
        "global": (X, {"ksize": [2, 2], "global_pooling": True}),
        "adaptive": (X, {"ksize": [3, 4], "adaptive": True}),
        "one element": ({"X": array(1, 1, 1, 1)}, {"ksize": [1, 1]}),
        "no images": ({"X": array(0, 3, 4, 4)}, {"ksize": [2, 2]}),
        "no channels": ({"X": array(2, 0, 4, 4)}, {"ksize": [2, 2]}),
    },
    gradients=["X"],
    refusals=REFUSALS,
)

test_max_pool3d_with_index = op_tests(
    "max_pool3d_with_index",
    reference,
    cases={
        "two by two by two": (VOLUMES, {"ksize": [2, 2, 2], "strides": [1, 2, 2]}),
        "paddings": (VOLUMES, {"ksize": [2, 3, 3], "strides": [2, 2, 2], "paddings": [1, 1, 0]}),
        "global": (VOLUMES, {"ksize": [2, 2, 2], "global_pooling": True}),
        "adaptive": (VOLUMES, {"ksize": [2, 3, 4], "adaptive": True}),
        "one element": ({"X": array(1, 1, 1, 1, 1)}, {"ksize": [1, 1, 1]}),
        "no images": ({"X": array(0, 2, 2, 4, 4)}, {"ksize": [2, 2, 2]}),
    },
    gradients=["X"],
    refusals={
        "two sizes": (VOLUMES, {"ksize": [2, 2]}, pm.ProgramError, "ksize 2 numbers"),
        "four axes": (X, {"ksize": [2, 2, 2]}, pm.ShapeError, "X 5 dimensions"),
    },
)


def test_the_first_of_equal_elements_is_named():
    found = run_op("max_pool2d_with_index", {"X": np.ones((1, 1, 2, 4))}, {"ksize": [2, 2], "strides": [2, 2]})
    np.testing.assert_array_equal(found["Mask"], [[[[0, 2]]]])


def test_a_window_of_padding_names_no_element():
    found = run_op("max_pool2d_with_index", {"X": np.ones((1, 1, 1, 1))}, {"ksize": [1, 1], "paddings": [1, 1]})
    np.testing.assert_array_equal(found["Mask"], [[[[-1] * 3, [-1, 0, -1], [-1] * 3]]])
    assert found["Out"][0, 0, 0, 0] == np.finfo("float64").min


@pytest.mark.parametrize("where", range(4))
def test_nan_is_the_largest(where):
    x = np.zeros((1, 1, 2, 2))
    x.flat[where] = np.nan
    found = run_op("max_pool2d_with_index", {"X": x}, {"ksize": [2, 2]})
    assert np.isnan(found["Out"]).all() and found["Mask"].item() == where


@pytest.mark.parametrize("place", [-2, 4])
def test_the_gradient_refuses_a_mask_beyond_the_plane(place):
    inputs = {"X": np.ones((1, 1, 2, 2)), "Mask": np.full((1, 1, 1, 1), place, "int32"), "Out@GRAD": np.ones((1, 1, 1, 1))}
    with pytest.raises(pm.OpError, match="Mask"):
        run_op("max_pool2d_with_index_grad", inputs, {"ksize": [2, 2]})
