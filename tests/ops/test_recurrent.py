"""recurrent: invalid programs; its values and gradients are in tests/layers/test_recurrence.py."""

import numpy as np
import pytest

import paddle_mini as pm

L = pm.layers


@pytest.mark.parametrize(
    "attrs, words",
    [({"ex_states": ["a"], "states": []}, "states 0"), ({"ex_states": ["a"], "states": ["a"]}, "initial_states has 0")],
)
def test_states_that_do_not_pair_are_refused(attrs, words):
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x = L.data("x", shape=[2, 3])
        inside = main.create_block()
        step = inside.create_var("x", shape=[3], dtype="float32")
        out = L.scale(step, scale=2.0)
        main.rollback()
        main.global_block().create_var(out.name, shape=[2, 3], dtype="float32")
        main.global_block().append_op("recurrent", {"inputs": x}, {"outputs": out.name}, {"sub_block": inside.idx, **attrs})
    with pytest.raises(pm.ProgramError, match=words):
        pm.Executor(pm.CPUPlace()).run(main, feed={"x": np.ones((2, 3), "float32")}, scope=pm.Scope())


def test_an_output_that_the_block_does_not_give_is_refused():
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x = L.data("x", shape=[2, 3])
        inside = main.create_block()
        inside.create_var("x", shape=[3], dtype="float32")
        main.rollback()
        main.global_block().create_var("y", shape=[2, 3], dtype="float32")
        main.global_block().append_op("recurrent", {"inputs": x}, {"outputs": "y"}, {"sub_block": inside.idx})
    with pytest.raises(pm.OpError, match="computes no value for 'y'"):
        pm.Executor(pm.CPUPlace()).run(main, feed={"x": np.ones((2, 3), "float32")}, scope=pm.Scope())
