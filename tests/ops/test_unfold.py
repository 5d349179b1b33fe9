"""unfold: the patches of an image as columns of a matrix; fold: the image that is the sum of its patches."""

import numpy as np

import paddle_mini as pm
from harness import array, complex_array, op_tests


def patches(height, width, attrs):
    """For each pixel of a patch, the rows and columns of the padded image that are this pixel of some patch."""
    above, left, below, right = attrs["paddings"]
    counts = [
        (size - dilation * (window - 1) - 1) // stride + 1
        for size, window, stride, dilation in zip(
            (height + above + below, width + left + right), attrs["kernel_sizes"], attrs["strides"], attrs["dilations"]
        )
    ]
    for place in np.ndindex(*attrs["kernel_sizes"]):
        yield tuple(
            slice(p * dilation, p * dilation + stride * (count - 1) + 1, stride)
            for p, dilation, stride, count in zip(place, attrs["dilations"], attrs["strides"], counts)
        )


def unfold(inputs, attrs):
    x = inputs["X"]
    above, left, below, right = attrs["paddings"]
    padded = np.pad(x, ((0, 0), (0, 0), (above, below), (left, right)))
    columns = np.stack([padded[(..., *where)] for where in patches(*x.shape[2:], attrs)], 2)
    return {"Y": columns.reshape(len(x), x.shape[1] * columns.shape[2], columns.shape[3] * columns.shape[4])}


def fold(inputs, attrs):
    x, (height, width) = inputs["X"], attrs["output_sizes"]
    above, left, below, right = attrs["paddings"]
    taps = np.prod(attrs["kernel_sizes"])
    image = np.zeros((len(x), x.shape[1] // taps, height + above + below, width + left + right), x.dtype)
    parts = x.reshape(len(x), x.shape[1] // taps, taps, x.shape[2])
    for tap, where in enumerate(patches(height, width, attrs)):
        target = image[(..., *where)]
        target += parts[:, :, tap].reshape(target.shape)
    return {"Y": image[:, :, above : above + height, left : left + width]}


X = {"X": array(2, 3, 5, 6)}

test_unfold = op_tests(
    "unfold",
    unfold,
    cases={
        "plain": (X, {"kernel_sizes": [2, 3]}),
        "strides": (X, {"kernel_sizes": [2, 2], "strides": [3, 2]}),
        "paddings": (X, {"kernel_sizes": [3, 3], "paddings": [1, 0, 2, 3]}),
        "dilations": (X, {"kernel_sizes": [3, 2], "dilations": [2, 3]}),
        "everything": (X, {"kernel_sizes": [3, 2], "dilations": [1, 2], "strides": [2, 1], "paddings": [1, 2, 1, 2]}),
        "one element": ({"X": array(1, 1, 1, 1)}, {"kernel_sizes": [1, 1]}),
        "no images": ({"X": array(0, 2, 3, 3)}, {"kernel_sizes": [2, 2]}),
    },
    gradients=["X"],
    refusals={
        "patch too large": (X, {"kernel_sizes": [6, 2]}, pm.ShapeError, "spans 6 fit into 5"),
        "patch of nothing": (X, {"kernel_sizes": [0, 2]}, pm.ProgramError, "kernel_sizes 0"),
        "one size": (X, {"kernel_sizes": [2]}, pm.ProgramError, "kernel_sizes 1 numbers"),
        "two paddings": (X, {"kernel_sizes": [2, 2], "paddings": [1, 1]}, pm.ProgramError, "paddings 2 numbers"),
        "negative padding": (X, {"kernel_sizes": [2, 2], "paddings": [1, 1, -1, 1]}, pm.ProgramError, "paddings -1"),
        "stride 0": (X, {"kernel_sizes": [2, 2], "strides": [0, 1]}, pm.ProgramError, "strides 0"),
        "three axes": ({"X": array(3, 5, 6)}, {"kernel_sizes": [2, 2]}, pm.ShapeError, "X 4 dimensions"),
    },
)

test_fold = op_tests(
    "fold",
    fold,
    cases={
        "plain": ({"X": array(2, 12, 12)}, {"output_sizes": [4, 5], "kernel_sizes": [2, 2]}),
        "strides": ({"X": array(2, 6, 4)}, {"output_sizes": [4, 5], "kernel_sizes": [2, 3], "strides": [2, 2]}),
        "paddings": ({"X": array(1, 9, 12)}, {"output_sizes": [3, 4], "kernel_sizes": [3, 3], "paddings": [1] * 4}),
        "dilations": ({"X": array(1, 8, 6)}, {"output_sizes": [4, 5], "kernel_sizes": [2, 2], "dilations": [2, 2]}),
        "one element": ({"X": array(1, 1, 1)}, {"output_sizes": [1, 1], "kernel_sizes": [1, 1]}),
        "no images": ({"X": array(0, 4, 4)}, {"output_sizes": [3, 3], "kernel_sizes": [2, 2]}),
        "complex": ({"X": complex_array(1, 8, 6)}, {"output_sizes": [4, 5], "kernel_sizes": [2, 2], "dilations": [2, 2]}),
    },
    gradients=["X"],
    refusals={
        "other patches": (
            {"X": array(2, 12, 11)},
            {"output_sizes": [4, 5], "kernel_sizes": [2, 2]},
            pm.ShapeError,
            "X 11 patches 12",
        ),
        "part of a channel": (
            {"X": array(2, 10, 12)},
            {"output_sizes": [4, 5], "kernel_sizes": [2, 2]},
            pm.ShapeError,
            "X 10 rows 4",
        ),
        "no pixels": (
            {"X": array(2, 12, 12)},
            {"output_sizes": [0, 5], "kernel_sizes": [2, 2]},
            pm.ProgramError,
            "output_sizes 0",
        ),
        "four axes": (
            {"X": array(1, 2, 12, 12)},
            {"output_sizes": [4, 5], "kernel_sizes": [2, 2]},
            pm.ShapeError,
            "X 3 dimensions",
        ),
    },
)
