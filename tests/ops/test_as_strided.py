"""as_strided: a copy of a view with another shape and other strides."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op
from sequence_cases import dropped, lod_tensor


def strided(x, attrs, size):
    """x has `size` bytes for each element where the attributes are meant."""
    at = np.full(attrs["dims"], attrs["offset"] // size, "int64")
    for places, stride in zip(np.indices(attrs["dims"]), attrs["stride"]):
        at += places * stride
    return {"out": x.reshape(-1)[at]}


# The offset is in bytes, so that cases with an offset have one type.
test_as_strided = op_tests(
    "as_strided",
    dropped(lambda inputs, attrs: strided(inputs["input"], attrs, 8)),
    cases={
        "transposed": ({"input": array(3, 4)}, {"dims": [4, 3], "stride": [1, 4]}),
        "each other column": ({"input": array(3, 4)}, {"dims": [3, 2], "stride": [4, 2]}),
        "overlapping": ({"input": array(9)}, {"dims": [4, 3], "stride": [2, 1]}),
        "broadcast": ({"input": array(3)}, {"dims": [2, 3], "stride": [0, 1]}),
        "one element": ({"input": array(1)}, {"dims": [1], "stride": [1]}),
        "a number": ({"input": array(3)}, {"dims": [], "stride": []}),
        "nothing": ({"input": array(3)}, {"dims": [0, 2], "stride": [1, 9]}),
        "of nothing": ({"input": array(0)}, {"dims": [0], "stride": [1]}),
    },
    gradients=["input"],
    values_only={
        "sequences": ({"input": lod_tensor(array(3, 2), [1, 2])}, {"dims": [3], "stride": [2], "offset": 0}),
        "offset": ({"input": np.arange(12).reshape(3, 4)}, {"dims": [2, 2], "stride": [4, 1], "offset": 40}),
        "backwards": ({"input": np.arange(5)}, {"dims": [5], "stride": [-1], "offset": 32}),
    },
    refusals={
        "too long": ({"input": array(3)}, {"dims": [4], "stride": [1]}, pm.ShapeError, "from 0 to 3 3 elements"),
        "before the first": ({"input": array(3)}, {"dims": [2], "stride": [-1]}, pm.ShapeError, "from -1"),
        "too far": ({"input": array(3)}, {"dims": [2**40, 2**40], "stride": [2**40, 1]}, pm.Error, "elements"),
        "fewer strides": ({"input": array(3)}, {"dims": [2, 1], "stride": [1]}, pm.ProgramError, "'dims' 2 'stride' 1"),
        "negative size": ({"input": array(3)}, {"dims": [-1], "stride": [1]}, pm.ProgramError, "'dims' -1"),
        "half an element": ({"input": array(3)}, {"dims": [1], "stride": [1], "offset": 2}, pm.ProgramError, "'offset' 2"),
        "negative offset": ({"input": array(3)}, {"dims": [1], "stride": [1], "offset": -8}, pm.ProgramError, "'offset' -8"),
    },
)


def test_offset_of_narrow_elements():
    x = np.arange(6, dtype="float32")
    out = run_op("as_strided", {"input": x}, {"dims": [2], "stride": [2], "offset": 4}, ["out"])["out"]
    np.testing.assert_array_equal(out, [1, 3])
