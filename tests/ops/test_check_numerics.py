"""check_numerics: counts NaN, infinities and zeros of a tensor, and its maximum, minimum and mean."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests

SPECIAL = np.array([[1.0, np.inf, 0.0], [-2.0, 0.0, -np.inf]])


def reference(inputs, attrs):
    x = inputs["tensor"]
    stats = np.array([np.isnan(x).sum(), np.isinf(x).sum(), (x == 0).sum()])
    with np.errstate(all="ignore"):
        values = [x.max(), x.min(), x.mean()] if x.size else [np.nan] * 3
    return {"stats": stats, "values": np.array(values, "float32")}


test_check_numerics = op_tests(
    "check_numerics",
    reference,
    cases={
        "matrix": ({"tensor": array(3, 4)}, {}),
        "zeros": ({"tensor": np.array([0.0, 3.0, -0.0, -5.0])}, {}),
        "infinities are counted": ({"tensor": SPECIAL}, {"check_nan_inf_level": 1}),
        "NaN is counted": ({"tensor": np.array([1.0, 2.0, np.nan, 3.0])}, {"check_nan_inf_level": 3}),
        "NaN first": ({"tensor": np.array([np.nan, 0.0, 3.0])}, {"check_nan_inf_level": 2}),
        "one element": ({"tensor": array()}, {}),
        "no elements": ({"tensor": array(0, 3)}, {}),
    },
    refusals={
        "NaN": (
            {"tensor": np.array([np.nan, np.inf, 1.0])},
            {"op_type": "exp", "var_name": "y"},
            pm.OpError,
            "'y' of operator exp has 1 NaN and 1 infinities among 3 elements",
        ),
        "a file": ({"tensor": array(3)}, {"output_dir": "logs"}, pm.ProgramError, "output_dir logs"),
        "a level that is none": ({"tensor": array(3)}, {"check_nan_inf_level": 4}, pm.ProgramError, "check_nan_inf_level 4"),
    },
)
