"""bias_corrected_average: Out = Average + (rho + gamma t)^-eta (Param - Initial)."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    updates = int(inputs["Counters"][0])
    if updates == 0:
        return {"Out": inputs["Param"]}
    part = 1 / (attrs["rho"] + attrs["gamma"] * (updates - 1)) ** attrs["eta"]
    return {"Out": inputs["Average"] + part * (inputs["Param"] - inputs["Initial"])}


def values(*shape, updates=1):
    return {
        "Param": array(*shape),
        "Average": array(*shape, seed=1),
        "Initial": array(*shape, seed=2),
        "Counters": np.array([updates, 0, 0, updates + 2, 0]),
    }


test_bias_corrected_average = op_tests(
    "bias_corrected_average",
    reference,
    cases={
        "before the first update": (values(4, 5, updates=0), {}),
        "first": (values(4, 5), {}),
        "later": (values(4, 5, updates=731), {}),
        "attributes": (values(4, 5, updates=12), {"rho": 2.5, "gamma": 0.75, "eta": 0.6}),
        "all of the way": (values(40, updates=12), {"eta": 0.0}),
        "a part that stays": (values(40, updates=12), {"rho": 4.0, "gamma": 0.0, "eta": 0.5}),
        "one element": (values(updates=3), {}),
        "no rows": (values(0, 4, updates=3), {}),
    },
    refusals={
        "other average": ({**values(4), "Average": array(5)}, {}, pm.ShapeError, "Param [4] Average [5]"),
        "other beginning": ({**values(4), "Initial": array(4, 1)}, {}, pm.ShapeError, "Param [4] Initial [4, 1]"),
        "other dtype": ({**values(4), "Initial": array(4).astype("float32")}, {}, pm.ShapeError, "Initial float32"),
        "four counters": ({**values(4), "Counters": ints(4)}, {}, pm.ShapeError, "Counters [4] [5]"),
        "rho below 1": (values(4), {"rho": 0.5}, pm.ProgramError, "rho 0.5"),
        "gamma below 0": (values(4), {"gamma": -1.0}, pm.ProgramError, "gamma -1"),
        "eta above 1": (values(4), {"eta": 1.5}, pm.ProgramError, "eta 1.5"),
    },
)


def test_before_the_first_update_nothing_but_the_parameter_is_read():
    p, unset = array(9), np.full(9, np.nan)
    out = run_op("bias_corrected_average", {"Param": p, "Average": unset, "Initial": unset, "Counters": np.zeros(5, "int64")})
    np.testing.assert_array_equal(out["Out"], p)


def test_the_whole_scheme_against_its_definition():
    # Block & Zhang 2025, algorithm 1, with an update in every step.
    rho, gamma, kappa, eta, walk = 10.0, 1.0, 0.5, 0.2, np.cumsum(array(60, 4), axis=0)
    attrs = {"scheme": "falling", "warmup_length": rho, "warmup_rate": gamma, "warmup_power": kappa}
    counters, state, average = np.zeros(5, "int64"), np.zeros(7), np.full(4, np.nan)
    expected = walk[0]
    for t, p in enumerate(walk):
        step = run_op("average_weight", {"Counters": counters, "State": state}, attrs)
        counters, state = step["CountersOut"], step["StateOut"]
        average = run_op("parameter_average", {"Param": p, "Average": average, "Weight": step["Weight"]})["AverageOut"]
        out = run_op("bias_corrected_average", {"Param": p, "Average": average, "Initial": walk[0], "Counters": counters})["Out"]
        if t:
            beta = (rho + gamma * t) ** -kappa
            expected = (1 - beta) * expected + beta * p
        np.testing.assert_allclose(out, expected + (rho + gamma * t) ** -eta * (p - walk[0]), rtol=1e-12, atol=1e-12)
