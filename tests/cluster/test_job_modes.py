"""Async, delta and elastic modes, data tasks, and arguments that run() and join() reject."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import ByPasses, alone, batch, begun, classifier, train
from cluster_moments import wait_for
from paddle_mini.cluster import Malformed, NotFinite, StorageError, TrainerFailed
from small_model import assert_same_bits


def sgd():
    return pm.optimizer.SGD(0.1)


def adam():
    return pm.optimizer.Adam(0.01)


@pytest.mark.parametrize("servers", [1, 2])
def test_async_with_one_trainer_is_one_machine(servers, engine):
    found = pm.cluster.run(train, 1, servers, "async", engine(), args=(6, adam)).returned[0]
    assert_same_bits(found, alone(train, 6, adam))


@pytest.mark.parametrize("limit", [None, 0, 0.5])
def test_async_counts_what_it_drops(limit, engine):
    def counted(steps):
        _, _, loss = classifier(lambda loss: sgd().minimize(loss))
        trainer = begun()
        for step in range(steps):
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
        return trainer.counts

    result = pm.cluster.run(counted, 3, 2, "async", engine(), stale_limit=limit, args=(30,))
    counts = result.counts
    assert counts["sent"] == 3 * 30 * 2 == counts["applied"] + counts["dropped"] and counts["lost"] == 0
    for word in ("sent", "applied", "dropped"):
        assert sum(one[word] for one in result.returned) == counts[word]
    if limit is None:
        assert counts["dropped"] == 0


def test_delta_after_each_step_of_sgd_is_gradient_mode(engine):
    expected = alone(train, 6, sgd)
    found = pm.cluster.run(train, 1, 2, "delta", engine(), args=(6, sgd)).returned[0]
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6)


def test_delta_of_local_steps_with_any_optimizer(engine):
    def merged():
        return pm.optimizer.GradientMerge(pm.optimizer.Adam(0.01), 2)

    expected = alone(train, 10, merged)
    result = pm.cluster.run(train, 1, 2, "delta", engine(), local_steps=4, args=(10, merged))
    for name, value in expected.items():
        np.testing.assert_allclose(result.returned[0][name], value, rtol=1e-5, atol=1e-6)
    assert result.counts["applied"] == 3 * 2  # after 4, 8, and the rest at the end


def one_parameter(mode, engine, folder, targets, steps=4, rate=0.25, **settings):
    """Each trainer moves by SGD from 0 towards its own target, in turn: the values of each after each of its steps, and
    the servers' values at the end."""
    (folder / "turn 0").touch()

    def train():
        w = pm.layers.create_parameter([1], "float64", name="w", default_initializer=pm.initializer.Constant(0.0))
        target = pm.layers.data("target", [1], dtype="float64")
        sgd = pm.optimizer.SGD(rate)
        sgd.minimize(pm.layers.mean(pm.layers.square(w - target)) * 0.5)
        trainer, scope, seen = begun(), pm.global_scope(), []
        for turn in itertools.islice(itertools.count(trainer.number, len(targets)), steps):
            wait_for(folder / f"turn {turn}")
            trainer.run({"target": np.array([targets[trainer.number]])})
            seen.append(scope.get("w").item())
            (folder / f"turn {turn + 1}").touch()
        wait_for(folder / f"turn {len(targets) * steps}")  # a trainer that leaves earlier increases the others' share
        return seen

    return pm.cluster.run(train, len(targets), 1, mode, engine, **settings).returned


def test_delta_moves_the_center_by_the_mean(engine, tmp_path):
    center, expected, begun_from = 0.0, [[], []], [None, None]
    for _ in range(4):
        for number, target in enumerate([1.0, 3.0]):
            begin = center if begun_from[number] is None else begun_from[number]
            center += (0.25 * (target - begin)) / 2
            begun_from[number] = center
            expected[number].append(center)
    np.testing.assert_allclose(one_parameter("delta", engine(), tmp_path, [1.0, 3.0]), expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", [None, 0.3])
def test_elastic_formulas(alpha, engine, tmp_path):
    share = 0.45 if alpha is None else alpha
    center, local, expected = 0.0, [None, None], [[], []]
    for _ in range(4):
        for number, target in enumerate([1.0, 3.0]):
            begin = center if local[number] is None else local[number]
            stepped = begin + 0.25 * (target - begin)
            difference = stepped - center
            center, local[number] = center + share * difference, stepped - share * difference
            expected[number].append(local[number])
    found = one_parameter("elastic", engine(), tmp_path, [1.0, 3.0], alpha=alpha)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def read(chunks, passes, mode="async", **settings):
    """The data that each trainer reads when it trains on it."""

    def trained():
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.create_parameter([3], "float32")))
        trainer, seen = begun(), []
        for chunk in trainer.batches(chunks, 2, passes):
            trainer.run()
            seen.append(chunk)
        return seen

    return trained if mode is None else pm.cluster.run(trained, mode=mode, **settings).returned


@pytest.mark.parametrize("mode", ["async", "sync", "delta"])
def test_each_chunk_is_read_once_a_pass(mode, engine):
    seen = read(list(range(17)), 2, mode, trainers=3, servers=2, engine=engine())
    assert sorted(sum(seen, [])) == sorted([*range(17)] * 2)


def test_one_trainer_reads_chunks_in_their_order():
    for mode in ("async", "sync", "delta"):
        assert read(list(range(17)), 2, mode, servers=2) == [[*range(17)] * 2]


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_learning_rates_that_go_by_passes(mode, engine):
    """batches() returns the pass; a pushed gradient uses the rate of its own pass, at all servers."""

    def trained():
        names = ["a", "b"]
        zeros = pm.initializer.Constant(0.0)
        a, b = (pm.layers.create_parameter([3], "float32", name=name, default_initializer=zeros) for name in names)
        pm.optimizer.SGD(ByPasses()).minimize(pm.layers.reduce_sum(a) + pm.layers.reduce_sum(b))
        trainer = begun()
        for _ in trainer.batches(list(range(4)), 2, passes=2):
            trainer.run()
        trainer.set_pass(2)
        trainer.run()
        trainer.pull()
        with pytest.raises(Malformed, match="pass -1"):
            trainer.set_pass(-1)
        return [pm.global_scope().get(name).tolist() for name in names]

    found = pm.cluster.run(trained, 1, 2, mode, engine()).returned[0]
    assert found == [[-4 * 1.0 - 4 * 0.5 - 0.25] * 3] * 2


def test_alone_the_same_script_reads_and_trains():
    assert alone(read([1, "two", [3]], 2, None)) == [1, "two", [3]] * 2


def test_a_gradient_that_is_not_finite_changes_nothing_and_is_told(engine):
    def poisoned():
        x = pm.layers.data("x", [1])
        w = pm.layers.create_parameter([1], "float32", name="w", default_initializer=pm.initializer.Constant(1.0))
        pm.optimizer.SGD(0.5).minimize(pm.layers.mean(w * x))
        trainer = begun()
        with pytest.raises(NotFinite, match="'w': none of it is applied"):
            trainer.run({"x": np.array([np.nan], "float32")})
        trainer.run({"x": np.array([1], "float32")})
        trainer.pull()
        return pm.global_scope().get("w").item()

    for mode in ("async", "sync"):
        result = pm.cluster.run(poisoned, 1, 1, mode, engine())
        assert result.returned == [0.5] and result.counts["sent"] == 1


def test_what_a_trainer_raises_is_raised_with_where_it_is_from(engine):
    def fails():
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.create_parameter([3], "float32")))
        trainer = begun()
        if trainer.number == 1:
            raise ValueError("no such file: data.txt")
        for _ in range(10**6):
            trainer.run()

    for mode in ("sync", "async"):
        with pytest.raises(TrainerFailed, match=r"trainer 1: ValueError: no such file: data.txt") as caught:
            pm.cluster.run(fails, 3, 2, mode, engine())
        assert isinstance(caught.value.__cause__, ValueError)


def test_what_servers_can_not_do_is_told_before_training(engine):
    def merged():
        return pm.optimizer.GradientMerge(pm.optimizer.SGD(0.1), 2)

    with pytest.raises(TrainerFailed, match="GradientMerge is more than one step a gradient"):
        pm.cluster.run(train, 2, 1, "async", engine(), args=(1, merged))

    def table():
        ids = pm.layers.data("ids", [-1, 1], dtype="int64")
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.embedding(ids, [9, 2], is_sparse=True)))
        begun()

    with pytest.raises(TrainerFailed, match="'embedding_0.w_0' is a table with a sparse gradient"):
        pm.cluster.run(table, 1, 1, "delta", engine())

    def twice():
        classifier(lambda loss: sgd().minimize(loss))
        begun()
        pm.cluster.join()

    with pytest.raises(TrainerFailed, match="join.. was called before"):
        pm.cluster.run(twice, engine=engine())


@pytest.mark.parametrize("mode", ["async", "delta"])
def test_a_program_without_an_optimizer(mode):
    def nothing():
        pm.layers.create_parameter([3], "float32")
        begun()

    with pytest.raises(TrainerFailed, match=r"ProgramError: .*call minimize\(\) first"):
        pm.cluster.run(nothing, mode=mode)


def test_a_directory_has_one_job_at_a_time(engine, tmp_path):
    def meanwhile():
        with ThreadPoolExecutor() as pool, pytest.raises(StorageError, match="a job runs in"):
            pool.submit(pm.cluster.run, train, directory=tmp_path, args=(1, sgd)).result()
        with pytest.raises(Malformed, match=r"trainer 0 of a job can't run\(\) another job"):
            pm.cluster.run(train, args=(1, sgd))
        return True

    assert pm.cluster.run(meanwhile, engine=engine(), directory=tmp_path).returned == [True]
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="can't use"):
        pm.cluster.run(train, directory=tmp_path / "file" / "below")
    with pytest.raises(pm.cluster.WrongJob, match="give each job its own directory"):
        pm.cluster.run(train, engine=engine(), directory=tmp_path, job="other", args=(1, sgd))


def test_a_job_goes_on_where_the_one_before_ended(engine, tmp_path):
    expected = alone(train, 4, adam)
    pm.cluster.run(train, 1, 2, "sync", engine(), tmp_path, args=(4, adam))
    assert_same_bits(pm.cluster.run(train, 1, 2, "sync", engine(), tmp_path, args=(0, adam)).returned[0], expected)
    further = pm.cluster.run(train, 1, 2, "sync", engine(), tmp_path, args=(4, adam))
    assert [one["version"] for one in further.servers] == [8, 8]


def test_a_job_goes_on_with_the_optimizer_that_it_was_begun_with(tmp_path, caplog):
    def last(folder, *optimizers):
        return [
            pm.cluster.run(train, 1, 2, "sync", directory=tmp_path / folder, args=(1, optimizer)).returned[0]
            for optimizer in optimizers
        ][-1]

    expected = last("same", adam, adam)
    assert caplog.messages == []
    assert_same_bits(last("other", adam, lambda: pm.optimizer.SGD(0.1)), expected)
    assert caplog.messages == [
        "trainer 0: the job continues with the optimizer that it was started with, which is not this program's, for "
        "fc_0.b_0, fc_0.w_0, fc_1.b_0, fc_1.w_0: to start over, use a new directory"
    ]
