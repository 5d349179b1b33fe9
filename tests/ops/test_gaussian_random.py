"""gaussian_random: drawn from the normal distribution."""

import numpy as np

from families.draws import CASES, NAMES, NEGATIVE_DEVIATION, OF_DEVIATION, REFUSALS, two_draws
from harness import op_tests, run_op
from mersenne_twister import normal


def reference(inputs, attrs):
    out = normal(attrs["seed"], int(np.prod(attrs["shape"])), attrs["mean"], attrs["std"], NAMES[attrs["dtype"]])
    return {"Out": out.reshape(attrs["shape"])}


test_gaussian_random = op_tests(
    "gaussian_random",
    reference,
    cases={**CASES, **OF_DEVIATION, "odd count": ({}, {"shape": [101], "seed": 2, "mean": 3.0, "std": 0.5})},
    refusals={**REFUSALS, **NEGATIVE_DEVIATION},
)


def test_a_seed_gives_the_same_numbers_again():
    first, second = (run_op("gaussian_random", {}, {"shape": [1001], "seed": 5})["Out"] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_without_a_seed():
    for x in two_draws("gaussian_random", {"shape": [50_000], "mean": 1.0, "std": 2.0}):
        assert abs(x.mean() - 1) < 0.05 and abs(x.std() - 2) < 0.05 and abs(((x - 1) ** 3).mean()) < 0.5
