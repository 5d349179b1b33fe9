"""matrix_power: Out = X^n, products of matrices."""

import numpy as np

import paddle_mini as pm
from families.matrices import refused, regular
from harness import array, op_tests

test_matrix_power = op_tests(
    "matrix_power",
    lambda inputs, attrs: {"Out": np.linalg.matrix_power(inputs["X"], attrs["n"])},
    cases={
        **{f"power {n}": ({"X": regular(3, 3) / 3}, {"n": n}) for n in (-3, -2, -1, 0, 1, 2, 3, 6)},
        "batch": ({"X": regular(2, 3, 4, 4) / 3}, {"n": 3}),
        "one number": ({"X": regular(1, 1) / 3}, {"n": 5}),
        "no matrices": ({"X": array(0, 3, 3)}, {"n": 2}),
    },
    gradients=["X"],
    values_only={"singular": ({"X": np.ones((2, 2))}, {"n": 3})},
    refusals={
        **refused("X", {"n": 2}),
        "no power": ({"X": array(2, 2)}, {}, pm.ProgramError, "'n' missing"),
        "singular": ({"X": np.stack([np.eye(2), np.ones((2, 2))])}, {"n": -1}, pm.OpError, "matrix 1 X singular"),
    },
)
