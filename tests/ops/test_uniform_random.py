"""uniform_random: drawn evenly from [min, max)."""

import numpy as np

import paddle_mini as pm
from harness import op_tests, run_op
from mersenne_twister import uniform

NAMES = {5: "float32", 6: "float64"}


def reference(inputs, attrs):
    out = uniform(attrs["seed"], int(np.prod(attrs["shape"])), attrs["min"], attrs["max"], NAMES[attrs["dtype"]])
    out[: attrs["diag_num"] * (attrs["diag_step"] + 1) : attrs["diag_step"] + 1] = attrs["diag_val"]
    return {"Out": out.reshape(attrs["shape"])}


test_uniform_random = op_tests(
    "uniform_random",
    reference,
    cases={
        "float32": ({}, {"shape": [40, 25], "seed": 7}),
        "float64": ({}, {"shape": [40, 25], "seed": 7, "dtype": 6}),
        "ends": ({}, {"shape": [100], "seed": -3, "min": 2.0, "max": 5.0}),
        "one value": ({}, {"shape": [3], "seed": 1, "min": 2.0, "max": 2.0}),
        "diagonal": ({}, {"shape": [4, 5], "seed": 1, "diag_num": 4, "diag_step": 5, "diag_val": 9.0}),
        "one element": ({}, {"shape": [], "seed": 1}),
        "no rows": ({}, {"shape": [0, 4], "seed": 1}),
    },
    refusals={
        "wrong order": ({}, {"shape": [2], "min": 1.0, "max": 0.0}, pm.ProgramError, "min 1 max 0"),
        "unknown size": ({}, {"shape": [-1]}, pm.ProgramError, "shape -1"),
        "long diagonal": ({}, {"shape": [3, 3], "diag_num": 4, "diag_step": 3}, pm.ProgramError, "diag_num 4 [3, 3]"),
        "integers": ({}, {"shape": [2], "dtype": 3}, pm.Error, "int64"),
    },
)


def test_a_seed_gives_the_same_bits():
    found = run_op("uniform_random", {}, {"shape": [1000], "seed": 5})["Out"]
    np.testing.assert_array_equal(found, uniform(5, 1000, -1.0, 1.0, "float32"))


def test_without_a_seed():
    """Each draw continues from the state of the last one."""
    program = pm.Program()
    for name in ("a", "b"):
        attrs = {"shape": [50_000], "min": 0.0, "max": 4.0}
        program.global_block().append_op("uniform_random", {}, {"Out": name}, attrs)
    a, b = pm.Executor(pm.CPUPlace()).run(program, fetch_list=["a", "b"], scope=pm.Scope())
    assert (a != b).mean() > 0.99
    for x in (a, b):
        assert 0 <= x.min() < 0.01 and 3.99 < x.max() <= 4
        assert abs(x.mean() - 2) < 0.03 and abs(x.std() - 4 / 12**0.5) < 0.03
