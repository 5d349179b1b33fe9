"""seed: the seed of a later operator."""

import numpy as np

from families.draws import two_draws
from harness import op_tests

test_seed = op_tests(
    "seed", lambda inputs, attrs: {"Out": np.array([attrs["seed"]], "int32")}, cases={"given": ({}, {"seed": 7})}
)


def test_without_a_seed():
    a, b = two_draws("seed", {})
    assert a.dtype == "int32" and a > 0 and b > 0
