"""Sync mode: the same bits as one machine, the mean of all trainers, two optimizers and a table."""

import time

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import WORDS, alone, begun, train, values
from cluster_moments import note, notes, ticket
from live_threads import threads
from small_model import assert_same_bits

OPTIMIZERS = {
    "SGD": lambda: pm.optimizer.SGD(0.1),
    "Momentum": lambda: pm.optimizer.Momentum(0.05, 0.9, use_nesterov=True),
    "Adam": lambda: pm.optimizer.Adam(0.01),
    "Adam with averages": lambda: pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), pm.averaging.Uniform()),
    "Lamb": lambda: pm.optimizer.Lamb(0.01),
    "Adam in bfloat16": lambda: pm.amp.decorate(pm.optimizer.Adam(0.01)),
    "SGD with a schedule": lambda: pm.optimizer.SGD(pm.lr.ExponentialDecay(0.1, 0.9)),
}


def one_trainer(name, servers, engine):
    expected = alone(train, 7, OPTIMIZERS[name])
    result = pm.cluster.run(train, 1, servers, "sync", engine, args=(7, OPTIMIZERS[name]))
    assert_same_bits(result.returned[0], expected)
    assert result.counts == {"sent": 7 * servers, "applied": 7 * servers, "dropped": 0, "repeated": 0, "lost": 0}


@pytest.mark.parametrize("servers", [1, 2, 3])
def test_one_trainer_gets_the_bits_of_one_machine(servers, engine):
    one_trainer("Adam with averages", servers, engine())


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if "schedule" not in name])
def test_optimizers_have_the_bits_of_one_machine(name):
    one_trainer(name, 3, "threads")


def big_batch(name, engine):
    expected = alone(train, 6, OPTIMIZERS[name], 24)
    result = pm.cluster.run(train, 3, 2, "sync", engine, args=(6, OPTIMIZERS[name], 24, 3))
    for one in result.returned:
        assert_same_bits(one, result.returned[0])
    for key, value in expected.items():
        np.testing.assert_allclose(result.returned[0][key], value, rtol=2e-4, atol=2e-6)


def test_trainers_together_make_one_big_batch(engine):
    big_batch("Adam", engine())


@pytest.mark.parametrize("name", ["SGD", "Momentum"])
def test_optimizers_see_one_big_batch(name):
    big_batch(name, "threads")


def test_a_slow_trainer_is_waited_for(engine, tmp_path):
    def slow():
        def step():
            note(tmp_path / "steps", trainer.number)
            time.sleep(0.02 * trainer.number)

        w = pm.layers.create_parameter([3], "float32")
        loss = pm.layers.mean(w)
        pm.optimizer.SGD(0.1).minimize(loss)
        trainer = begun()
        for _ in range(5):
            step()
            trainer.run({}, [])

    pm.cluster.run(slow, 2, 1, "sync", engine())
    steps = notes(tmp_path / "steps")
    # A trainer that begins step k + 1 has pushed step k; its pull then waits for those that have not begun step k.
    assert all(abs(steps[:end].count("0") - steps[:end].count("1")) <= 2 for end in range(11))


def wide_and_deep(steps, sparse=True):
    """Two tables, one of them read through a cast; SGD for the wide part, Adam for the deep one."""
    words = pm.layers.data("words", shape=[-1, 4], dtype="int64")
    more = pm.layers.data("more", shape=[-1, 2], dtype="int32")
    label = pm.layers.data("label", shape=[-1, 1], dtype="int64")
    wide = pm.layers.embedding(words, [WORDS, 3], is_sparse=sparse, param_attr=pm.ParamAttr(name="wide"))
    deep = pm.layers.embedding(pm.layers.cast(more, "int64"), [WORDS, 5], is_sparse=sparse, param_attr=pm.ParamAttr(name="deep"))
    hidden = pm.layers.fc(pm.layers.reshape(deep, [-1, 10]), 6, act="tanh", param_attr=pm.ParamAttr(name="hidden"))
    logits = pm.layers.reduce_sum(wide, dim=1) + pm.layers.fc(hidden, 3)
    loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
    pm.optimizer.SGD(0.3, parameter_list=["wide"]).minimize(loss)
    rest = [var for var in pm.default_main_program().all_parameters() if var.name != "wide"]
    pm.optimizer.Adam(0.02, parameter_list=rest).minimize(loss)
    trainer = begun()
    random = np.random.RandomState(trainer.number)
    for _ in range(steps):
        trainer.run(
            {
                "words": random.randint(0, WORDS, (8, 4)),
                "label": random.randint(0, 3, (8, 1)),
                "more": random.randint(0, WORDS, (8, 2)).astype("int32"),
            },
            [loss],
        )
    trainer.pull()
    return values()


@pytest.mark.parametrize("servers", [1, 2, 3])
def test_tables_and_two_optimizers(servers, engine):
    expected = alone(wide_and_deep, 9)
    found = pm.cluster.run(wide_and_deep, 1, servers, "sync", engine(), args=(9,)).returned[0]
    for name, value in expected.items():  # a row that is named twice is summed in another order
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-6)


def test_tables_of_several_trainers_move_as_dense_ones(engine):
    one, other = pm.cluster.run(wide_and_deep, 2, 2, "sync", engine(), args=(9,)).returned
    assert_same_bits(one, other)
    expected = pm.cluster.run(wide_and_deep, 2, 2, "sync", engine(), args=(9, False)).returned[0]
    for name, value in expected.items():
        np.testing.assert_allclose(one[name], value, rtol=1e-3, atol=1e-5)


def test_more_servers_than_parameters(engine):
    expected = alone(train, 3, OPTIMIZERS["SGD"])
    assert_same_bits(pm.cluster.run(train, 1, 9, "sync", engine(), args=(3, OPTIMIZERS["SGD"])).returned[0], expected)


def test_a_parameter_of_100_mb(engine):
    def large():
        w = pm.layers.create_parameter([25, 1 << 20], "float32", name="w", default_initializer=pm.initializer.Constant(1.0))
        pm.optimizer.SGD(0.5).minimize(pm.layers.reduce_sum(w))
        trainer = begun()
        trainer.run()
        trainer.pull()
        found = pm.global_scope().get("w")
        return found.nbytes, found.min(), found.max()

    assert pm.cluster.run(large, 1, 2, "sync", engine()).returned == [(100 << 20, 0.5, 0.5)]


def test_a_schedule_goes_by_the_steps_of_the_job(engine):
    def scheduled(steps):
        rate = pm.lr.ExponentialDecay(0.1, 0.9)
        loss = pm.layers.mean(pm.layers.create_parameter([5], "float32"))
        pm.optimizer.SGD(rate).minimize(loss)
        trainer = begun()
        for _ in range(steps):
            trainer.run({}, [])
            rate.step()
        trainer.pull()
        return values()

    assert_same_bits(pm.cluster.run(scheduled, 2, 2, "sync", engine(), args=(5,)).returned[1], alone(scheduled, 5))


def test_a_schedule_that_the_program_computes():
    """The servers compute it, in float64."""
    optimizer = lambda: pm.optimizer.AveragedSGD(0.1, decay=1.0)
    found = pm.cluster.run(train, 1, 2, "sync", args=(7, optimizer)).returned[0]
    for name, value in alone(train, 7, optimizer).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-7)


def test_a_frozen_parameter_is_the_initialisers_and_stays(engine, tmp_path):
    def frozen():
        x = pm.layers.data("x", shape=[-1, 4])
        rest = pm.layers.fc(x, 4, param_attr=pm.ParamAttr(name="rest", trainable=False), bias_attr=False)
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.fc(rest, 2)))
        trainer = begun(ticket(tmp_path))
        before = pm.global_scope().get("rest")
        for _ in range(3):
            trainer.run({"x": np.ones([2, 4], "float32")})
        trainer.pull()
        np.testing.assert_array_equal(pm.global_scope().get("rest"), before)
        return values()

    one, other = pm.cluster.run(frozen, 2, 2, "sync", engine()).returned
    assert_same_bits(one, other)


def test_a_job_leaves_no_thread():
    def nothing():
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.create_parameter([3], "float32")))
        begun()

    before = threads()
    for _ in range(3):
        pm.cluster.run(nothing, 2, 2, "sync")
        assert threads() <= before
