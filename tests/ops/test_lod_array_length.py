"""lod_array_length: Out = the number of elements of X."""

import numpy as np
import pytest

import paddle_mini as pm
from families.programs import one, run

L = pm.layers


@pytest.mark.parametrize("index", [0, 3])
def test_the_length_is_that_of_the_last_index(index):
    length = run(lambda x, i: L.array_length(L.array_write(x, i)), x=np.ones(2, "float32"), i=one(index))
    assert length.dtype == np.int64
    np.testing.assert_array_equal(length, [index + 1])


def test_an_array_that_nothing_was_written_to():
    np.testing.assert_array_equal(run(lambda: L.array_length(L.create_array())), [0])
