"""Numbers given as tensors have the same effect as in attributes."""

import pytest

from tensor_attrs import CASES, check_tensors


@pytest.mark.parametrize("case", CASES)
def test_tensors_instead_of_attributes(case):
    op_type, inputs, attrs, tensors, left, gradients = CASES[case]
    check_tensors(op_type, inputs, attrs, tensors, left, {"Out": 2} if op_type == "split" else None, gradients)
