"""while: invalid programs; its values and gradients are in tests/layers/test_control_flow.py."""

import numpy as np
import pytest

import paddle_mini as pm
from families.programs import one, run

L = pm.layers


def test_a_condition_that_is_several_is_refused_at_the_run():
    def build(n):
        go = L.reshape(n < L.fill_constant([2], "int64", 3), [2])
        i = L.fill_constant([1], "int64", 0)
        inside = pm.default_main_program()
        block = inside.create_block()
        L.assign(i + 1, i)
        inside.rollback()
        inside.global_block().append_op("while", {"X": [i], "Condition": go}, {"Out": [i]}, {"sub_block": block.idx})
        return i

    with pytest.raises(pm.OpError, match="one bool is needed"):
        run(build, n=one(1))


def test_a_block_that_never_writes_its_condition_is_refused():
    with pytest.raises(pm.ProgramError, match="run for ever"):

        def build(n):
            with L.While(n < L.fill_constant([1], "int64", 3)).block():
                L.assign(n + 1)

        run(build, n=one(1))


@pytest.mark.parametrize("index", [0, 2, -1])
def test_a_block_that_is_not_inside_is_refused(index):
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        go = L.data("go", shape=[1], dtype="bool")
        main.create_block()
        main.rollback()
        main.global_block().append_op("while", {"Condition": go}, {"Out": [go]}, {"sub_block": index})
    with pytest.raises(pm.ProgramError, match="block inside"):
        main.handle()


def test_a_user_can_stop_a_loop_that_never_ends():
    import signal

    class Stopped(Exception):
        pass

    def stop(*_):
        raise Stopped

    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        i = L.fill_constant([1], "int64", 0)
        L.while_loop(lambda i: i >= L.fill_constant([1], "int64", 0), lambda i: [i * 1], [i])
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Stopped):
            pm.Executor(pm.CPUPlace()).run(main, scope=pm.Scope())
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_loop_variable_that_nothing_reads_afterwards_has_a_gradient_inside():
    # while_grad names the gradient of h, though the loss reads only the sum.
    main, x = pm.Program(), np.array([[0.5, -2.0]])
    with pm.program_guard(main, pm.Program()):
        given = L.data("x", shape=[1, 2], dtype="float64")
        given.stop_gradient = False
        i, h = L.fill_constant([1], "int64", 0), given * 1.0
        total = L.fill_constant([1], "float64", 0)
        total.stop_gradient = False
        n = L.fill_constant([1], "int64", 3)
        _, h, total = L.while_loop(lambda i, h, s: i < n, lambda i, h, s: [i + 1, h * h, s + L.reduce_sum(h * h)], [i, h, total])
        pm.append_backward(L.reduce_sum(total))
    block = main.global_block()
    [zeros] = [k for k, op in enumerate(block.ops) if op.type == "fill_any_like" and op.inputs["X"] == [h.name]]
    block.remove_op(zeros)  # PaddlePaddle writes no such operator
    got = pm.Executor(pm.CPUPlace()).run(main, feed={"x": x}, fetch_list=["x@GRAD"], scope=pm.Scope())[0]
    np.testing.assert_allclose(got, 2 * x + 4 * x**3 + 8 * x**7)
