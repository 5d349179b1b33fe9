"""isclose: which elements are nearly equal."""

import numpy as np

import paddle_mini as pm
from harness import array, complex_array, op_tests

SPECIAL = np.array([1.0, np.nan, np.inf, -np.inf, 0.0])
CLOSE = {"Input": np.array([1.0, 1.0, 2.0, -3.0]), "Other": np.array([1.0, 1.0001, 2.5, -3.00001])}


def reference(inputs, attrs):
    rtol, atol = (float(inputs.get(port, [attrs[name]])[0]) for port, name in (("Rtol", "rtol"), ("Atol", "atol")))
    with np.errstate(invalid="ignore"):
        return {"Out": np.isclose(inputs["Input"], inputs["Other"], rtol, atol, attrs["equal_nan"])}


test_isclose = op_tests(
    "isclose",
    reference,
    cases={
        "defaults": (CLOSE, {}),
        "wide": (CLOSE, {"rtol": "0.01", "atol": "0.1"}),
        "from tensors": ({**CLOSE, "Rtol": np.array([0.0]), "Atol": np.array([1.0])}, {}),
        "special values": ({"Input": SPECIAL, "Other": SPECIAL}, {}),
        "equal NaN": ({"Input": SPECIAL, "Other": SPECIAL}, {"equal_nan": True}),
        "one element": ({"Input": array(), "Other": array()}, {}),
        "no elements": ({"Input": array(0, 3), "Other": array(0, 3)}, {}),
    },
    refusals={
        "other shape": ({"Input": array(3), "Other": array(4)}, {}, pm.ShapeError, "Input [3] Other [4]"),
        "not a number": ({"Input": array(3), "Other": array(3)}, {"rtol": "small"}, pm.ProgramError, "rtol small"),
    },
)

Z = complex_array(3, 4)
test_isclose_complex = op_tests(
    "isclose",
    reference,
    cases={
        "near and far": ({"Input": Z, "Other": Z + np.array([0, 1e-9, 1e-3j, 0.5])}, {}),
        "wide": ({"Input": Z, "Other": Z + np.array([0.3j, -0.05, 1e-3j, 0.5])}, {"atol": "0.1", "rtol": "0.01"}),
        "NaN in one part": ({"Input": Z * np.nan, "Other": Z * np.nan}, {"equal_nan": True}),
    },
    refusals={},
)
