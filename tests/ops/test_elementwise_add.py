"""elementwise_add, grad_add: Out = X + Y."""

import numpy as np
import pytest

import paddle_mini as pm
from families.binary import binary_tests
from harness import array, ints, op_tests, run_op

test_elementwise_add = binary_tests("elementwise_add", np.add)
test_grad_add = op_tests(
    "grad_add",
    lambda inputs, attrs: {"Out": inputs["X"] + inputs["Y"]},
    cases={
        "matrices": ({"X": array(3, 4), "Y": array(3, 4)}, {}),
        "broadcast": ({"X": array(3, 4), "Y": array(4)}, {}),
        "integers": ({"X": ints(3, 4), "Y": ints(3, 4)}, {}),
        "one element": ({"X": array(), "Y": array()}, {}),
        "no rows": ({"X": array(0, 4), "Y": array(0, 4)}, {}),
    },
    refusals={"other shape": ({"X": array(3), "Y": array(4)}, {}, pm.ShapeError, "[3] [4]")},
)


def test_an_axis_that_wraps_around_is_refused():
    with pytest.raises(pm.ShapeError, match="axis is 2147483647"):
        run_op("elementwise_add", {"X": array(2, 3), "Y": array(3)}, {"axis": 2**31 - 1})
