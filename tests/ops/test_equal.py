"""equal: Out = whether X equals Y."""

import numpy as np

import paddle_mini as pm
from broadcast_cases import broadcast_cases, broadcast_refusals, operands, whole_number_cases
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x, y = operands(inputs, attrs)
    with np.errstate(invalid="ignore"):
        same = (np.abs(x * 1.0 - y) < 1e-8) | (x == y)
    return {"Out": same}


test_equal = op_tests(
    "equal",
    reference,
    broadcast_cases(),
    refusals={
        **broadcast_refusals(pm),
        "selected rows": ({"X": Rows([1], array(1, 2), 3), "Y": array(3, 2)}, {}, pm.ShapeError, "X selected rows"),
    },
)
test_whole_numbers = op_tests("equal", reference, whole_number_cases())

FEW = {
    dtype: ({"X": ints(4, 9, high=3, dtype=dtype), "Y": ints(4, 9, high=3, dtype=dtype, seed=1)}, {})
    for dtype in ("int8", "uint8", "int16", "int32", "int64", "bool")
}
STRETCHED = {
    f"{dtype} stretched": ({"X": ints(4, 9, high=2, dtype=dtype), "Y": ints(9, high=2, dtype=dtype)}, {})
    for dtype in ("int8", "uint8", "int16", "bool")
}
test_few_different_numbers = op_tests("equal", reference, cases={**FEW, **STRETCHED})

SPECIAL = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan]
test_special_values = op_tests(
    "equal",
    reference,
    cases={
        "each with each": ({"X": np.repeat(SPECIAL, 6), "Y": np.tile(SPECIAL, 6)}, {}),
        "each with each, stretched": ({"X": np.reshape(SPECIAL, (6, 1)), "Y": np.array(SPECIAL)}, {}),
    },
)


def test_numbers_less_than_a_hundred_millionth_apart():
    for dtype in ("float32", "float64"):
        for stretch in (1, 3):
            x = np.zeros((stretch, 4), dtype)
            y = np.array([0.9e-8, -0.9e-8, 1.1e-8, -1.1e-8], dtype)
            found = run_op("equal", {"X": x, "Y": y[None, :]})["Out"]
            np.testing.assert_array_equal(found, [[True, True, False, False]] * stretch)
