"""truncated_gaussian_random: a normal distribution cut off two standard deviations from its mean."""

from statistics import NormalDist

import numpy as np

import paddle_mini as pm
from harness import op_tests, run_op
from mersenne_twister import uniform

NAMES = {5: "float32", 6: "float64"}


def reference(inputs, attrs):
    dtype = NAMES[attrs["dtype"]]
    u = uniform(attrs["seed"], int(np.prod(attrs["shape"])), np.finfo("float32").tiny, 1.0, dtype).astype("float64")
    normal = NormalDist()
    low, high = normal.cdf(-2.0), normal.cdf(2.0)
    out = np.array([attrs["mean"] + attrs["std"] * normal.inv_cdf(low + (high - low) * value) for value in u])
    return {"Out": out.astype(dtype).reshape(attrs["shape"])}


test_truncated_gaussian_random = op_tests(
    "truncated_gaussian_random",
    reference,
    cases={
        "float32": ({}, {"shape": [40, 25], "seed": 7}),
        "float64": ({}, {"shape": [40, 25], "seed": 7, "dtype": 6}),
        "mean and deviation": ({}, {"shape": [101], "seed": 2, "mean": 3.0, "std": 0.5}),
        "no deviation": ({}, {"shape": [4], "seed": 2, "mean": 3.0, "std": 0.0}),
        "one element": ({}, {"shape": [], "seed": 1}),
        "no rows": ({}, {"shape": [0, 4], "seed": 1}),
    },
    refusals={
        "negative deviation": ({}, {"shape": [2], "std": -1.0}, pm.ProgramError, "std -1"),
        "unknown size": ({}, {"shape": [-1]}, pm.ProgramError, "shape -1"),
        "no shape": ({}, {}, pm.ProgramError, "shape missing"),
        "integers": ({}, {"shape": [2], "dtype": 3}, pm.Error, "int64"),
    },
)


def test_without_a_seed():
    x = run_op("truncated_gaussian_random", {}, {"shape": [50_000], "mean": 1.0, "std": 2.0})["Out"]
    assert -3 <= x.min() < -2.9 and 4.9 < x.max() <= 5
    assert abs(x.mean() - 1) < 0.05 and abs(x.std() - 2 * 0.8796) < 0.03  # a normal distribution truncated at two
