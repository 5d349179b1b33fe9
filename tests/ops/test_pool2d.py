"""pool2d: the largest, or the mean, of every window of an image."""

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
    found = []
    for o in range(count):
        first = o * stride - before
        last = min(first + window, size + before)  # the padding at the end counts with the width of that at the beginning
        found.append((max(first, 0), min(last, size), max(last - first, 1)))
    return found


def reference(inputs, attrs):
    x = inputs["X"]
    pads = attrs["paddings"] if len(attrs["paddings"]) == 4 else [p for p in attrs["paddings"] for _ in range(2)]
    sizes = zip(x.shape[2:], attrs["ksize"], attrs["strides"], pads[::2], pads[1::2])
    rows, columns = (ranges(*size, attrs) for size in sizes)
    out = np.zeros((*x.shape[:2], len(rows), len(columns)))
    for i, (top, bottom, high) in enumerate(rows):
        for j, (left, right, wide) in enumerate(columns):
            part = x[:, :, top:bottom, left:right]
            if attrs["pooling_type"] == "max":
                out[:, :, i, j] = part.max(axis=(2, 3))
            else:
                inside = (bottom - top) * (right - left)
                out[:, :, i, j] = part.sum(axis=(2, 3)) / (inside if attrs["exclusive"] else high * wide)
    return {"Out": out}


def pool(kind, *ksize, **more):
    return {"pooling_type": kind, "ksize": list(ksize), **more}


GEOMETRIES = {
    "two by two": dict(ksize=[2, 2], strides=[2, 2]),
    "overlapping": dict(ksize=[3, 2]),
    "gaps": dict(ksize=[1, 2], strides=[3, 3]),
    "paddings": dict(ksize=[3, 3], strides=[2, 2], paddings=[1, 1]),
    "four paddings": dict(ksize=[3, 3], strides=[2, 1], paddings=[1, 0, 2, 1]),
    "more padding behind": dict(ksize=[3, 3], strides=[2, 2], paddings=[0, 2, 1, 2]),
    "ceil": dict(ksize=[2, 3], strides=[2, 2], ceil_mode=True),
    "ceil with paddings": dict(ksize=[3, 3], strides=[2, 2], paddings=[1, 1], ceil_mode=True),
    "same": dict(ksize=[3, 2], strides=[2, 2], padding_algorithm="SAME"),
    "valid": dict(ksize=[3, 2], strides=[2, 2], paddings=[1, 1], padding_algorithm="VALID"),
    "global": dict(ksize=[2, 2], strides=[2, 2], paddings=[1, 1], global_pooling=True),
    "adaptive": dict(ksize=[3, 4], adaptive=True),
}
X = {"X": array(2, 3, 7, 6)}

test_pool2d = op_tests(
    "pool2d",
    reference,
    cases={
        **{f"largest, {name}": (X, {"pooling_type": "max", **more}) for name, more in GEOMETRIES.items()},
        **{f"mean, {name}": (X, {"pooling_type": "avg", **more}) for name, more in GEOMETRIES.items()},
        **{
            f"mean with padding, {name}": (X, {"pooling_type": "avg", "exclusive": False, **more})
            for name, more in GEOMETRIES.items()
        },
        "few wide windows": ({"X": array(2, 2, 5, 41)}, pool("avg", 3, 20, strides=[2, 20])),
        "wide": ({"X": array(1, 2, 6, 50)}, pool("max", 2, 2, strides=[2, 2])),
        "one element": ({"X": array(1, 1, 1, 1)}, pool("max", 1, 1)),
        "no images": ({"X": array(0, 3, 4, 4)}, pool("avg", 2, 2)),
        "no channels": ({"X": array(2, 0, 4, 4)}, pool("max", 2, 2)),
    },
    gradients=["X"],
    refusals={
        "no kind": (X, {"ksize": [2, 2]}, pm.ProgramError, "pooling_type missing"),
        "unknown kind": (X, pool("sum", 2, 2), pm.ProgramError, "pooling_type sum max avg"),
        "window too large": (X, pool("max", 8, 2), pm.ShapeError, "spans 8 fit into 7"),
        "window of nothing": (X, pool("max", 0, 2), pm.ProgramError, "ksize 0"),
        "three sizes": (X, pool("max", 2, 2, 2), pm.ProgramError, "ksize 3 numbers"),
        "stride 0": (X, pool("max", 2, 2, strides=[0, 1]), pm.ProgramError, "strides 0"),
        "no rows": ({"X": array(2, 3, 0, 4)}, pool("max", 1, 1), pm.ShapeError, "X [2, 3, 0, 4] elements"),
        "three axes": ({"X": array(3, 4, 4)}, pool("max", 2, 2), pm.ShapeError, "X 3 dimensions"),
        "a layout that is none": (X, pool("max", 2, 2, data_format="CHWN"), pm.ProgramError, "CHWN NCHW"),
    },
)


def test_the_first_of_equal_elements_gets_the_gradient():
    x = np.ones((1, 1, 2, 4), "float32")
    inputs = {"X": x, "Out": x[:, :, :1, ::2], "Out@GRAD": np.array([[[[2, 3]]]], "float32")}
    found = run_op("pool2d_grad", inputs, pool("max", 2, 2, strides=[2, 2]))["X@GRAD"]
    np.testing.assert_array_equal(found, [[[[2, 0, 3, 0], [0, 0, 0, 0]]]])


@pytest.mark.parametrize("where", range(4))
def test_nan_is_the_largest(where):
    x = np.zeros((1, 1, 2, 2))
    x.flat[where] = np.nan
    assert np.isnan(run_op("pool2d", {"X": x}, pool("max", 2, 2))["Out"]).all()
