"""bilinear_interp, bilinear_interp_v2: resized images, each pixel a mixture of four."""

import numpy as np

import paddle_mini as pm
from families.interpolation import CASES, REFUSALS, REFUSALS_OF_FIRST, X, factors, linear_matrix, of_first
from harness import op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    last = attrs["data_layout"] == "NHWC"
    x = np.moveaxis(x, -1, 1) if last else x
    scale = factors(attrs, 2)
    rows = linear_matrix(attrs, x.shape[2], scale[0], attrs["out_h"])
    columns = linear_matrix(attrs, x.shape[3], scale[1], attrs["out_w"])
    if rows.shape[0] == rows.shape[1] and columns.shape[0] == columns.shape[1]:
        return {"Out": inputs["X"]}
    out = np.einsum("ab,ncbd,ed->ncae", rows, x, columns)
    return {"Out": np.moveaxis(out, 1, -1) if last else out}


ALL = {
    **CASES,
    "centers": (X, {"out_h": 8, "out_w": 9, "align_corners": False, "align_mode": 0}),
    "no corners": (X, {"out_h": 8, "out_w": 9, "align_corners": False}),
    "smaller": (X, {"out_h": 2, "out_w": 3, "align_corners": False, "align_mode": 0}),
    "scale, centers": (X, {"scale": [2.0, 1.5], "align_corners": False, "align_mode": 0}),
    "scale, corners": (X, {"scale": [2.0, 0.5]}),
    "scale and size": (X, {"scale": [2.0, 3.0], "out_h": 3, "out_w": 3, "align_corners": False}),
}

test_bilinear_interp_v2 = op_tests(
    "bilinear_interp_v2",
    reference,
    cases=ALL,
    gradients=["X"],
    refusals={
        **REFUSALS,
        "negative size": (X, {"out_h": 4, "out_w": -1}, pm.ProgramError, "out_w -1"),
        "scale 0": (X, {"scale": [0.0, 1.0]}, pm.ProgramError, "scale 0"),
        "one scale": (X, {"scale": [2.0]}, pm.ProgramError, "scale 1 2"),
        "tiny scale": (X, {"scale": [1e-3, 1.0]}, pm.ShapeError, "5 0"),
        "no such mode": (X, {"out_h": 8, "out_w": 9, "align_mode": 2}, pm.ProgramError, "align_mode 2"),
    },
)

test_bilinear_interp = op_tests(
    "bilinear_interp", reference, cases=of_first("bilinear", ALL), gradients=["X"], refusals=REFUSALS_OF_FIRST
)
