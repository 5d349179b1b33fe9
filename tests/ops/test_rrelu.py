"""rrelu: negative elements times random slopes."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    slope = (np.float64(np.float32(attrs["lower"])) + np.float64(np.float32(attrs["upper"]))) / 2
    noise = np.where(inputs["X"] < 0, slope, 1)
    return {"Out": inputs["X"] * noise, "Noise": noise}


TEST = {"is_test": True}

test_rrelu = op_tests(
    "rrelu",
    reference,
    cases={
        "in testing": ({"X": array(3, 4)}, TEST),
        "one slope": ({"X": array(3, 4)}, {"lower": 0.25, "upper": 0.25}),
        "identity": ({"X": array(3, 4)}, {"lower": 1.0, "upper": 1.0}),
        "one element": ({"X": array()}, TEST),
        "no rows": ({"X": array(0, 4)}, TEST),
    },
    gradients=["X"],
    gradient_of=["Out"],
    refusals={
        "wrong order": ({"X": array(3)}, {"lower": 0.5, "upper": 0.25}, pm.ProgramError, "lower 0.5 upper 0.25"),
        "over 1": ({"X": array(3)}, {"upper": 1.5}, pm.ProgramError, "upper 1.5"),
    },
)


def test_slopes_are_drawn_evenly():
    x = np.tile(np.array([-1.0, 2.0], "float32"), 20_000)
    found = run_op("rrelu", {"X": x}, {"lower": 0.25, "upper": 0.75}, ["Out", "Noise"])
    np.testing.assert_array_equal(found["Out"], x * found["Noise"])
    np.testing.assert_array_equal(found["Noise"][1::2], 1)
    slopes = found["Noise"][::2]
    assert slopes.min() >= 0.25 and slopes.max() <= 0.75
    np.testing.assert_allclose([slopes.mean(), slopes.std()], [0.5, 0.5 / 12**0.5], atol=0.006)
