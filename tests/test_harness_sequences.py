# Tests of the harness: it must detect wrong sequences.
import numpy as np
import pytest

import harness
import paddle_mini as pm
from harness import array, run_op
from test_harness import ask_all

X = pm.LoDTensor(array(3, 2), [[0, 1, 3]])


def relu(lod):
    return lambda inputs, attrs: {"Out": pm.LoDTensor(np.maximum(inputs["X"].array, 0), lod)}


def test_sequences_are_asked_for_every_float_type_and_for_gradients():
    test = harness.op_tests("relu", relu(X.lod), {"rows": ({"X": X}, {})}, gradients=["X"])
    asked = ["float32 values", "float64 values", "gradients", "second gradients"]
    assert ask_all(test) == [f"rows: {about}" for about in asked]


@pytest.mark.parametrize("lod", [[[0, 2, 3]], []])
def test_other_sequences_are_noticed(lod):
    with pytest.raises(AssertionError, match="lod"):
        ask_all(harness.op_tests("relu", relu(lod), {"rows": ({"X": X}, {})}))


def test_run_op_takes_and_gives_sequences():
    found = run_op("scale", {"X": X}, {"scale": 2.0})["Out"]
    assert found.lod == X.lod
    np.testing.assert_array_equal(found.array, 2 * X.array)
