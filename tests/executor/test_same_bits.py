"""Results have the same bits for any number of threads: the cases of all operators and their gradients with loops split as
finely as possible, and training steps of models with loops of usual lengths."""

import numpy as np
import pytest

import paddle_mini as pm
from executor.test_unwritten_memory import LEFT_OUT, bits, with_gradient
from facts import all_facts, cases_of
from one_op import OneOp
from paddle_mini.averaging import Exponential, Uniform
from paddle_mini.schemas import op_schema
from split_loops import with_each

COUNTS = (1, 2, 3, 8)


@pytest.mark.parametrize("op_type", sorted(set(all_facts()) - LEFT_OUT))
def test_operators(op_type):
    for name, inputs, attrs, counts, _ in cases_of(op_type):
        seeded = {"seed": 7} if any(attr["name"] == "seed" for attr in op_schema(op_type)["attrs"]) else {}
        one = OneOp(op_type, inputs, {**attrs, **seeded}, counts, aliased=False)
        program, names = with_gradient(one)
        results = with_each(COUNTS, lambda one=one, names=names, program=program: [bits(v) for v in one.fetch(names, program)])
        for threads, result in zip(COUNTS[1:], results[1:]):
            differ = [at for at, first, now in zip(names, results[0], result) if first != now]
            assert not differ, f"{name}: {differ} have other bits with {threads} threads"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, n, k", [(1, 300, 70), (300, 1, 70), (200, 7, 130), (7, 200, 130), (200, 150, 3), (130, 90, 1100)])
@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_products(dtype, m, n, k, transposed):
    random = np.random.default_rng(m + n + k)
    shapes = [(k, m) if transposed[0] else (m, k), (n, k) if transposed[1] else (k, n)]
    x, y = (random.normal(size=shape).astype(dtype) for shape in shapes)
    one = OneOp("matmul_v2", {"X": x, "Y": y}, {"trans_x": transposed[0], "trans_y": transposed[1]})
    results = with_each((1, 2, 3, 5, 8), lambda: one.run()["Out"])
    np.testing.assert_allclose(results[0], (x.T if transposed[0] else x) @ (y.T if transposed[1] else y), rtol=2e-3, atol=1e-3)
    assert len({result.tobytes() for result in results}) == 1


def perceptron(x):
    return pm.layers.fc(pm.layers.fc(pm.layers.reshape(x, [0, -1]), 300, act="relu"), 10)


def convolutions(x):
    for filters, stride in ((12, 1), (24, 2)):
        x = pm.layers.batch_norm(pm.layers.conv2d(x, filters, 3, stride, 1, bias_attr=False), act="relu")
    x = pm.layers.pool2d(pm.layers.conv2d(x, 17, 5), 3, pool_stride=2)
    return pm.layers.fc(x, 10)


def attention(x):
    x = pm.layers.layer_norm(pm.layers.reshape(x, [0, 96, 32]), begin_norm_axis=2)
    weights = pm.layers.softmax(pm.layers.matmul(x, x, transpose_y=True))
    mixed = pm.layers.transpose(pm.layers.matmul(weights, x), [0, 2, 1])
    return pm.layers.fc(pm.layers.fc(mixed, 64, 2, act="gelu"), 10)


def table(x):
    ids = pm.layers.cast(pm.layers.abs(pm.layers.reshape(x, [0, -1])) * 100.0, "int64")
    looked_up = pm.layers.embedding(ids, [1000, 24], is_sparse=True)
    return pm.layers.fc(pm.layers.reduce_mean(looked_up, dim=1), 10)


def trained(network, around):
    """The scope after three steps, by name."""
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup), pm.unique_name.guard():
        x, y = pm.layers.data("x", [-1, 3, 32, 32]), pm.layers.data("y", [-1, 1], dtype="int64")
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(network(x), y))
        around(pm.optimizer.Adam(0.01)).minimize(loss)
    exe, scope = pm.Executor(pm.CPUPlace()), pm.Scope()
    pm.seed(3)
    exe.run(startup, scope=scope)
    random = np.random.default_rng(1)
    for size in (13, 6, 13):
        feed = {"x": random.normal(size=(size, 3, 32, 32)).astype("float32"), "y": random.integers(0, 10, (size, 1))}
        exe.run(main, feed, [loss], scope)
    return {name: scope.get(name).tobytes() for name in sorted(scope.names())}


@pytest.mark.parametrize("shortest", [1, None], ids=["all loops", "long loops"])
@pytest.mark.parametrize("network", [perceptron, convolutions, attention, table])
def test_training(network, shortest):
    results = with_each((1, 2, 3, 5, 8), lambda: trained(network, lambda optimizer: optimizer), shortest)
    assert all(result == results[0] for result in results[1:])


@pytest.mark.parametrize("scheme", [Exponential(0.9), Uniform()], ids=repr)
def test_averages(scheme):
    results = with_each(
        (1, 2, 5), lambda: trained(perceptron, lambda optimizer: pm.optimizer.ParameterAverage(optimizer, scheme))
    )
    assert all(result == results[0] for result in results[1:])
