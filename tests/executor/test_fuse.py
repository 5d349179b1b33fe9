"""fuse: operators that run tile by tile with the preceding one give the same bits, and are moved if no other step
prevents it."""

import numpy as np
import pytest

import paddle_mini as pm
from tiled_programs import SIZE, Program, state


def joined(plan):
    return plan.count("in parts with it: parameter_average")


def same_bits(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], name)


@pytest.mark.parametrize("optimizer", ["sgd", "momentum"])
def test_optimizer_and_average_run_part_by_part_with_the_same_bits(monkeypatch, optimizer):
    fused = Program(optimizer=optimizer)
    assert joined(fused.plan()) == 3
    found = fused.run()
    monkeypatch.setenv("PM_FUSE", "0")
    apart = Program(optimizer=optimizer)
    assert joined(apart.plan()) == 0
    same_bits(found, apart.run())


def writes_the_weight(block):
    block.append_op("scale", {"X": "weight"}, {"Out": "weight"}, {"scale": 0.5})


def reads_an_average(block):
    block.append_op("scale", {"X": "a1"}, {"Out": "read"}, {"scale": 1.0})


def changes_a_parameter(block):
    block.append_op("scale", {"X": "p2"}, {"Out": "p2"}, {"scale": 0.5})


@pytest.mark.parametrize("between, moves", [(writes_the_weight, 0), (reads_an_average, 2), (changes_a_parameter, 2)])
def test_an_average_does_not_move_over_what_it_depends_on(monkeypatch, between, moves):
    program = Program(between)
    assert joined(program.plan()) == moves
    found = program.run()
    monkeypatch.setenv("PM_FUSE", "0")
    same_bits(found, Program(between).run())


def test_several_averages_follow_one_optimizer():
    program = Program(sizes=(SIZE,))
    block = program.main.global_block()
    for number in (1, 2):
        state(block, program.scope, f"b{number}", np.zeros(SIZE, "float32"))
        block.append_op(
            "parameter_average", {"Param": "p0", "Average": f"b{number}", "Weight": "weight"}, {"AverageOut": f"b{number}"}
        )
    plan = program.plan()
    assert joined(plan) == 3 and "#1 " not in plan


def test_an_error_names_the_operator_that_raised_it():
    program = Program(sizes=(SIZE,))
    program.scope.set("g0", np.where(np.arange(SIZE) == 5000, np.nan, 0).astype("float32"))
    before = program.scope.get("a0")
    with pytest.raises(pm.OpError, match="(?s)parameter_average: element 5000 of Param is nan.*op #1"):
        program.run(1)
    after = program.scope.get("a0")
    assert np.isfinite(after).all() and (after[:4096] != before[:4096]).any()
    np.testing.assert_array_equal(after[5000 // 512 * 512 :], before[5000 // 512 * 512 :])


def test_no_elements_are_no_parts():
    program = Program(sizes=(0,))
    assert joined(program.plan()) == 0
    program.run()


def test_sparse_gradients_do_not_run_in_parts():
    program = pm.Program()
    block, scope = program.global_block(), pm.Scope()
    for name in ("p", "a"):
        state(block, scope, name, np.zeros((4, 2), "float32"))
    state(block, scope, "rate", np.float32([1]))
    state(block, scope, "weight", np.float64([1]))
    block.create_var("g", shape=[4, 2], dtype="float32", kind=8, persistable=True)
    scope.set_rows("g", [1], np.ones((1, 2), "float32"), 4)
    block.append_op("sgd", {"Param": "p", "Grad": "g", "LearningRate": "rate"}, {"ParamOut": "p"})
    block.append_op("parameter_average", {"Param": "p", "Average": "a", "Weight": "weight"}, {"AverageOut": "a"})
    exe = pm.Executor()
    assert joined(exe.plan_text(program, scope=scope)) == 0
    exe.run(program, scope=scope)
    np.testing.assert_array_equal(scope.get("a"), [[0, 0], [-1, -1], [0, 0], [0, 0]])
