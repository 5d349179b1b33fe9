"""polygamma: out = the n-th derivative of digamma(x)."""

import numpy as np

import paddle_mini as pm
from families.gamma import polygamma
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"out": polygamma(attrs["n"], inputs["x"])}


SPECIAL = [0.0, -1.0, -2.0, 1.0, -0.5, -1.5, 30.0, -30.5, np.inf, np.nan]

test_polygamma = op_tests(
    "polygamma",
    reference,
    cases={
        **{f"order {n}": ({"x": array(3, 4, low=1, high=5)}, {"n": n}) for n in range(4)},
        "below zero": ({"x": array(9, low=-0.9, high=-0.1) - np.arange(9) % 3}, {"n": 1}),
        "one element": ({"x": array(low=1, high=5)}, {"n": 1}),
        "nothing": ({"x": array(0, 2)}, {"n": 1}),
    },
    gradients=["x"],
    values_only={f"special values, order {n}": ({"x": np.resize(SPECIAL, 37)}, {"n": n}) for n in range(4)},
    refusals={
        "no order": ({"x": array(2)}, {}, pm.ProgramError, "'n' missing"),
        "negative order": ({"x": array(2)}, {"n": -1}, pm.ProgramError, "'n' -1"),
        "integers": ({"x": ints(2)}, {"n": 1}, pm.Error, "int64"),
    },
)
