"""bilinear_interp_v2: resized images, each pixel a mixture of four."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def places(attrs, size, scale, wanted):
    out = int(np.float32(size) * np.float32(scale)) if scale else wanted
    if attrs["align_corners"]:
        ratio = np.float32(size - 1) / np.float32(max(out - 1, 1))
    else:
        ratio = np.float32(1) / np.float32(scale) if scale else np.float32(size) / np.float32(out)
    ratio = ratio if out > 1 else np.float32(0)
    steps = np.arange(out)
    at = (ratio * steps.astype("float32")).astype("float32")
    if attrs["align_mode"] == 0 and not attrs["align_corners"]:
        at = np.maximum((np.float64(ratio) * (steps + 0.5) - 0.5).astype("float32"), np.float32(0))
    first = np.minimum(at.astype("int64"), size - 1)
    part = at - first.astype("float32")  # Trap: positions and weights are float32 for every type of X
    matrix = np.zeros((out, size))
    matrix[steps, first] += np.float32(1) - part
    matrix[steps, np.minimum(first + 1, size - 1)] += part
    return matrix


def reference(inputs, attrs):
    x = inputs["X"]
    last = attrs["data_layout"] == "NHWC"
    x = np.moveaxis(x, -1, 1) if last else x
    scale = list(attrs["scale"]) or [0, 0]
    rows = places(attrs, x.shape[2], scale[0], attrs["out_h"])
    columns = places(attrs, x.shape[3], scale[1], attrs["out_w"])
    if rows.shape[0] == rows.shape[1] and columns.shape[0] == columns.shape[1]:
        return {"Out": inputs["X"]}
    out = np.einsum("ab,ncbd,ed->ncae", rows, x, columns)
    return {"Out": np.moveaxis(out, 1, -1) if last else out}


X = {"X": array(2, 3, 5, 4)}

test_bilinear_interp_v2 = op_tests(
    "bilinear_interp_v2",
    reference,
    cases={
        "corners": (X, {"out_h": 8, "out_w": 9}),
        "centers": (X, {"out_h": 8, "out_w": 9, "align_corners": False, "align_mode": 0}),
        "no corners": (X, {"out_h": 8, "out_w": 9, "align_corners": False}),
        "smaller": (X, {"out_h": 2, "out_w": 3, "align_corners": False, "align_mode": 0}),
        "scale": (X, {"scale": [2.0, 1.5], "align_corners": False, "align_mode": 0}),
        "scale, corners": (X, {"scale": [2.0, 0.5]}),
        "scale and size": (X, {"scale": [2.0, 3.0], "out_h": 3, "out_w": 3, "align_corners": False}),
        "one pixel": (X, {"out_h": 1, "out_w": 1}),
        "same size": (X, {"scale": [1.1, 1.1], "align_corners": False}),
        "channels last": (X, {"out_h": 7, "out_w": 3, "data_layout": "NHWC"}),
        "one element": ({"X": array(1, 1, 1, 1)}, {"out_h": 2, "out_w": 3}),
        "no images": ({"X": array(0, 3, 5, 4)}, {"out_h": 8, "out_w": 9}),
    },
    gradients=["X"],
    refusals={
        "three dimensions": ({"X": array(3, 5, 4)}, {"out_h": 8, "out_w": 9}, pm.ShapeError, "X 3 4"),
        "no size": (X, {}, pm.ProgramError, "out_h 0"),
        "negative size": (X, {"out_h": 4, "out_w": -1}, pm.ProgramError, "out_w -1"),
        "scale 0": (X, {"scale": [0.0, 1.0]}, pm.ProgramError, "scale 0"),
        "one scale": (X, {"scale": [2.0]}, pm.ProgramError, "scale 1 2"),
        "huge scale": (X, {"scale": [1e30, 1.0]}, pm.ShapeError, "scale"),
        "tiny scale": (X, {"scale": [1e-3, 1.0]}, pm.ShapeError, "5 0"),
        "no pixels": ({"X": array(1, 1, 0, 4)}, {"out_h": 8, "out_w": 9}, pm.ShapeError, "0 8"),
        "no such mode": (X, {"out_h": 8, "out_w": 9, "align_mode": 2}, pm.ProgramError, "align_mode 2"),
    },
)
