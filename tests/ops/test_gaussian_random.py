"""gaussian_random: drawn from the normal distribution."""

import numpy as np

import paddle_mini as pm
from harness import op_tests, run_op
from mersenne_twister import normal

NAMES = {5: "float32", 6: "float64"}


def reference(inputs, attrs):
    out = normal(attrs["seed"], int(np.prod(attrs["shape"])), attrs["mean"], attrs["std"], NAMES[attrs["dtype"]])
    return {"Out": out.reshape(attrs["shape"])}


test_gaussian_random = op_tests(
    "gaussian_random",
    reference,
    cases={
        "float32": ({}, {"shape": [40, 25], "seed": 7}),
        "float64": ({}, {"shape": [40, 25], "seed": 7, "dtype": 6}),
        "odd count": ({}, {"shape": [101], "seed": 2, "mean": 3.0, "std": 0.5}),
        "no deviation": ({}, {"shape": [4], "seed": 2, "mean": 3.0, "std": 0.0}),
        "one element": ({}, {"shape": [], "seed": 1}),
        "no rows": ({}, {"shape": [0, 4], "seed": 1}),
    },
    refusals={
        "negative deviation": ({}, {"shape": [2], "std": -1.0}, pm.ProgramError, "std -1"),
        "unknown size": ({}, {"shape": [-1]}, pm.ProgramError, "shape -1"),
        "integers": ({}, {"shape": [2], "dtype": 3}, pm.Error, "int64"),
    },
)


def test_a_seed_gives_the_same_numbers_again():
    first, second = (run_op("gaussian_random", {}, {"shape": [1001], "seed": 5})["Out"] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_without_a_seed():
    program = pm.Program()
    for name in ("a", "b"):
        attrs = {"shape": [50_000], "mean": 1.0, "std": 2.0}
        program.global_block().append_op("gaussian_random", {}, {"Out": name}, attrs)
    a, b = pm.Executor(pm.CPUPlace()).run(program, fetch_list=["a", "b"], scope=pm.Scope())
    assert (a != b).mean() > 0.99
    for x in (a, b):
        assert abs(x.mean() - 1) < 0.05 and abs(x.std() - 2) < 0.05 and abs(((x - 1) ** 3).mean()) < 0.5
