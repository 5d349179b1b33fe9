"""equal: Out = whether X equals Y."""

import numpy as np

from families.logic import comparison_tests
from harness import run_op

test_equal = comparison_tests("equal", lambda x, y: (np.abs(x * 1.0 - y) < 1e-8) | (x == y))


def test_numbers_less_than_a_hundred_millionth_apart():
    for dtype in ("float32", "float64"):
        for rows in (1, 3):
            x = np.zeros((rows, 4), dtype)
            y = np.array([0.9e-8, -0.9e-8, 1.1e-8, -1.1e-8], dtype)
            found = run_op("equal", {"X": x, "Y": y[None, :]})["Out"]
            np.testing.assert_array_equal(found, [[True, True, False, False]] * rows)
