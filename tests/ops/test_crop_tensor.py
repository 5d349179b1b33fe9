"""crop_tensor, crop: Out = the block of X that begins at `offsets`."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    offsets = attrs["offsets"] or [0] * x.ndim
    shape = inputs["Y"].shape if "Y" in inputs else attrs["shape"]
    ends = [size if count == -1 else offset + count for offset, count, size in zip(offsets, shape, x.shape)]
    return {"Out": np.asarray(x[tuple(slice(offset, end) for offset, end in zip(offsets, ends))])}


X = {"X": array(3, 4, 5)}
REFUSALS = {
    "too long": (X, {"shape": [2, 3, 3], "offsets": [0, 2, 0]}, pm.ShapeError, "[3, 4, 5] no 3 elements axis 1"),
    "negative offset": (X, {"shape": [1, 1, 1], "offsets": [0, -1, 0]}, pm.ProgramError, "offsets -1"),
    "two offsets": (X, {"shape": [1, 1, 1], "offsets": [0, 1]}, pm.ProgramError, "offsets 2 numbers"),
    "two sizes": (X, {"shape": [1, 1]}, pm.ProgramError, "2 dimensions X [3, 4, 5]"),
    "no elements": (X, {"shape": [1, 0, 1]}, pm.ProgramError, "shape 0"),
}

test_crop_tensor = op_tests(
    "crop_tensor",
    reference,
    cases={
        "block": (X, {"shape": [2, 2, 3], "offsets": [1, 0, 2]}),
        "no offsets": (X, {"shape": [2, 2, 3]}),
        "all that is left": (X, {"shape": [-1, 2, -1], "offsets": [1, 0, 2]}),
        "nothing is left": (X, {"shape": [-1, 2, -1], "offsets": [3, 0, 2]}),
        "everything": (X, {"shape": [3, 4, 5], "offsets": [0, 0, 0]}),
        "one element": ({"X": array(1)}, {"shape": [1]}),
        "rank 0": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {"shape": [-1, 2]}),
    },
    gradients=["X"],
    refusals={
        **REFUSALS,
        "offset behind X": (X, {"shape": [-1, 1, 1], "offsets": [4, 0, 0]}, pm.ShapeError, "offset 4 axis 0"),
        "other negative size": (X, {"shape": [-2, 1, 1]}, pm.ProgramError, "shape -2"),
    },
)

test_crop = op_tests(
    "crop",
    reference,
    cases={
        "block": (X, {"shape": [2, 2, 3], "offsets": [1, 0, 2]}),
        "shape of a tensor": ({**X, "Y": array(2, 1, 4)}, {"offsets": [1, 3, 0]}),
        "a tensor of no rows": ({**X, "Y": array(0, 1, 4)}, {"offsets": [1, 3, 0]}),
        "one element": ({"X": array(1)}, {"shape": [1]}),
        "no rows": ({"X": array(0, 4), "Y": array(0, 2)}, {}),
    },
    gradients=["X"],
    refusals={**REFUSALS, "all that is left": (X, {"shape": [-1, 1, 1]}, pm.ProgramError, "shape -1")},
)


def test_whole_numbers_are_cropped_too():
    found = run_op("crop_tensor", {"X": np.arange(12).reshape(3, 4)}, {"shape": [2, -1], "offsets": [1, 2]})["Out"]
    np.testing.assert_array_equal(found, [[6, 7], [10, 11]])
