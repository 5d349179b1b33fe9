"""conditional_block: with several conditions; its values and gradients are in tests/layers/test_control_flow.py."""

import numpy as np
import pytest

import paddle_mini as pm
from families.programs import run

L = pm.layers


def test_without_a_scalar_condition_a_block_runs_if_all_have_elements():
    def build(x):
        program = pm.default_main_program()
        out = L.fill_constant([1], "float32", 0.0)
        block = program.create_block()
        L.assign(L.fill_constant([1], "float32", 1.0), out)
        program.rollback()
        program.global_block().append_op(
            "conditional_block", {"Cond": [x], "Input": []}, {"Out": [out]}, {"sub_block": block.idx}
        )
        return out

    np.testing.assert_array_equal(run(build, x=np.zeros((2, 3), "float32")), [1])
    np.testing.assert_array_equal(run(build, x=np.zeros((0, 3), "float32")), [0])


def test_a_variable_that_no_branch_wrote_has_no_value():
    def build(flag):
        program = pm.default_main_program()
        out = program.global_block().create_var("out", shape=[1], dtype="float32")
        with L.ConditionalBlock(flag).block():
            L.assign(L.fill_constant([1], "float32", 1.0), out)
        return out * 2.0

    np.testing.assert_array_equal(run(build, flag=np.array([True])), [2])
    with pytest.raises(pm.OpError, match="'out' has no value"):
        run(build, flag=np.array([False]))
