"""strided_slice: the part of Input between starts and ends, by steps."""

import numpy as np

import paddle_mini as pm
from families.slices import slice_tests
from harness import array, run_op

test_strided_slice, test_kinds = slice_tests(
    "strided_slice",
    True,
    cases={
        "backwards": ({"Input": array(3, 7)}, {"axes": [1], "starts": [-1], "ends": [-9], "strides": [-2]}),
        "backwards to the first": ({"Input": array(3, 7)}, {"axes": [1], "starts": [2147483647], "ends": [-1], "strides": [-1]}),
        "from before the first": ({"Input": array(5)}, {"axes": [0], "starts": [-9], "ends": [-1], "strides": [-1]}),
        "rows backwards": ({"Input": array(4, 3)}, {"axes": [0], "starts": [3], "ends": [0], "strides": [-1]}),
        "far steps": ({"Input": array(4)}, {"axes": [0], "starts": [1], "ends": [4], "strides": [2147483647]}),
    },
    refusals={
        "no step": ({"Input": array(3)}, {"axes": [0], "starts": [0], "ends": [1], "strides": [0]}, pm.ProgramError, "strides 0")
    },
)


def test_the_last_one():
    """x[-1] is given as start -1, end 0."""
    attrs = {"axes": [0], "starts": [-1], "ends": [0], "strides": [1], "infer_flags": [-1], "decrease_axis": [0]}
    np.testing.assert_array_equal(run_op("strided_slice", {"Input": array(3, 2)}, attrs)["Out"], array(3, 2)[-1])
