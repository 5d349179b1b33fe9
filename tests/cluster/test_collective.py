"""Collective mode on threads: the bits of all trainers are the same, and those of one big batch; rejected settings."""

import os
import threading
import time

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import INPUTS, alone, batch, begun, classifier, everything, train
from paddle_mini.cluster import Malformed, TrainerFailed
from paddle_mini.cluster.protocol import GetJobStatus
from small_model import assert_same_bits

OPTIMIZERS = {
    "SGD": lambda: pm.optimizer.SGD(0.1),
    "Momentum": lambda: pm.optimizer.Momentum(0.05, 0.9, use_nesterov=True),
    "Adam": lambda: pm.optimizer.Adam(0.01),
    "averages": lambda: pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), pm.averaging.Uniform()),
    "clip by global norm": lambda: pm.optimizer.Momentum(
        0.05, 0.9, regularization=0.01, grad_clip=pm.clip.GradientClipByGlobalNorm(0.05)
    ),
    "Lamb": lambda: pm.optimizer.Lamb(0.01),
    "GradientMerge": lambda: pm.optimizer.GradientMerge(pm.optimizer.Adam(0.01), 2),
    "LossScaling": lambda: pm.optimizer.LossScaling(pm.optimizer.SGD(0.1), incr_every_n_steps=2),
    "Lookahead": lambda: pm.optimizer.Lookahead(pm.optimizer.SGD(0.1), k=2),
    "ScheduleFree": lambda: pm.optimizer.ScheduleFree(pm.optimizer.SGD(0.1)),
}


def trained(steps, optimizer, size, share=1):
    """Like train() of cluster_jobs; returns all persistable values."""
    train(steps, optimizer, size, share)
    return everything()


def dpsgd():
    return pm.optimizer.Dpsgd(0.1, clip=1.0, batch_size=8.0, sigma=0.1)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_one_trainer_gets_the_bits_of_one_machine(name):
    expected = alone(trained, 5, OPTIMIZERS[name], 24)
    result = pm.cluster.run(trained, 1, mode="collective", args=(5, OPTIMIZERS[name], 24))
    assert_same_bits(result.returned[0], expected)
    assert result.counts == {"sent": 5, "applied": 5, "dropped": 0, "repeated": 0, "lost": 0}


@pytest.mark.parametrize("trainers", [2, 3, 4])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_trainers_together_make_one_big_batch(name, trainers):
    expected = alone(trained, 6, OPTIMIZERS[name], 24)
    result = pm.cluster.run(trained, trainers, mode="collective", args=(6, OPTIMIZERS[name], 24, trainers))
    for one in result.returned:
        assert_same_bits(one, result.returned[0])
    for key, value in expected.items():
        np.testing.assert_allclose(result.returned[0][key], value, rtol=2e-3, atol=2e-5)
    assert result.servers == [] and result.counts["sent"] == result.counts["applied"] == 6 * trainers


def test_an_optimizer_that_draws_numbers_draws_the_same_everywhere():
    def drawing():
        x = pm.layers.dropout(pm.layers.data("x", shape=[-1, INPUTS]), 0.5)
        dpsgd().minimize(pm.layers.mean(pm.layers.fc(x, 3)))
        exe = pm.Executor()
        exe.run(pm.default_startup_program())
        trainer = pm.cluster.join(exe=exe)
        for step in range(4):
            trainer.run({"x": batch(8 * step, 8 * step + 4 + trainer.number)["x"]})  # each draws its own dropout
        return everything()

    one, other = pm.cluster.run(drawing, 2, mode="collective").returned
    assert_same_bits(one, other)
    assert all(np.isfinite(value).all() for value in one.values())


def test_two_optimizers_two_dtypes_and_a_schedule():
    def two(steps, share=1):
        rate = pm.lr.ExponentialDecay(0.1, 0.5)
        x = pm.layers.data("x", shape=[-1, 4], dtype="float64")
        hidden = pm.layers.fc(x, 3, act="tanh", param_attr=pm.ParamAttr(name="a"), bias_attr=False)
        single = pm.layers.cast(hidden, "float32")
        loss = pm.layers.mean(pm.layers.square(pm.layers.fc(single, 2, param_attr=pm.ParamAttr(name="b"))))
        pm.optimizer.SGD(rate, parameter_list=["a"]).minimize(loss)
        rest = [var for var in pm.default_main_program().all_parameters() if var.name != "a"]
        pm.optimizer.Adam(0.02, parameter_list=rest).minimize(loss)
        trainer = begun()
        rows = np.random.RandomState(1).randn(steps, 8, 4)
        for step in range(steps):
            part = 8 // share
            trainer.run({"x": rows[step, part * trainer.number : part * (trainer.number + 1)]}, [loss])
            rate.step()
        return everything()

    expected = alone(two, 5)
    results = pm.cluster.run(two, 2, mode="collective", args=(5, 2)).returned
    assert_same_bits(results[1], results[0])
    for key, value in expected.items():
        np.testing.assert_allclose(results[0][key], value, rtol=1e-5, atol=1e-7)


def test_all_begin_with_the_state_of_one():
    """Also with its batch normalization's statistics, which differ between trainers from then on."""

    def normal(steps):
        x = pm.layers.data("x", shape=[-1, INPUTS])
        normal = pm.layers.batch_norm(x, moving_mean_name="mean", moving_variance_name="variance")
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.square(pm.layers.fc(normal, 3))))
        exe = pm.Executor()
        exe.run(pm.default_startup_program())  # each draws its own numbers
        trainer = pm.cluster.join(exe=exe)
        begin = everything()
        for step in range(steps):
            trainer.run({"x": trainer.number + batch(8 * step, 8 * step + 8)["x"]})
        return begin, everything()

    (begin, end), (other_begin, other_end) = pm.cluster.run(normal, 2, mode="collective", args=(3,)).returned
    assert_same_bits(begin, other_begin)
    own = {"mean", "variance"}
    for name in end:
        assert (end[name].tobytes() == other_end[name].tobytes()) == (name not in own), name
    assert all(end[name].tobytes() != begin[name].tobytes() for name in ("mean", "fc_0.w_0", "fc_0.b_0"))


def test_fetches_of_model_and_optimizer_come_in_their_order():
    def fetching():
        _, logits, loss = classifier(lambda loss: pm.optimizer.Momentum(0.1, 0.9).minimize(loss))
        parameter = pm.default_main_program().all_parameters()[0]
        trainer = begun()
        changed, first, same, value = trainer.run(batch(0, 8), [parameter, loss, parameter, logits])
        np.testing.assert_array_equal(changed, same)
        np.testing.assert_array_equal(changed, pm.global_scope().get(parameter.name))
        return first.shape, value.shape

    assert pm.cluster.run(fetching, 2, mode="collective").returned == [(alone(fetching))] * 2


def poisoned(steps, optimizer, step_id, by):
    """Trains; at a step the rows of these trainers contain a NaN. Returns the error messages."""
    _, _, loss = classifier(lambda loss: optimizer().minimize(loss))
    trainer, told = begun(), []
    for step in range(steps):
        feed = batch(16 * step + 8 * trainer.number, 16 * step + 8 * trainer.number + 8)
        before = everything()
        if step == step_id and trainer.number in by:
            feed["x"][0, 0] = np.nan
        try:
            trainer.run(feed, [loss])
        except pm.cluster.NotFinite as error:
            told.append((step, str(error)))
            if set(by) == set(range(trainer.trainers)):
                assert_same_bits(everything(), before)
    return everything(), told


def test_a_step_is_made_without_a_gradient_that_is_not_finite():
    (one, told), (other, not_told) = pm.cluster.run(poisoned, 2, mode="collective", args=(5, OPTIMIZERS["Adam"], 2, [1])).returned
    assert_same_bits(other, one)
    assert told == [] and len(not_told) == 1 and all(np.isfinite(value).all() for value in one.values())
    step, text = not_told[0]
    assert step == 2 and "step 2 is not finite in 'fc_0" in text and text.endswith("the others' gradients")


@pytest.mark.parametrize("trainers", [1, 2])
def test_where_no_gradient_is_finite_nothing_changes(trainers):
    returned = pm.cluster.run(
        poisoned, trainers, mode="collective", args=(4, OPTIMIZERS["Momentum"], 1, list(range(trainers)))
    ).returned
    for values, told in returned:
        assert_same_bits(values, returned[0][0])
        assert [step for step, _ in told] == [1]


def test_loss_scaling_sees_what_is_not_finite_on_all_trainers():
    def scaling():
        return pm.optimizer.LossScaling(pm.optimizer.SGD(0.1), init_loss_scaling=8.0, decr_every_n_nan_or_inf=1)

    (one, told), (other, not_told) = pm.cluster.run(poisoned, 2, mode="collective", args=(3, scaling, 1, [1])).returned
    assert_same_bits(other, one)
    assert told == not_told == []
    scale = next(value for name, value in one.items() if name.startswith("loss_scaling"))
    assert scale < 8.0 and all(np.isfinite(value).all() for value in one.values())


def test_chunks_go_to_one_trainer_each_and_all_end_with_the_same_bits():
    def reading(chunks):
        _, _, loss = classifier(lambda loss: pm.optimizer.Adam(0.01).minimize(loss))
        trainer, seen = begun(), []
        for chunk in trainer.batches(list(range(chunks)), chunks_per_task=2, passes=2):
            trainer.run(batch(8 * chunk, 8 * chunk + 8), [loss])
            seen.append(chunk)
        trainer.pull()
        return everything(), seen

    for chunks in (1, 7, 11):
        returned = pm.cluster.run(reading, 3, mode="collective", args=(chunks,)).returned
        assert sorted(sum((seen for _, seen in returned), [])) == sorted([*range(chunks)] * 2)
        for values, _ in returned:
            assert_same_bits(values, returned[0][0])


def test_a_trainer_that_comes_after_another_one_waits_for_data_does_not_stop_the_job():
    """The second one leaves until the first one has done the only task, and that one waits for the start."""

    def reading():
        _, _, loss = classifier(lambda loss: pm.optimizer.Adam(0.01).minimize(loss))
        if threading.current_thread().name == "trainer 2":
            time.sleep(0.5)
        trainer = begun()
        seen = [chunk for chunk in trainer.batches([0]) if trainer.run(batch(0, 8), [loss])]
        trainer.pull()
        return everything(), seen

    returned = pm.cluster.run(reading, 3, mode="collective", wait_timeout=20.0).returned
    assert sum((seen for _, seen in returned), []) == [0]
    for values, _ in returned:
        assert_same_bits(values, returned[0][0])


def saving(directory):
    x, logits, loss = classifier(lambda loss: OPTIMIZERS["averages"]().minimize(loss))
    trainer = begun()
    for step in range(4):
        trainer.run(batch(8 * step, 8 * step + 8), [loss])
    path = pm.cluster.save_model(directory, [x], [logits])
    saved = everything()
    trainer.run(batch(32, 40), [loss])
    return path, saved


def test_one_trainer_is_elected_to_save_and_saves_averages(tmp_path):
    returned = pm.cluster.run(saving, 3, mode="collective", args=(tmp_path / "models",)).returned
    number, path = next((number, path) for number, (path, _) in enumerate(returned) if path is not None)
    assert [one is None for one, _ in returned].count(False) == 1 and os.listdir(tmp_path / "models") == [str(number)]
    with pm.scope_guard(pm.Scope()):
        pm.io.load_inference_model(os.path.join(path, "model"), pm.Executor())
        found = {name: pm.global_scope().get(name) for name in pm.global_scope().names()}
    own_path, _ = alone(saving, tmp_path / "alone")
    with pm.scope_guard(pm.Scope()):
        pm.io.load_inference_model(os.path.join(own_path, "model"), pm.Executor())
        for name, value in found.items():
            np.testing.assert_allclose(value, pm.global_scope().get(name), rtol=1e-5, atol=1e-6)
            assert value.tobytes() != returned[number][1][name].tobytes()


def test_the_coordinator_shows_how_far_trainers_are():
    def shown():
        _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        for step in range(3):
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
        report = {}
        while report.get("steps") != 3:
            report = trainer._client.request("coordinator", GetJobStatus()).trainers[str(trainer.number)].report
            time.sleep(0.01)
        return sorted(report)

    expected = ["checkpoint_errors", "saves", "steps", "steps_per_second"]
    assert pm.cluster.run(shown, 2, mode="collective", lease=0.2).returned == [expected] * 2


def test_what_can_not_be_is_refused():
    def table():
        ids = pm.layers.data("ids", [-1, 1], dtype="int64")
        loss = pm.layers.mean(pm.layers.embedding(ids, [9, 2], is_sparse=True, param_attr=pm.ParamAttr(name="table")))
        pm.optimizer.SGD(0.1).minimize(loss)
        begun()

    def untrained():
        pm.layers.fc(pm.layers.data("x", [-1, 2]), 2)
        begun()

    def of_other_sizes():
        rows = 3 + pm.cluster.job._thread.job.number
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.create_parameter([rows], "float32")))
        begun().run()

    for function, text in (
        (table, "'table' is a table with a sparse gradient"),
        (untrained, "call minimize"),
        (of_other_sizes, "all trainers of a job train one program"),
    ):
        with pytest.raises(TrainerFailed, match=text):
            pm.cluster.run(function, 2, mode="collective")
    with pytest.raises(Malformed, match="mode is 'together', it must be one of .*, elastic, collective"):
        pm.cluster.run(table, mode="together")


def test_a_number_of_servers_is_ignored():
    with pytest.warns(DeprecationWarning, match="collective mode has no servers: servers=3 is ignored"):
        result = pm.cluster.run(trained, 2, 3, "collective", args=(1, OPTIMIZERS["SGD"], 24, 2))
    assert result.servers == []


def test_an_optimizer_that_reads_what_the_model_computes_is_refused():
    def reads():
        x = pm.layers.data("x", [-1, 2])
        rate = pm.layers.mean(x)
        pm.optimizer.SGD(rate).minimize(pm.layers.mean(pm.layers.fc(x, 2)))
        begun()

    with pytest.raises(TrainerFailed, match="sgd reads 'mean_0.tmp_0': in collective mode"):
        pm.cluster.run(reads, 2, mode="collective")
