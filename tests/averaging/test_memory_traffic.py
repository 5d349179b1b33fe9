"""The memory of averages, and what their steps read and write: the numbers of docs/averaging.md."""

import numpy as np
import pytest

import paddle_mini as pm

A = pm.averaging
WIDTH, STEPS = 64, 400


def trained(make):
    """The main program of a float32 parameter with this many elements, its scope, and a function that trains one step."""
    x = pm.layers.data("x", [1, WIDTH])
    loss = pm.layers.mean(x * pm.layers.create_parameter([WIDTH], "float32", name="w"))
    make(pm.optimizer.SGD(0.1)).minimize(loss)
    executor, random = pm.Executor(pm.CPUPlace()), np.random.default_rng(0)
    executor.run(pm.default_startup_program())
    step = lambda: executor.run(feed={"x": random.normal(size=(1, WIDTH)).astype("float32")})
    return pm.default_main_program(), pm.global_scope(), step


def arrays(program):
    """The variables with a value for each element of a parameter."""
    vars = program.global_block().vars.items()
    return [name for name, var in vars if var.persistable and var.shape and var.shape[-1] == WIDTH and name != "w"]


@pytest.mark.parametrize(
    "make, wanted",
    [
        (lambda sgd: pm.optimizer.ParameterAverage(sgd, A.Window(100)), 12),
        (lambda sgd: pm.optimizer.ParameterAverage(sgd, A.Window(rate=0.15, min_size=10, max_size=100)), 12),
        (lambda sgd: pm.optimizer.ParameterAverage(sgd, A.Uniform()), 8),
        (lambda sgd: pm.optimizer.ParameterAverage(sgd, A.Uniform(compensated=True)), 8),
        (lambda sgd: pm.optimizer.ParameterAverage(sgd, A.Tail(20)), 8),
        (lambda sgd: pm.optimizer.ParameterAverage(sgd, A.Polynomial(eta=3)), 8),
        (lambda sgd: pm.optimizer.ParameterAverage(sgd, A.Power(gamma=5)), 8),
        (lambda sgd: pm.optimizer.ParameterAverage(sgd, A.Exponential(0.999)), 8),
        (lambda sgd: pm.optimizer.ParameterAverage(sgd, A.Latest(4, every=1)), 16),
        (lambda sgd: pm.optimizer.ParameterAverage(sgd, A.BiasCorrected()), 12),
        (pm.optimizer.ScheduleFree, 12),
    ],
)
def test_memory_for_each_parameter(make, wanted):
    program, scope, _ = trained(make)
    assert sum(scope.get(name).nbytes for name in arrays(program)) == wanted * WIDTH


def test_memory_of_a_table():
    ids = pm.layers.data("ids", [3, 1], dtype="int64")
    embedded = pm.layers.embedding(ids, [10, WIDTH], is_sparse=True, param_attr="w")
    pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), A.Exponential(0.99)).minimize(pm.layers.mean(embedded))
    pm.Executor(pm.CPUPlace()).run(pm.default_startup_program())
    scope, vars = pm.global_scope(), pm.default_main_program().global_block().vars
    of_rows = [name for name, var in vars.items() if var.persistable and var.shape and var.shape[0] == 10 and name != "w"]
    assert sum(scope.get(name).nbytes for name in of_rows) == 10 * (8 * WIDTH + 8)


@pytest.mark.parametrize(
    "scheme, wanted",
    [
        (A.Uniform(), {(2, 7): 16, (9, 64): 10, (201, 400): 8.5}),
        (A.Exponential(0.999), {(2, 7): 16, (9, 64): 10, (201, 400): 8.5}),
        (A.Exponential(0.985), {(9, 200): 10, (301, 400): 8.5}),
        (A.Exponential(0.98), {(9, 200): 10, (201, 400): 10}),
        (A.Exponential(0.87), {(2, 400): 16}),
        (A.Exponential(0.999, compensated=True), {(2, 400): 16}),
        (A.Polynomial(eta=3), {(2, 28): 16, (33, 250): 10, (301, 400): 8.5}),
        (A.BiasCorrected(), {(61, 400): 10}),
        (A.Window(100), {(201, 400): 10}),
    ],
    ids=str,
)
def test_bytes_of_a_step(scheme, wanted):
    """A step reads and writes the arrays that it changes. Values of a parameter that walks at random change in each."""
    program, scope, step = trained(lambda sgd: pm.optimizer.ParameterAverage(sgd, scheme))
    names = [name for name in arrays(program) if "initial" not in name]
    moved = []
    for _ in range(STEPS):
        before = [scope.get(name).tobytes() for name in names]
        step()
        moved.append(sum(8 for name, old in zip(names, before) if scope.get(name).tobytes() != old))
    for (first, last), mean in wanted.items():
        assert np.mean(moved[first - 1 : last]) == pytest.approx(mean, abs=0.15), (first, last)
