"""allclose: whether two tensors are nearly equal everywhere."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    rtol = inputs["Rtol"][0] if "Rtol" in inputs else float(attrs["rtol"])
    atol = inputs["Atol"][0] if "Atol" in inputs else float(attrs["atol"])
    return {"Out": np.bool_(np.allclose(inputs["Input"], inputs["Other"], rtol, atol, attrs["equal_nan"]))}


def pair(a, b, **more):
    return {"Input": np.array(a), "Other": np.array(b), **more}


test_allclose = op_tests(
    "allclose",
    reference,
    cases={
        "equal": (pair([1.0, 2.0], [1.0, 2.0]), {}),
        "near": (pair([10000.0, 1e-7], [10000.05, 1e-7]), {}),
        "too far": (pair([10000.0, 1e-7], [10000.3, 1e-7]), {}),
        "relative to Other": (pair([1.0], [1.5]), {"rtol": "0.4", "atol": "0"}),
        "not relative to Input": (pair([1.5], [1.0]), {"rtol": "0.4", "atol": "0"}),
        "absolute": (pair([0.0], [0.25]), {"rtol": "0", "atol": "0.5"}),
        "nan": (pair([np.nan], [np.nan]), {}),
        "equal nan": (pair([np.nan, 1.0], [np.nan, 1.0]), {"equal_nan": True}),
        "nan and a number": (pair([np.nan], [1.0]), {"equal_nan": True}),
        "infinite": (pair([np.inf, -np.inf], [np.inf, -np.inf]), {}),
        "two infinities": (pair([np.inf], [-np.inf]), {"rtol": "0"}),
        "tolerances as tensors": (pair([1.0], [1.5], Rtol=np.array([0.4]), Atol=np.array([0.0])), {}),
        "one element": ({"Input": array(), "Other": array()}, {}),
        "no rows": ({"Input": array(0, 4), "Other": array(0, 4)}, {}),
    },
    refusals={
        "no number": (pair([1.0], [1.0]), {"rtol": "1e-5x"}, pm.ProgramError, "rtol 1e-5x"),
        "no text": (pair([1.0], [1.0]), {"atol": ""}, pm.ProgramError, "atol"),
        "other shape": ({"Input": array(3), "Other": array(4)}, {}, pm.ShapeError, "[3] [4]"),
        "other type": ({"Input": array(3), "Other": ints(3)}, {}, pm.ShapeError, "float64 int64"),
        "two tolerances": (pair([1.0], [1.0], Rtol=array(2)), {}, pm.ShapeError, "Rtol [2]"),
    },
)


def test_an_infinite_other_allows_all_numbers():
    assert run_op("allclose", pair([1.0], [np.inf]))["Out"]
    assert not run_op("allclose", pair([np.inf], [1.0]))["Out"]
