"""Trainer.steps(): in mode async the exchange continues while the trainer computes, and sends the mean of several gradients."""

import threading

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import alone, batch, begun, classifier, train
from live_threads import threads
from paddle_mini.cluster import Malformed, NotFinite, TrainerFailed
from paddle_mini.cluster.protocol import EndTasks
from paddle_mini.cluster.thread_engine import ThreadEngine
from paddle_mini.cluster.trainers.gradient_step import GradientStep
from paddle_mini.cluster.trainers.steps_ahead import mean_of
from paddle_mini.cluster.trainers.trainer_process import TrainerProcess
from small_model import assert_same_bits

RATE, WORDS, WIDTH = 0.5, 12, 3
BATCHES = 10


def quadratic():
    """0.5 (w - target)^2 and, of a table, 0.5 |rows - target|^2 of the rows that a batch names, summed; loss and trainer."""
    target = pm.layers.data("target", [1], dtype="float64")
    ids = pm.layers.data("ids", [-1, 1], dtype="int64")
    w = pm.layers.create_parameter([1], "float64", name="w", default_initializer=pm.initializer.Constant(0.0))
    zeros = pm.ParamAttr(name="table", initializer=pm.initializer.Constant(0.0))
    rows = pm.layers.embedding(ids, [WORDS, WIDTH], is_sparse=True, param_attr=zeros, dtype="float64")
    both = [pm.layers.reduce_sum(pm.layers.square(one - target)) for one in (w, rows)]
    loss = (both[0] + both[1]) * 0.5
    pm.optimizer.SGD(RATE).minimize(loss)
    return loss, begun()


def feeds():
    draw = np.random.RandomState(5)
    return [{"target": draw.randn(1), "ids": draw.randint(0, WORDS, (4, 1))} for _ in range(BATCHES)]


def trained(merged):
    loss, trainer = quadratic()
    losses = [result[0].item() for result in trainer.steps(feeds(), [loss], merged)]
    trainer.pull()
    return losses, [pm.global_scope().get(name) for name in ("w", "table")], dict(trainer.counts)


def by_definition(merged):
    """The losses, w and the table: group n has the gradients of the groups up to n - 2."""
    groups = [feeds()[begin : begin + merged] for begin in range(0, BATCHES, merged)]
    w, table, losses, waiting = np.zeros(1), np.zeros((WORDS, WIDTH)), [], []
    for group in groups:
        for one in waiting[:-1]:
            w, table = w - RATE * one[0], table - RATE * one[1]
        waiting = waiting[-1:]
        of_w, of_table = np.zeros_like(w), np.zeros_like(table)
        for feed in group:
            differences = table[feed["ids"].ravel()] - feed["target"]
            losses.append(((w - feed["target"]) ** 2).sum() / 2 + (differences**2).sum() / 2)
            of_w += (w - feed["target"]) / len(group)
            np.add.at(of_table, feed["ids"].ravel(), differences / len(group))
        waiting.append((of_w, of_table))
    for one in waiting:
        w, table = w - RATE * one[0], table - RATE * one[1]
    return losses, [w, table]


@pytest.mark.parametrize("merged", [1, 2, 3, 20])
@pytest.mark.parametrize("servers", [1, 3])
def test_each_group_lacks_the_one_before(merged, servers, engine):
    result = pm.cluster.run(trained, 1, servers, "async", engine(), args=[merged])
    losses, values, counts = result.returned[0]
    expected_losses, expected = by_definition(merged)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-12)
    for found, right in zip(values, expected):
        np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-15)
    assert counts == {"sent": result.counts["sent"], "applied": result.counts["applied"], "dropped": 0}
    assert counts["sent"] == counts["applied"] >= -(-BATCHES // merged)


def test_messages_go_while_the_trainer_computes(monkeypatch):
    """Each exchange after the first waits until the trainer computes the group before it: without that, it would wait for
    ever."""
    computes, exchange, compute, seen = threading.Semaphore(0), TrainerProcess.exchange, GradientStep.compute, []

    def waiting(self, names, rows, pushes=None):
        if names and seen:
            assert computes.acquire(timeout=60)
        seen.append(threading.current_thread().name)
        return exchange(self, names, rows, pushes)

    def computing(self, *rest):
        computes.release()
        return compute(self, *rest)

    monkeypatch.setattr(TrainerProcess, "exchange", waiting)
    monkeypatch.setattr(GradientStep, "compute", computing)
    before = threads()
    losses, _, _ = pm.cluster.run(trained, args=[2]).returned[0]
    assert len(losses) == BATCHES and len(seen) >= BATCHES // 2
    assert threads() <= before


@pytest.mark.parametrize("mode", ["sync", "delta"])
def test_other_modes_make_one_step_after_another(mode):
    def steps(steps_of_trainer):
        _, _, loss = classifier(lambda loss: pm.optimizer.Adam(0.01).minimize(loss))
        trainer = begun()
        for _ in steps_of_trainer(trainer, [batch(8 * step, 8 * step + 8) for step in range(6)], loss):
            pass
        trainer.pull()
        return {one.name: pm.global_scope().get(one.name) for one in pm.default_main_program().all_parameters()}

    ahead = lambda trainer, some, loss: trainer.steps(some, [loss], merged=4)
    found = pm.cluster.run(steps, 1, 2, mode, args=[ahead]).returned[0]
    expected = alone(train, 6, lambda: pm.optimizer.Adam(0.01))
    assert_same_bits(alone(steps, ahead), expected)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("limit", "dropped"), [(0, 2), (1, 0)])
def test_a_push_is_as_old_as_the_parameters_of_its_group(limit, dropped):
    """The second and the fourth of 5 groups are computed from parameters that lack a push which was not dropped."""
    result = pm.cluster.run(trained, 1, 1, "async", stale_limit=limit, args=[2])
    assert [result.counts[word] for word in ("sent", "applied", "dropped")] == [5, 5 - dropped, dropped]


def test_chunks_are_reported_when_their_gradients_are_applied(monkeypatch):
    """Chunks that a lost trainer had read and not computed go to another one."""
    reported, request = [], pm.cluster.trainers.membership.Membership.request

    def seen(self, kind, **fields):
        if kind is EndTasks:
            reported.append((len(fields["tasks"]), engine._served["server 0"].service.server.progress()[0]))
        return request(self, kind, **fields)

    monkeypatch.setattr(pm.cluster.trainers.membership.Membership, "request", seen)
    engine = ThreadEngine()

    def reads():
        loss, trainer = quadratic()
        some = feeds()
        made = trainer.steps((some[chunk] for chunk in trainer.batches(list(range(BATCHES)), passes=2)), [loss], merged=3)
        return len(list(made))

    result = pm.cluster.run(reads, 1, 1, engine=engine)
    assert result.returned == [2 * BATCHES]
    done = 0
    for tasks, version in reported:
        done += tasks
        assert version >= -(-done // 3), "of each three chunks there is a push at least"
    assert done == 2 * BATCHES


def test_stopping_early_makes_no_step_of_what_was_read():
    def stops():
        loss, trainer = quadratic()
        steps = trainer.steps(feeds(), [loss], merged=2)
        for _ in range(3):
            next(steps)
        steps.close()
        trainer.pull()
        trainer.run(feeds()[0], [loss])
        trainer.pull()
        return trainer.counts["applied"]

    before = threads()
    result = pm.cluster.run(stops, 1, 1)
    assert result.returned == [3], "two groups were computed, and one batch after them"
    assert threads() <= before


def test_a_batch_that_is_refused_leaves_those_before_it():
    def fails():
        loss, trainer = quadratic()
        some = feeds()[:6]
        some[3] = {**some[3], "target": np.zeros(2)}
        steps, made = trainer.steps(some, [loss], merged=2), 0
        with pytest.raises(pm.ShapeError):
            for _ in steps:
                made += 1
        trainer.pull()
        return made, dict(trainer.counts)

    result = pm.cluster.run(fails, 1, 1)
    assert result.returned == [(2, {"sent": 2, "applied": 2, "dropped": 0})]


def test_a_gradient_that_is_not_finite_is_an_error():
    def fails():
        loss, trainer = quadratic()
        some = feeds()
        some[0] = {**some[0], "target": np.array([np.nan])}
        for _ in trainer.steps(some, [loss]):
            pass

    with pytest.raises(TrainerFailed) as caught:
        pm.cluster.run(fails, 1, 1)
    assert isinstance(caught.value.__cause__, NotFinite)


def test_one_dictionary_may_be_filled_for_each_batch():
    def trains(is_one):
        def filled():
            feed = {}
            for one in feeds():
                feed.update(one)
                yield feed

        loss, trainer = quadratic()
        return [result[0].item() for result in trainer.steps(filled() if is_one else feeds(), [loss], merged=3)]

    assert pm.cluster.run(trains, args=(True,)).returned == pm.cluster.run(trains, args=(False,)).returned


@pytest.mark.parametrize("merged", [0, -1, 1.0, True, "2"])
def test_a_number_of_merged_batches_is_checked_before_anything_is_read(merged):
    def tries():
        loss, trainer = quadratic()
        unread = iter(feeds())
        with pytest.raises(Malformed, match="merged is .*, it must be an integer, at least 1"):
            trainer.steps(unread, [loss], merged)
        return len(list(unread))

    assert pm.cluster.run(tries).returned == [alone(tries)] == [BATCHES]


def test_the_mean_keeps_the_gradients():
    some = [
        {"w": np.full(3, number, "float32"), "t": (np.array([number]), np.full((1, 2), number, "float32"))} for number in (1, 3)
    ]
    mean = mean_of(some)
    np.testing.assert_array_equal(mean["w"], np.full(3, 2, "float32"))
    assert mean["t"][0].tolist() == [1, 3] and mean["t"][1].tolist() == [[0.5, 0.5], [1.5, 1.5]]
    assert some[0]["w"].tolist() == [1, 1, 1] and some[1]["t"][1].tolist() == [[3, 3]]
    assert mean["w"].dtype == mean["t"][1].dtype == np.float32
    assert mean_of(some[:1]) is some[0]
