"""Saving in a job: one trainer is elected, the model loads on one machine, averages are saved, training is not affected."""

import os
import threading

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import INPUTS, alone, batch, begun, classifier, values
from cluster_moments import ticket
from paddle_mini.cluster import Malformed, TrainerFailed
from paddle_mini.cluster.trainers import saving as saving_module
from paddle_mini.io.model_in_pieces import write_model_in_pieces
from small_model import assert_same_bits


def averaged():
    return pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.02), pm.averaging.Uniform())


def saving(optimizer, directory, steps=5):
    """Trains, saves and continues; returns the directory, facts about the model at that time, and the parameters."""
    x, logits, loss = classifier(lambda loss: optimizer().minimize(loss))
    trainer = begun()
    for step in range(steps):
        trainer.run(batch(8 * step, 8 * step + 8), [loss])
    path = pm.cluster.save_model(directory, [x], [logits])
    trainer.pull()
    saved = values()
    for step in range(steps):
        trainer.run(batch(8 * step, 8 * step + 8), [loss])
    trainer.pull()
    return path, saved, values()


def load(path):
    """A model's parameters, and its outputs for some rows."""
    with pm.scope_guard(pm.Scope()):
        exe = pm.Executor()
        program, feeds, fetches = pm.io.load_inference_model(os.path.join(path, "model"), exe)
        rows = np.random.RandomState(1).randn(5, INPUTS).astype("float32")
        (out,) = exe.run(program, {feeds[0]: rows}, fetches)
        return {name: pm.global_scope().get(name) for name in pm.global_scope().names()}, out


@pytest.mark.parametrize("mode", ["sync", "async", "delta"])
def test_one_is_elected_and_its_model_is_the_servers_values(mode, engine, tmp_path):
    def sgd():
        return pm.optimizer.SGD(0.1)

    result = pm.cluster.run(saving, 3, 2, mode, engine(), args=(sgd, tmp_path / "models"))
    paths = [path for path, _, _ in result.returned if path is not None]
    number = int(os.path.basename(paths[0]))
    assert len(paths) == 1 and os.listdir(tmp_path / "models") == [str(number)]
    found, out = load(paths[0])
    assert out.shape == (5, 3) and np.isfinite(out).all()
    if mode == "sync":
        assert_same_bits(found, result.returned[number][1])


def test_averages_are_saved_and_training_is_as_without_saving(engine, tmp_path):
    result = pm.cluster.run(saving, 1, 2, "sync", engine(), args=(averaged, tmp_path / "job"))
    path, saved, end = result.returned[0]
    own_path, own_saved, own_end = alone(saving, averaged, tmp_path / "alone")
    assert (os.path.basename(path), os.path.basename(own_path)) == ("0", "0")
    assert_same_bits(end, own_end)
    assert_same_bits(saved, own_saved)
    found, out = load(path)
    expected, own_out = load(own_path)
    assert_same_bits(found, expected)
    np.testing.assert_array_equal(out, own_out)
    assert any(found[name].tobytes() != saved[name].tobytes() for name in found)


def test_a_table_is_saved_with_all_rows(engine, tmp_path):
    def table():
        ids = pm.layers.data("ids", [-1, 1], dtype="int64")
        attr = pm.ParamAttr(name="table", initializer=pm.initializer.Constant(0.0))
        looked_up = pm.layers.embedding(ids, [30, 2], is_sparse=True, param_attr=attr)
        pm.optimizer.SGD(1.0).minimize(pm.layers.reduce_sum(looked_up))
        trainer = begun()
        for row in range(10):
            trainer.run({"ids": np.array([[10 * trainer.number + row]])})
        trainer.pull()  # in sync mode both have trained on all rows then
        return pm.cluster.save_model(tmp_path, [ids], [looked_up])

    paths = [path for path in pm.cluster.run(table, 2, 2, "sync", engine()).returned if path]
    with pm.scope_guard(pm.Scope()):
        pm.io.load_inference_model(os.path.join(paths[0], "model"), pm.Executor())
        found = pm.global_scope().get("table")
    np.testing.assert_array_equal(found, np.repeat([[-0.5, -0.5], [0.0, 0.0]], [20, 10], axis=0))


def test_a_frozen_parameter_is_saved_as_it_is(engine, tmp_path):
    def frozen():
        x = pm.layers.data("x", shape=[-1, 4])
        rest = pm.layers.fc(x, 4, param_attr=pm.ParamAttr(name="rest", trainable=False), bias_attr=False)
        out = pm.layers.fc(rest, 2)
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(out))
        trainer = begun(ticket(tmp_path))
        before = pm.global_scope().get("rest")
        trainer.run({"x": np.ones([2, 4], "float32")})
        pm.cluster.save_model(tmp_path / "models", [x], [out])
        return before, pm.global_scope().get("rest")

    result = pm.cluster.run(frozen, 2, 2, "async", engine())
    (number,) = os.listdir(tmp_path / "models")
    with pm.scope_guard(pm.Scope()):
        pm.io.load_inference_model(str(tmp_path / "models" / number / "model"), pm.Executor())
        found = pm.global_scope().get("rest")
    for value in np.concatenate(result.returned):
        np.testing.assert_array_equal(value, found)


def test_the_others_train_while_one_saves_and_saving_runs_nothing(tmp_path, monkeypatch):
    """On threads, where the test can block the saver."""
    go_on, runs = threading.Event(), []
    run = pm.Executor.run

    def held_up(*arguments, **more):
        assert go_on.wait(30)
        write_model_in_pieces(*arguments, **more)

    def counted(self, *arguments, **more):
        runs.append(threading.current_thread().name)
        return run(self, *arguments, **more)

    def two_ways():
        x, logits, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        if trainer.number == 0:
            before = runs.count("trainer 0")
            pm.cluster.save_model(tmp_path, [x], [logits])
            return runs.count("trainer 0") - before
        for step in range(20):
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
        go_on.set()
        return None

    monkeypatch.setattr(pm.Executor, "run", counted)
    monkeypatch.setattr(saving_module, "write_model_in_pieces", held_up)
    result = pm.cluster.run(two_ways, 2, 2)
    assert result.returned == [0, None] and result.counts["applied"] == 20 * 2
    assert load(tmp_path / "0")[1].shape == (5, 3)


def test_what_saving_meets_reaches_who_saves(engine, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(pm.cluster.TrainerFailed, match="trainer 0: StorageError: can't save to"):
        pm.cluster.run(saving, 1, 1, "async", engine(), args=(averaged, tmp_path / "file"))

    def never_joined():
        with pytest.raises(Malformed, match="call join.. first"):
            pm.cluster.save_model(tmp_path, [], [])
        return True

    assert pm.cluster.run(never_joined, engine=engine()).returned == [True]


def averaged_below():
    """Averages inside of other wrappers."""
    return pm.amp.decorate(averaged(), dtype="bfloat16")


def averaged_below_scaling():
    return pm.optimizer.LossScaling(averaged(), init_loss_scaling=8.0)


def averaged_merged():
    return pm.optimizer.ParameterAverage(pm.optimizer.GradientMerge(pm.optimizer.SGD(0.1), 2), pm.averaging.Uniform())


@pytest.mark.parametrize(
    "mode, optimizer",
    [
        (None, averaged_below),
        ("async", averaged_below),
        ("delta", averaged_below),
        ("collective", averaged_below),
        (None, averaged_below_scaling),
        ("delta", averaged_below_scaling),
        ("collective", averaged_below_scaling),
        ("collective", averaged_merged),
    ],
)
def test_averages_below_other_wrappers_are_saved(mode, optimizer, tmp_path):
    args = (optimizer, tmp_path)
    path, saved, _ = alone(saving, *args) if mode is None else pm.cluster.run(saving, mode=mode, args=args).returned[0]
    found, _ = load(path)
    assert all(found[name].tobytes() != saved[name].tobytes() for name in found)


def test_averages_that_servers_can_not_keep_in_mode_delta():
    def free():
        return pm.amp.decorate(pm.optimizer.ScheduleFree(pm.optimizer.SGD(0.1)))

    for optimizer, problem in ((averaged_merged, "take local_steps in its place"), (free, "does not have its average")):
        with pytest.raises(TrainerFailed, match=rf"{problem}\n  added at .*test_job_saving.py:.*minimize"):
            pm.cluster.run(saving, mode="delta", args=(optimizer, "models"))


def test_what_is_no_folder_or_no_list():
    def saves(directory, feeds, fetches):
        x, logits, _ = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        begun()
        given = {"x": x, "[x]": [x], "[logits]": [logits], "logits": logits}
        pm.cluster.save_model(directory, given[feeds], given[fetches])

    for run in (alone, lambda function, *args: pm.cluster.run(function, args=args)):
        with pytest.raises(pm.Error, match="'s3://bucket/models' is an object store"):
            run(saves, "s3://bucket/models", "[x]", "[logits]")
        with pytest.raises(pm.Error, match="feed_vars must be a list, not Variable"):
            run(saves, "models", "x", "[logits]")
        with pytest.raises(pm.Error, match="fetch_vars must be a list, not Variable"):
            run(saves, "models", "[x]", "logits")


@pytest.mark.parametrize("mode", ["async", "sync", "delta", "collective"])
def test_statistics_of_batch_normalization_are_the_trainers(mode, tmp_path):
    """In the saved model, and after pull()."""

    def normalizes():
        x = pm.layers.data("x", [-1, INPUTS])
        out = pm.layers.fc(pm.layers.batch_norm(pm.layers.fc(x, 3)), 2)
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(out))
        trainer = begun()
        for step in range(4):
            trainer.run({"x": batch(8 * step, 8 * step + 8)["x"]})
        names = ["batch_norm_0.w_1", "batch_norm_0.w_2"]
        before = [pm.global_scope().get(name) for name in names]
        path = pm.cluster.save_model(tmp_path, [x], [out])
        trainer.pull()
        saved, _ = load(path)
        return before, [saved[name] for name in names], [pm.global_scope().get(name) for name in names]

    ((before, saved, after),) = pm.cluster.run(normalizes, mode=mode).returned
    np.testing.assert_array_equal(before, saved)
    np.testing.assert_array_equal(before, after)
    assert not np.array_equal(before, [np.zeros(3), np.ones(3)])
