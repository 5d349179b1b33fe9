"""truncated_gaussian_random: a normal distribution cut off two standard deviations from its mean."""

from statistics import NormalDist

import numpy as np

import paddle_mini as pm
from families.draws import CASES, NAMES, NEGATIVE_DEVIATION, OF_DEVIATION, REFUSALS
from harness import op_tests, run_op
from mersenne_twister import uniform


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
    cases={**CASES, **OF_DEVIATION, "mean and deviation": ({}, {"shape": [101], "seed": 2, "mean": 3.0, "std": 0.5})},
    refusals={**REFUSALS, **NEGATIVE_DEVIATION, "no shape": ({}, {}, pm.ProgramError, "shape missing")},
)


def test_without_a_seed():
    x = run_op("truncated_gaussian_random", {}, {"shape": [50_000], "mean": 1.0, "std": 2.0})["Out"]
    assert -3 <= x.min() < -2.9 and 4.9 < x.max() <= 5
    assert abs(x.mean() - 1) < 0.05 and abs(x.std() - 2 * 0.8796) < 0.03  # a normal distribution truncated at two
