"""pool3d: the largest, or the mean, of every window of a volume."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op


def ranges(size, window, stride, before, after, attrs):
    """For each output: first and last input, and number of positions including the padding."""
    if attrs["global_pooling"]:
        return [(0, size, size)]
    if attrs["adaptive"]:
        bounds = [(o * size // window, -(-(o + 1) * size // window)) for o in range(window)]
        return [(begin, end, end - begin) for begin, end in bounds]
    if attrs["padding_algorithm"] == "VALID":
        before = after = 0
    if attrs["padding_algorithm"] == "SAME":
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        before, after = total // 2, total - total // 2
    room = size + before + after - window
    count = (-(-room // stride) if attrs["ceil_mode"] else room // stride) + 1
    firsts = [o * stride - before for o in range(count)]
    # The padding at the end counts with the width of that at the beginning.
    lasts = [min(first + window, size + before) for first in firsts]
    return [(max(first, 0), min(last, size), last - first) for first, last in zip(firsts, lasts)]


def reference(inputs, attrs):
    last = attrs["data_format"] == "NDHWC"
    x = np.moveaxis(inputs["X"], -1, 1) if last else inputs["X"]
    pads = attrs["paddings"] if len(attrs["paddings"]) == 6 else [p for p in attrs["paddings"] for _ in range(2)]
    axes = [ranges(*size, attrs) for size in zip(x.shape[2:], attrs["ksize"], attrs["strides"], pads[::2], pads[1::2])]
    out = np.zeros((*x.shape[:2], *map(len, axes)))
    for place in itertools.product(*map(range, out.shape[2:])):
        windows = [axis[i] for axis, i in zip(axes, place)]
        part = x[(slice(None), slice(None), *[slice(begin, end) for begin, end, _ in windows])]
        inside, padded = np.prod(part.shape[2:]), np.prod([window[2] for window in windows])
        if attrs["pooling_type"] == "max":
            value = part.max(axis=(2, 3, 4))
        else:
            value = part.sum(axis=(2, 3, 4)) / (inside if attrs["exclusive"] else padded)
        out[(slice(None), slice(None), *place)] = value
    return {"Out": np.moveaxis(out, 1, -1) if last else out}


def pool(kind, *ksize, **more):
    return {"pooling_type": kind, "ksize": list(ksize), **more}


GEOMETRIES = {
    "two by two by two": dict(ksize=[2, 2, 2], strides=[2, 2, 2]),
    "overlapping": dict(ksize=[2, 3, 1]),
    "paddings": dict(ksize=[3, 2, 3], strides=[2, 2, 1], paddings=[1, 1, 1]),
    "six paddings": dict(ksize=[3, 2, 3], strides=[2, 1, 2], paddings=[1, 0, 1, 0, 2, 1]),
    "ceil": dict(ksize=[3, 2, 2], strides=[2, 2, 2], paddings=[1, 0, 1], ceil_mode=True),
    "same": dict(ksize=[3, 2, 2], strides=[2, 1, 2], padding_algorithm="SAME"),
    "valid": dict(ksize=[3, 2, 2], paddings=[1, 1, 1], padding_algorithm="VALID"),
    "global": dict(ksize=[2, 2, 2], paddings=[1, 1, 1], global_pooling=True),
    "adaptive": dict(ksize=[2, 3, 4], adaptive=True),
    "channels last": dict(ksize=[2, 2, 3], strides=[1, 2, 1], data_format="NDHWC"),
}
X = {"X": array(2, 3, 4, 5, 6)}

test_pool3d = op_tests(
    "pool3d",
    reference,
    cases={
        **{f"largest, {name}": (X, {"pooling_type": "max", **more}) for name, more in GEOMETRIES.items()},
        **{f"mean, {name}": (X, {"pooling_type": "avg", **more}) for name, more in GEOMETRIES.items()},
        **{
            f"mean with padding, {name}": (X, {"pooling_type": "avg", "exclusive": False, **more})
            for name, more in GEOMETRIES.items()
        },
        "one element": ({"X": array(1, 1, 1, 1, 1)}, pool("max", 1, 1, 1)),
        "no images": ({"X": array(0, 3, 2, 4, 4)}, pool("avg", 2, 2, 2)),
        "no channels": ({"X": array(2, 0, 2, 4, 4)}, pool("max", 2, 2, 2)),
    },
    gradients=["X"],
    refusals={
        "no kind": (X, {"ksize": [2, 2, 2]}, pm.ProgramError, "pooling_type missing"),
        "unknown kind": (X, pool("sum", 2, 2, 2), pm.ProgramError, "pooling_type sum max avg"),
        "window too large": (X, pool("max", 5, 2, 2), pm.ShapeError, "spans 5 fit into 4"),
        "window of nothing": (X, pool("max", 0, 2, 2), pm.ProgramError, "ksize 0"),
        "two sizes": (X, pool("max", 2, 2), pm.ProgramError, "ksize 2 numbers"),
        "stride 0": (X, pool("max", 2, 2, 2, strides=[0, 1, 1]), pm.ProgramError, "strides 0"),
        "no rows": ({"X": array(2, 3, 2, 0, 4)}, pool("max", 1, 1, 1), pm.ShapeError, "X [2, 3, 2, 0, 4] elements"),
        "four axes": ({"X": array(3, 4, 4, 4)}, pool("max", 2, 2, 2), pm.ShapeError, "X 5 dimensions"),
        "other format": (X, pool("max", 2, 2, 2, data_format="NHWC"), pm.ProgramError, "NHWC NCDHW"),
    },
)


def test_the_first_of_equal_elements_gets_the_gradient():
    x = np.ones((1, 1, 1, 2, 4), "float32")
    inputs = {"X": x, "Out": x[..., :1, ::2], "Out@GRAD": np.array([[[[[2, 3]]]]], "float32")}
    found = run_op("pool3d_grad", inputs, pool("max", 1, 2, 2, strides=[1, 2, 2]))["X@GRAD"]
    np.testing.assert_array_equal(found, [[[[[2, 0, 3, 0], [0, 0, 0, 0]]]]])


@pytest.mark.parametrize("where", range(8))
def test_nan_is_the_largest(where):
    x = np.zeros((1, 1, 2, 2, 2))
    x.flat[where] = np.nan
    assert np.isnan(run_op("pool3d", {"X": x}, pool("max", 2, 2, 2))["Out"]).all()
