"""linear_interp, trilinear_interp, and the same with _v2: resized lines and volumes."""

import numpy as np

import paddle_mini as pm
from families.interpolation import by, factors, linear_matrix, of_first
from harness import array, op_tests


def resized(sizes):
    def reference(inputs, attrs):
        x, last = inputs["X"], attrs["data_layout"].endswith("C")
        out = np.moveaxis(x, -1, 1) if last else x
        scale = factors(attrs, len(sizes))
        matrices = [linear_matrix(attrs, out.shape[2 + i], scale[i], attrs[name]) for i, name in enumerate(sizes)]
        if all(matrix.shape[0] == matrix.shape[1] for matrix in matrices):
            return {"Out": x}
        for axis, matrix in enumerate(matrices, 2):
            out = np.moveaxis(np.tensordot(matrix, out, (1, axis)), 0, axis)
        return {"Out": np.moveaxis(out, 1, -1) if last else out}

    return reference


LINE = {"X": array(2, 3, 5)}

LINES = {
    "corners": (LINE, {"out_w": 9}),
    "centers": (LINE, {"out_w": 9, "align_corners": False, "align_mode": 0}),
    "no corners": (LINE, {"out_w": 8, "align_corners": False}),
    "smaller": (LINE, {"out_w": 2, "align_corners": False, "align_mode": 0}),
    "scale": (LINE, {"scale": [2.5], "align_corners": False, "align_mode": 0}),
    "one pixel": (LINE, {"out_w": 1}),
    "same size": (LINE, {"scale": [1.1], "align_corners": False}),
    "channels last": (LINE, {"out_w": 7, "data_layout": "NWC"}),
    "one element": ({"X": array(1, 1, 1)}, {"out_w": 3}),
    "no lines": ({"X": array(0, 3, 5)}, {"out_w": 9}),
}

test_linear_interp_v2 = op_tests(
    "linear_interp_v2",
    resized(["out_w"]),
    cases=by("linear", LINES),
    gradients=["X"],
    refusals={
        "an image": ({"X": array(1, 3, 5, 4)}, {"out_w": 9}, pm.ShapeError, "X 4 3"),
        "no size": (LINE, {}, pm.ProgramError, "out_w 0"),
        "two scales": (LINE, {"scale": [2.0, 2.0]}, pm.ProgramError, "scale 2 1 width"),
    },
)

test_linear_interp = op_tests(
    "linear_interp",
    resized(["out_w"]),
    cases=of_first("linear", LINES),
    gradients=["X"],
    refusals={"an image": ({"X": array(1, 3, 5, 4)}, {"out_w": 9}, pm.ShapeError, "X 4 3")},
)

VOLUME = {"X": array(2, 2, 3, 4, 5)}
SIZES = {"out_d": 5, "out_h": 3, "out_w": 7}

VOLUMES = {
    "corners": (VOLUME, SIZES),
    "centers": (VOLUME, {**SIZES, "align_corners": False, "align_mode": 0}),
    "no corners": (VOLUME, {**SIZES, "align_corners": False}),
    "scale": (VOLUME, {"scale": [2.0, 1.5, 0.5], "align_corners": False, "align_mode": 0}),
    "flat": ({"X": array(1, 2, 1, 4, 5)}, {**SIZES, "out_d": 1}),
    "channels last": (VOLUME, {**SIZES, "data_layout": "NDHWC"}),
    "one element": ({"X": array(1, 1, 1, 1, 1)}, SIZES),
    "no volumes": ({"X": array(0, 2, 3, 4, 5)}, SIZES),
}

test_trilinear_interp_v2 = op_tests(
    "trilinear_interp_v2",
    resized(["out_d", "out_h", "out_w"]),
    cases=by("trilinear", VOLUMES),
    gradients=["X"],
    refusals={
        "an image": ({"X": array(1, 3, 5, 4)}, SIZES, pm.ShapeError, "X 4 5"),
        "no size": (VOLUME, {"out_h": 2, "out_w": 2}, pm.ProgramError, "out_d 0"),
    },
)

test_trilinear_interp = op_tests(
    "trilinear_interp",
    resized(["out_d", "out_h", "out_w"]),
    cases=of_first("trilinear", VOLUMES),
    gradients=["X"],
    refusals={"an image": ({"X": array(1, 3, 5, 4)}, SIZES, pm.ShapeError, "X 4 5")},
)
