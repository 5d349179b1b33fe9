"""im2sequence: the patches of each image as a sequence of rows."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    x, sizes = inputs["X"], inputs.get("Y")
    (high, wide), (down, across), scale = attrs["kernels"], attrs["strides"], attrs["out_stride"]
    above, left, below, right = attrs["paddings"]
    rows, offsets = [], [0]
    for i, image in enumerate(x):
        height, width = image.shape[1:] if sizes is None else [int(-(-size // by)) for size, by in zip(sizes[i], scale)]
        room = np.zeros((len(image), *(2 * (n + 50) for n in image.shape[1:])))
        room[:, above : above + image.shape[1], left : left + image.shape[2]] = image
        for y in range((height + above + below - high) // down + 1):
            for z in range((width + left + right - wide) // across + 1):
                rows.append(room[:, y * down : y * down + high, z * across : z * across + wide].ravel())
        offsets.append(len(rows))
    return {"Out": pm.LoDTensor(np.array(rows).reshape(-1, x.shape[1] * high * wide), [offsets])}


X = {"X": array(2, 3, 5, 6)}
SQUARES = {"kernels": [2, 2]}
SIZES = {**X, "Y": np.array([[5, 6], [3, 4]], "float64")}

test_im2sequence = op_tests(
    "im2sequence",
    reference,
    cases={
        "plain": (X, {"kernels": [2, 3]}),
        "strides": (X, {**SQUARES, "strides": [3, 2]}),
        "paddings": (X, {"kernels": [3, 3], "paddings": [1, 0, 2, 3]}),
        "sizes": (SIZES, SQUARES),
        "scaled sizes": ({**X, "Y": np.array([[10, 11], [5, 4]], "float64")}, {**SQUARES, "out_stride": [2, 2]}),
        "sizes beyond the image": ({**X, "Y": np.array([[7, 6], [5, 9]], "float64")}, SQUARES),
        "one element": ({"X": array(1, 1, 1, 1)}, {"kernels": [1, 1]}),
        "no images": ({"X": array(0, 2, 3, 3)}, SQUARES),
    },
    gradients=["X"],
    open_shapes=True,
    refusals={
        "patch too large": (X, {"kernels": [6, 2]}, pm.ShapeError, "5 6"),
        "patch of nothing": (X, {"kernels": [0, 2]}, pm.ProgramError, "kernels 0"),
        "one size": (X, {"kernels": [2]}, pm.ProgramError, "kernels 1 numbers"),
        "two paddings": (X, {**SQUARES, "paddings": [1, 1]}, pm.ProgramError, "paddings 2 numbers"),
        "stride 0": (X, {**SQUARES, "strides": [0, 1]}, pm.ProgramError, "strides 0"),
        "a size of 0": ({**X, "Y": np.array([[5, 6], [0, 4]], "float64")}, SQUARES, pm.ShapeError, "Y image 1 0"),
        "sizes of one image": ({**X, "Y": np.ones((1, 2))}, SQUARES, pm.ShapeError, "Y [1, 2] [2, 2]"),
        "sizes of another type": ({**X, "Y": np.ones((2, 2), "float32")}, SQUARES, pm.ShapeError, "Y float32 float64"),
        "three axes": ({"X": array(3, 5, 6)}, SQUARES, pm.ShapeError, "X 3 4"),
    },
)
