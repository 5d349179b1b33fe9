"""reduce_mean: Out = the mean of X over some axes."""

import numpy as np

from families.reductions import check_out_dtype_of_sums, sum_tests
from harness import array, ints, run_op

test_reduce_mean = sum_tests("reduce_mean", np.mean)


def test_out_dtype():
    check_out_dtype_of_sums("reduce_mean", np.mean, gradient=np.tile(np.arange(4.0), (3, 1)) / 3)


def test_of_nothing():
    assert np.isnan(run_op("reduce_mean", {"X": array(0, 4)})["Out"]).all()


def test_whole_numbers():
    """They have no mean of their own type; with another out_dtype they do."""
    x = ints(5)
    np.testing.assert_allclose(run_op("reduce_mean", {"X": x}, {"out_dtype": 6})["Out"], x.mean(), rtol=1e-15)
