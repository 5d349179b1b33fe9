"""Steps of an optimizer for many parameters run in one loop on several threads: with the same bits, also after an error."""

import re

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Exponential, Uniform
from split_loops import threads
from tiled_programs import Program, state

SIZES = [5, 4000, 1, 20_011, 7, 300, 4096, 12] * 5  # several chunks; none is long enough for a loop of its own


def loops(plan):
    return [tuple(int(number) for number in found) for found in re.findall(r"one loop: #(\d+) to #(\d+), in (\d+) chunks", plan)]


@pytest.mark.parametrize("optimizer", ["sgd", "momentum"])
def test_same_bits(optimizer):
    (found,) = loops(Program(sizes=SIZES, optimizer=optimizer).plan())
    assert found[:2] == (0, len(SIZES) - 1) and found[2] > 2
    with threads(1):
        expected = Program(sizes=SIZES, optimizer=optimizer).run()
    for count in (2, 3, 8):
        with threads(count):
            values = Program(sizes=SIZES, optimizer=optimizer).run()
        assert all(values[name].tobytes() == value.tobytes() for name, value in expected.items())


def plan_of(rates, between=lambda block: None, size=9):
    """The plan of an sgd of p0 and one of p1, with these learning rates."""
    program, scope = pm.Program(), pm.Scope()
    block = program.global_block()
    state(block, scope, "rate", np.float32([0.1]))
    for name in ("p0", "g0", "p1", "g1"):
        state(block, scope, name, np.ones(size, "float32"))
    for i, rate in enumerate(rates):
        block.append_op("sgd", {"Param": f"p{i}", "Grad": f"g{i}", "LearningRate": rate}, {"ParamOut": f"p{i}"})
        between(block)
    return pm.Executor().plan_text(program, scope=scope)


def test_what_is_no_loop():
    """Steps of which one needs what the other writes, long ones, and those with another operator between them."""
    assert loops(plan_of(["rate", "rate"])) == [(0, 1, 1)]
    assert loops(plan_of(["rate", "p0"], size=1)) == []
    assert loops(plan_of(["p1", "rate"], size=1)) == []
    assert loops(plan_of(["rate", "rate"], size=1_000_000)) == []
    assert loops(plan_of(["rate", "rate"], lambda block: block.append_op("shape", {"Input": "p0"}, {"Out": "s"}))) == []


def test_two_steps_of_one_parameter():
    program, scope = pm.Program(), pm.Scope()
    block = program.global_block()
    state(block, scope, "rate", np.float32([0.5]))
    for name in ("p", "g"):
        state(block, scope, name, np.ones(4, "float32"))
    for _ in range(3):
        block.append_op("sgd", {"Param": "p", "Grad": "g", "LearningRate": "rate"}, {"ParamOut": "p"})
    exe = pm.Executor()
    assert loops(exe.plan_text(program, scope=scope)) == []
    exe.run(program, scope=scope)
    assert scope.get("p").tolist() == [-0.5] * 4


def averaged(wrong):
    """The scope and the error of a step in which the parameters `wrong` have become NaN."""
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup), pm.unique_name.guard():
        x = pm.layers.data("x", [-1, 1])
        parameters = [pm.layers.create_parameter([size], "float32", name=f"w{i:02}") for i, size in enumerate(SIZES)]
        loss = pm.layers.reduce_sum(x)
        for parameter in parameters:
            loss = loss + pm.layers.reduce_sum(parameter * parameter)
        pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), [Uniform(), Exponential(0.5)]).minimize(loss)
    exe = pm.Executor()
    pm.seed(1)
    exe.run(startup, scope=scope)
    feed = {"x": np.ones((1, 1), "float32")}
    exe.run(main, feed, scope=scope)
    for i in wrong:
        value = scope.get(f"w{i:02}")
        value[-1] = np.nan
        scope.set(f"w{i:02}", value)
    before = {name: scope.get(name) for name in scope.names()}
    with pytest.raises(pm.OpError) as raised:
        exe.run(main, feed, scope=scope)
    return before, {name: scope.get(name) for name in scope.names()}, str(raised.value)


def test_after_an_error_every_parameter_has_its_step_and_no_average():
    with threads(1):
        before, expected, message = averaged([31, 9, 22])
    assert message.startswith("parameter_average: element 3999 of Param is nan") and "'w09'" in message  # the first of them
    parameters = {name for name in before if re.fullmatch(r"w\d\d", name)}
    assert len(parameters) == len(SIZES)
    for name in parameters:
        assert expected[name].tobytes() != before[name].tobytes(), name
    for name in before.keys() - parameters:
        assert np.isfinite(expected[name]).all() and expected[name].dtype == before[name].dtype
        if "counters" in name:
            assert expected[name].tobytes() == before[name].tobytes()
    for count in (2, 3, 8):
        with threads(count):
            _, found, same = averaged([31, 9, 22])
        assert same == message
        assert all(found[name].tobytes() == value.tobytes() for name, value in expected.items())
