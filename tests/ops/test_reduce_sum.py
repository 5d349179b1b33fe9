"""reduce_sum: Out = the sum of X over some axes."""

import numpy as np

from families.reductions import check_out_dtype_of_sums, sum_tests
from harness import array, ints, run_op

test_reduce_sum = sum_tests("reduce_sum", np.sum)


def test_out_dtype():
    check_out_dtype_of_sums("reduce_sum", np.sum, gradient=np.tile(np.arange(4.0), (3, 1)))


def test_of_nothing():
    np.testing.assert_array_equal(run_op("reduce_sum", {"X": array(0, 4)})["Out"], np.zeros(4))


def test_whole_numbers():
    """int32 and bool are added as int64."""
    x = np.full((3, 2), 2_000_000_000, "int32")
    np.testing.assert_array_equal(run_op("reduce_sum", {"X": x})["Out"], np.int64([6_000_000_000] * 2))
    assert run_op("reduce_sum", {"X": ints(5) < 5}, {"reduce_all": True})["Out"] == (ints(5) < 5).sum()
    assert run_op("reduce_sum", {"X": ints(5)})["Out"] == ints(5).sum()
    assert run_op("reduce_sum", {"X": x}, {"out_dtype": 2})["Out"].dtype == "int32"
