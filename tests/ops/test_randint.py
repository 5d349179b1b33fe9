"""randint: integers drawn uniformly from [low, high)."""

import numpy as np

import paddle_mini as pm
from families.draws import two_draws
from harness import op_tests, run_op
from mersenne_twister import mt19937_64

NAMES = {2: "int32", 3: "int64"}


def reference(inputs, attrs):
    """Lemire's method, by which the standard library's uniform_int_distribution draws from words of 64 bits."""
    words, span = mt19937_64(attrs["seed"]), attrs["high"] - attrs["low"]
    drawn = []
    for _ in range(int(np.prod(attrs["shape"]))):
        product = next(words) * span
        while product % 2**64 < 2**64 % span:
            product = next(words) * span
        drawn.append(attrs["low"] + (product >> 64))
    return {"Out": np.array(drawn, NAMES[attrs["dtype"]]).reshape(attrs["shape"])}


TEN = {"low": 0, "high": 10, "seed": 7}

test_randint = op_tests(
    "randint",
    reference,
    cases={
        "int64": ({}, {**TEN, "shape": [40, 25]}),
        "int32": ({}, {**TEN, "shape": [40, 25], "dtype": 2}),
        "negative": ({}, {"low": -7, "high": -2, "seed": 3, "shape": [50]}),
        "one value": ({}, {"low": 5, "high": 6, "seed": 3, "shape": [4]}),
        "all of them": ({}, {"low": -(2**31), "high": 2**31 - 1, "seed": 3, "shape": [9], "dtype": 2}),
        "one element": ({}, {**TEN, "shape": []}),
        "no rows": ({}, {**TEN, "shape": [0, 4]}),
    },
    refusals={
        "no values": ({}, {"low": 3, "high": 3, "shape": [2]}, pm.ProgramError, "low 3 high 3"),
        "floats": ({}, {**TEN, "shape": [2], "dtype": 5}, pm.Error, "float32"),
        "unknown size": ({}, {**TEN, "shape": [-1]}, pm.ProgramError, "shape -1"),
    },
)


def test_the_shape_may_be_a_tensor():
    out = run_op("randint", {"ShapeTensor": np.array([3, 4])}, TEN)["Out"]
    np.testing.assert_array_equal(out, reference({}, {**TEN, "shape": [3, 4], "dtype": 3})["Out"])


def test_without_a_seed():
    """Each draw continues from the state of the last one, and all numbers are equally likely."""
    for x in two_draws("randint", {"shape": [50_000], "low": 0, "high": 1000}):
        counts = np.bincount(x // 100, minlength=10)
        assert counts.size == 10 and np.abs(counts - 5000).max() < 350  # five deviations
