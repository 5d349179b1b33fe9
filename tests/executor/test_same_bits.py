"""Results have the same bits for any number of threads: the cases of all operators and their gradients with loops split as
finely as possible, and training steps of models, of the book's chapters and with every average. tests/golden replays
PaddlePaddle's programs in the same way."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from averages_by_definition import SCHEMES, averaged_steps
from book_chapters import CHAPTERS, chapter_to_train
from executor.test_unwritten_memory import LEFT_OUT, bits, with_gradient
from facts import all_facts, cases_of
from optimizers import OPTIMIZERS
from paddle_mini.schemas import op_schema
from paddle_mini.testing.one_op import OneOp, Rows, array, ints
from split_loops import MANY, with_each
from thorough import some, thorough

COUNTS = (1, 2, 3, 8)
EACH_LENGTH = pytest.mark.parametrize("shortest", [1, None], ids=["all loops", "long loops"])


def require_same_bits(name, one):
    program, names = with_gradient(one)
    results = with_each(COUNTS, lambda: [bits(value) for value in one.fetch(names, program)])
    for threads, result in zip(COUNTS[1:], results[1:]):
        differ = [at for at, first, now in zip(names, results[0], result) if first != now]
        assert not differ, f"{name}: {differ} have other bits with {threads} threads"


@pytest.mark.parametrize("op_type", some(sorted(set(all_facts()) - LEFT_OUT), 3))
def test_operators(op_type):
    for name, inputs, attrs, counts, _ in cases_of(op_type):
        seeded = {"seed": 7} if any(attr["name"] == "seed" for attr in op_schema(op_type)["attrs"]) else {}
        require_same_bits(name, OneOp(op_type, inputs, {**attrs, **seeded}, counts, aliased=False))


# Rows that are long enough to be split themselves, and many rows; the cases of the operators' tests are smaller.
REPEATED = [3, 0, 3, 1, 3, 0, 5]
LARGER = {
    "expand_v2": ({"X": array(1, 300)}, {"shape": [9, 300]}),
    "slice": ({"Input": array(2, 300)}, {"axes": [0], "starts": [1], "ends": [2]}),
    "pad": ({"X": array(1, 300)}, {"paddings": [1, 0, 0, 0]}),
    "logsumexp": ({"X": array(9, 300)}, {"axis": [0]}),
    "p_norm": ({"X": array(300, 9)}, {"axis": 1, "porder": 3.0}),
    "gather": ({"X": array(6, 300), "Index": np.array(REPEATED)}, {}),
    "gather_nd": ({"X": array(6, 300), "Index": np.array(REPEATED)[:, None]}, {}),
    "scatter": ({"X": array(6, 300), "Ids": np.array(REPEATED), "Updates": array(7, 300, seed=1)}, {}),
    "scatter_nd_add": ({"X": array(6, 300), "Index": np.array(REPEATED)[:, None], "Updates": array(7, 300, seed=1)}, {}),
    "index_add": ({"X": array(40, 6), "Index": np.array(REPEATED), "AddValue": array(40, 7, seed=1)}, {"axis": 1}),
    "take_along_axis": ({"Input": array(3, 200), "Index": ints(50, 200, high=3)}, {"Axis": 0}),
    "sgd": ({"Param": array(6, 300), "LearningRate": array(1), "Grad": Rows(REPEATED, array(7, 300, seed=1), 6)}, {}),
    "adam": (
        {
            "Param": array(40, 30),
            "Moment1": array(40, 30, seed=2),
            "Moment2": array(40, 30, low=0, seed=3),
            "LearningRate": array(1),
            "Beta1Pow": array(1, low=0),
            "Beta2Pow": array(1, low=0, seed=1),
            "Grad": Rows(ints(90, high=40).tolist(), array(90, 30, seed=1), 40),
        },
        {},
    ),
    "gru_unit": (
        {"Input": array(50, 30), "HiddenPrev": array(50, 10, seed=1), "Weight": array(10, 30, seed=2), "Bias": array(1, 30)},
        {},
    ),
    "argsort": ({"X": array(30, 40)}, {}),
    "cast": ({"X": array(3, 700)}, {"in_dtype": 6, "out_dtype": 5}),
    "all_finite": ({"X": [array(900), array(3, 700)]}, {}),
    "group_norm": ({"X": array(5, 12, 300), "Scale": array(12), "Bias": array(12)}, {"groups": 3}),
}


@pytest.mark.parametrize("op_type", LARGER)
def test_larger(op_type):
    inputs, attrs = LARGER[op_type]
    require_same_bits(op_type, OneOp(op_type, inputs, attrs, aliased=False))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, n, k", [(1, 300, 70), (300, 1, 70), (200, 7, 130), (7, 200, 130), (200, 150, 3), (130, 90, 1100)])
@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_products(dtype, m, n, k, transposed):
    random = np.random.default_rng(m + n + k)
    shapes = [(k, m) if transposed[0] else (m, k), (n, k) if transposed[1] else (k, n)]
    x, y = (random.normal(size=shape).astype(dtype) for shape in shapes)
    one = OneOp("matmul_v2", {"X": x, "Y": y}, {"trans_x": transposed[0], "trans_y": transposed[1]})
    results = with_each(MANY, lambda: one.run()["Out"])
    np.testing.assert_allclose(results[0], (x.T if transposed[0] else x) @ (y.T if transposed[1] else y), rtol=2e-3, atol=1e-3)
    assert len({result.tobytes() for result in results}) == 1


def perceptron(x, hidden=300):
    return pm.layers.fc(pm.layers.fc(pm.layers.reshape(x, [0, -1]), hidden, act="relu"), 10)


def narrow(x):
    return perceptron(x, 50)


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


def after_steps(main, startup, feeds, loss, average=None):
    """The scope after a step on each feed, and with each average applied, by name."""
    exe, scope = pm.Executor(pm.CPUPlace()), pm.Scope()
    pm.seed(3)
    exe.run(startup, scope=scope)
    for feed in feeds:
        exe.run(main, feed, [loss], scope)
    found = {name: scope.get(name).tobytes() for name in sorted(scope.names())}
    for scheme in average.schemes if average else []:
        with average.apply(exe, scope, scheme):
            found.update({(p.name, repr(scheme)): scope.get(p.name).tobytes() for p in main.all_parameters()})
    return found


def assert_same_with_each(shortest, *arguments):
    first, *others = with_each(MANY, lambda: after_steps(*arguments), shortest)
    for threads, found in zip(MANY[1:], others):
        differ = [name for name, value in first.items() if found[name] != value]
        assert not differ, f"{differ} have other bits with {threads} threads"


def assert_trains_the_same(network, shortest, schemes=None, optimizer=None):
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        x, y = pm.layers.data("x", [-1, 3, 32, 32]), pm.layers.data("y", [-1, 1], dtype="int64")
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(network(x), y))
        optimizer = optimizer or pm.optimizer.Adam(0.01)
        average = pm.optimizer.ParameterAverage(optimizer, schemes) if schemes else None
        (average or optimizer).minimize(loss)
    random = np.random.default_rng(1)
    feeds = [
        {"x": random.normal(size=(size, 3, 32, 32)).astype("float32"), "y": random.integers(0, 10, (size, 1))}
        for size in (13, 6, 13)
    ]
    assert_same_with_each(shortest, main, startup, feeds, loss, average)


@EACH_LENGTH
@pytest.mark.parametrize("network", [perceptron, convolutions, attention, table])
def test_training(network, shortest):
    assert_trains_the_same(network, shortest)


# The others refuse sparse gradients.
@pytest.mark.parametrize("name", ["Adagrad", "Adam", "Ftrl", "Lamb", "Momentum", "RMSProp", "SGD"])
def test_optimizers_with_sparse_gradients(name):
    assert_trains_the_same(table, 1, optimizer=OPTIMIZERS[name]())


@EACH_LENGTH
@pytest.mark.parametrize("network", [narrow, table])
def test_averages(network, shortest):
    assert_trains_the_same(network, shortest, [one for one in SCHEMES if averaged_steps(3, one.own_every or 1, one.start)])


@thorough
@EACH_LENGTH
@pytest.mark.parametrize(
    "number, argv, size", CHAPTERS, ids=lambda value: "-".join(value) if isinstance(value, list) else str(value)
)
def test_chapters_of_the_book(monkeypatch, number, argv, size, shortest):
    """Two steps of each."""
    samples, feed_list, loss, optimizer = chapter_to_train(monkeypatch, number, *argv)
    optimizer.minimize(loss)
    feeder = pm.data.DataFeeder(feed_list)
    feeds = [feeder.feed(rows) for rows in itertools.islice(pm.data.batch(samples.train, size, drop_last=True), 2)]
    assert_same_with_each(shortest, pm.default_main_program(), pm.default_startup_program(), feeds, loss)
