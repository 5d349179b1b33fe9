"""reshape: the elements of X, in their order, in another shape."""

import numpy as np
import pytest

import paddle_mini as pm
from families.shapes import kinds_tests, reshape_reference, reshape_tests
from harness import array, run_op

test_reshape = reshape_tests("reshape")
test_kinds = kinds_tests("reshape", reshape_reference, {"shape": [4, 3]}, unchecked=())


def test_the_gradient_refuses_another_count():
    with pytest.raises(pm.ShapeError, match=r"Out@GRAD has shape \[5\], X had \[2, 3\]"):
        run_op("reshape_grad", {"X": array(2, 3), "Out@GRAD": np.zeros(5)})
