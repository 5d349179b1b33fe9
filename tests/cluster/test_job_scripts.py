"""Scripts of trainers that do more than one step after another: further loops over the data, rates that change, one fetch, pull()
between steps, steps that fail. They do in a job what they do alone, or are told that they can't."""

import logging
import sys

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import ByPasses, alone, batch, begun, classifier, values
from cluster_moments import ticket, wait_for
from paddle_mini.cluster import Malformed, NotFinite, TrainerFailed
from paddle_mini.cluster.trainers.gradient_step import GradientStep

MODES = ["async", "sync", "delta", "collective"]


def parameter():
    return pm.layers.create_parameter([1], "float64", name="w", default_initializer=pm.initializer.Constant(0.0))


def towards(optimizer):
    """One parameter that is trained towards a target that is fed: its loss."""
    target = pm.layers.data("target", [1], dtype="float64")
    loss = pm.layers.mean(pm.layers.square(parameter() - target)) * 0.5
    optimizer.minimize(loss)
    return loss


def feed(value):
    return {"target": np.array([float(value)])}


@pytest.mark.parametrize("mode", MODES)
def test_one_fetch_stands_for_a_list_of_one(mode):
    def fetches():
        loss = towards(pm.optimizer.SGD(0.5))
        trainer = begun()
        found = [trainer.run(feed(1), loss), trainer.run(feed(1), loss.name), trainer.run(feed(1), (loss,))]
        return [*found, *trainer.steps([feed(1)], loss), *trainer.steps([feed(1)], loss.name)]

    assert pm.cluster.run(fetches, mode=mode).returned == [alone(fetches)]

    def wrong():
        towards(pm.optimizer.SGD(0.5))
        begun().run(feed(1), {})

    with pytest.raises(TrainerFailed, match="fetch_list is of type dict, it must be a list of variables or names"):
        pm.cluster.run(wrong, mode=mode)


def test_what_only_the_optimizer_computes():
    def fetches(scaling):
        optimizer = pm.optimizer.SGD(0.5)
        optimizer = pm.optimizer.LossScaling(optimizer) if scaling else optimizer
        towards(optimizer)
        (rate,) = [var.name for var in pm.default_main_program().list_vars() if var.name.startswith("learning_rate")]
        trainer = begun()
        return [trainer.run(feed(1), ["w", rate, *([optimizer.updated] if scaling else [])]) for _ in range(2)]

    for mode in ("delta", "collective"):
        assert pm.cluster.run(fetches, mode=mode, args=(True,)).returned == [alone(fetches, True)]
    for mode in ("async", "sync"):
        with pytest.raises(TrainerFailed, match="fetch 'learning_rate_.': only the optimizer computes it, which runs on the"):
            pm.cluster.run(fetches, mode=mode, args=(False,))


@pytest.mark.parametrize("mode", MODES)
def test_a_further_loop_reads_the_next_pass(mode, engine):
    def reads():
        towards(pm.optimizer.SGD(0.5))
        trainer, seen = begun(), []
        for number in range(3):
            for chunk in trainer.batches(range(5), passes=2 if number == 2 else 1):
                trainer.run(feed(chunk))
                seen.append(chunk)
        return seen

    assert pm.cluster.run(reads, mode=mode, engine=engine()).returned == [alone(reads)]
    both = pm.cluster.run(reads, 2, mode=mode, engine=engine()).returned
    assert sorted(sum(both, [])) == sorted([*range(5)] * 4)


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_nothing_that_was_read_ahead_is_lost_when_a_loop_is_left(mode, monkeypatch):
    computed, compute = [], GradientStep.compute

    def noted(self, feed, *how):
        computed.append(feed["target"].item())
        return compute(self, feed, *how)

    def reads():
        towards(pm.optimizer.SGD(0.5))
        trainer = begun()
        for most in (5, 5, 100):
            steps = trainer.steps(map(feed, trainer.batches(range(20))), ["target"], merged=3)
            for _ in zip(range(most), steps):
                continue
            steps.close()
        trainer.pull()
        return {*computed}, [target.item() for (target,) in trainer.steps(map(feed, trainer.batches(range(20))), ["target"])]

    monkeypatch.setattr(GradientStep, "compute", noted)
    first, second = pm.cluster.run(reads, mode=mode).returned[0]
    assert first == {*map(float, range(20))} and second == [*map(float, range(20))]


def test_pull_in_mode_delta_adds_nothing_twice(engine, tmp_path):
    """The difference after it is to what was pulled, which has what the other trainer did meanwhile."""

    def pulls():
        towards(pm.optimizer.SGD(0.25))
        trainer, seen = begun(), []

        def turn(number, act):
            wait_for(tmp_path / f"turn {number}")
            act()
            seen.append(pm.global_scope().get("w").item())
            (tmp_path / f"turn {number + 1}").touch()

        if trainer.number == 0:
            turn(0, lambda: trainer.run(feed(1)))
            turn(2, trainer.pull)
            turn(3, lambda: trainer.run(feed(1)))
        else:
            turn(1, lambda: trainer.run(feed(3)))
        wait_for(tmp_path / "turn 4")
        return seen

    (tmp_path / "turn 0").touch()
    first, second = pm.cluster.run(pulls, 2, mode="delta", engine=engine()).returned
    center, expected = 0.0, []
    for target in (1, 3, None, 1):
        center += 0.0 if target is None else 0.25 * (target - center) / 2
        expected.append(center)
    np.testing.assert_allclose([first[0], *second, *first[1:]], expected, rtol=1e-12)


@pytest.mark.parametrize("mode", ["async", "sync", "delta"])
def test_training_continues_after_a_step_that_is_not_finite(mode):
    """As if it had not been made: what the optimizer keeps, too."""

    def trains(targets):
        towards(pm.optimizer.Adam(0.1))
        trainer, refused = begun(), 0
        for target in targets:
            try:
                trainer.run(feed(target))
            except NotFinite:
                refused += 1
        trainer.pull()
        return pm.global_scope().get("w").item(), refused

    def trained(targets, **settings):
        return pm.cluster.run(trains, 1, mode=mode, args=(targets,), **settings).returned[0]

    expected = alone(trains, [1, 2, 3])
    found = trained([1, np.nan, 2, np.inf, np.nan, 3])
    np.testing.assert_allclose(found, [expected[0], 3], rtol=1e-12)
    if mode == "delta":  # the exchange after two steps finds that one of them was not finite
        np.testing.assert_allclose(trained([1, 2, 7, np.nan, 3], local_steps=2), [expected[0], 1], rtol=1e-12)


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_a_rate_that_was_set_before_join_is_the_servers(mode):
    def trains():
        optimizer = pm.optimizer.Momentum(0.5, 0.9)
        _, _, loss = classifier(lambda loss: pm.amp.decorate(optimizer).minimize(loss))
        exe = pm.Executor()
        pm.seed(3)
        exe.run(pm.default_startup_program())
        optimizer.set_lr(0.03)
        trainer = pm.cluster.join(exe=exe)
        for step in range(3):
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
        trainer.pull()
        return values()

    found, expected = pm.cluster.run(trains, 1, 2, mode).returned[0], alone(trains)
    assert {name: value.tobytes() for name, value in found.items()} == {name: one.tobytes() for name, one in expected.items()}


def test_a_rate_that_is_set_after_join(caplog):
    def trains(follows):
        optimizer = pm.optimizer.SGD(0.5)
        towards(optimizer)
        trainer = begun()
        trainer.run(feed(1))
        optimizer.set_lr(0.25)
        if not follows:
            with pytest.raises(pm.ProgramError, match="set_lr: the rate is 0.25 now, but in mode .* with the rate 0.5"):
                next(trainer.steps([feed(1)]))
        trainer.run(feed(1))
        trainer.pull()
        return pm.global_scope().get("w").item()

    for mode in ("delta", "collective"):
        assert pm.cluster.run(trains, mode=mode, args=(True,)).returned == [alone(trains, True)]
    for mode in ("async", "sync"):
        with pytest.raises(TrainerFailed, match="set_lr: the rate is 0.25 now") as caught:
            pm.cluster.run(trains, mode=mode, args=(False,))
        assert "trainer.run(feed(1))" in str(caught.value)


def test_a_schedule_that_servers_advance_and_the_script_does_not(caplog):
    def trains(steps, rate=None):
        rate = pm.lr.ExponentialDecay(0.5, 0.5) if rate is None else rate
        towards(pm.optimizer.SGD(rate))
        trainer = begun()
        for _ in range(3):
            trainer.run(feed(1))
            for _ in range(steps):
                rate.step()

    for mode in MODES:
        for steps in (0, 1):
            caplog.clear()
            with caplog.at_level(logging.WARNING):
                pm.cluster.run(trains, mode=mode, args=(steps,))
            told = [text for text in caplog.messages if "step() of the learning rate ExponentialDecay was not called" in text]
            assert len(told) == (steps == 0 and mode in ("async", "sync")), (mode, steps)
    caplog.clear()
    pm.cluster.run(trains, args=(0, ByPasses()))
    assert not caplog.messages, "it goes by passes"


@pytest.mark.parametrize("mode", ["async", "collective"])
def test_arguments_of_join_that_are_not_what_they_must_be(mode):
    def joins(number):
        towards(pm.optimizer.SGD(0.5))
        pm.cluster.join(*[(pm.Executor(),), (None, pm.global_scope()), (None, None, "scope")][number])

    problems = ["main_program is .*, it must be of type Program", "exe is .* Executor", "scope is 'scope'"]
    for number, problem in enumerate(problems):
        with pytest.raises(TrainerFailed, match=problem):
            pm.cluster.run(joins, mode=mode, args=(number,))
        with pytest.raises(Malformed, match=problem):
            alone(joins, number)


def test_a_function_that_does_not_join_is_told(caplog):
    with caplog.at_level(logging.WARNING):
        assert pm.cluster.run(lambda: 7, 2).returned == [7, 7]
    told = [text for text in caplog.messages if "returned without join()" in text]
    assert sorted(text.split(":")[0] for text in told) == ["trainer 0", "trainer 1"]


def test_a_function_that_ends_its_process(engine):
    def ends(status):
        towards(pm.optimizer.SGD(0.5))
        begun().run(feed(1))
        sys.exit(status)

    result = pm.cluster.run(ends, 2, engine=engine(), args=(0,))
    assert result.returned == [None, None] and result.counts["applied"] == 2
    with pytest.raises(TrainerFailed, match=r"trainer 0: ClusterError: it ended with status 3\n  at .*: sys.exit\(status\)"):
        pm.cluster.run(ends, engine=engine(), args=(3,))


@pytest.mark.parametrize("mode", MODES)
def test_the_others_do_not_wait_for_a_trainer_that_does_not_join(mode, engine, tmp_path):
    def trains():
        number = ticket(tmp_path)
        if number == 1:
            return None
        loss = towards(pm.optimizer.SGD(0.5))
        trainer = begun()
        return [trainer.run(feed(1), [loss])[0].item() for _ in range(3)]

    found = pm.cluster.run(trains, 3, mode=mode, engine=engine(), wait_timeout=20.0).returned
    assert sorted(map(bool, found)) == [False, True, True]


@pytest.mark.parametrize("wrong", [[{"ids": [[0]]}], {"ids": [["one"]]}, {"ids": np.zeros((1, 1), "float32")}, {"rows": [[0]]}])
def test_a_feed_of_a_table_that_is_not_one_is_told_as_alone(wrong):
    def table():
        rows = pm.layers.embedding(pm.layers.data("ids", [-1, 1], dtype="int64"), [9, 2], is_sparse=True)
        pm.optimizer.SGD(0.5).minimize(pm.layers.mean(rows))
        trainer = begun()
        try:
            trainer.run(wrong)
        except pm.Error as error:
            problem = f"{type(error).__name__}: {error}"
        trainer.run({"ids": [[1]]})
        return problem

    assert pm.cluster.run(table).returned == [alone(table)]
