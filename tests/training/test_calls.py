"""Several calls of fit in one process: after an interrupt, after an error, within other calls; and runs that change no file."""

import signal

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import numbers_of
from training_model import BATCH, ROWS, arrays, everything, network, trainer

STEPS = ROWS // BATCH


class At(pm.training.Callback):
    """Calls an action after a step, once."""

    def __init__(self, step, action=lambda: signal.raise_signal(signal.SIGINT)):
        self.step, self.action = step, action

    def on_step_end(self, trainer, values):
        if trainer.step == self.step:
            self.step = None
            self.action()


def fail():
    raise RuntimeError("the machine fails")


def fit(of, epochs, *callbacks, data=None, **arguments):
    arguments = {"batch_size": BATCH, "progress": False, **arguments}
    return of.fit(arrays() if data is None else data, epochs, callbacks=callbacks, **arguments)


def result(of):
    return everything(of), of.history.rows, of.epoch, of.step


@pytest.mark.parametrize("action", [lambda: signal.raise_signal(signal.SIGINT), fail])
def test_a_call_after_one_that_was_not_complete_trains_its_own_epochs(action):
    of = trainer()
    with pytest.raises((KeyboardInterrupt, RuntimeError)):
        fit(of, 100, At(6, action))
    assert fit(of, 1)["epoch"] == [1, 2] and of.step == 6 + STEPS
    assert fit(of, 2)["epoch"] == [1, 2, 3, 4]


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", [1, 5, 6, 14, 15])
def test_the_same_call_of_the_same_trainer_continues_with_the_same_bits(tmp_path, step, number, before):
    def made():
        return trainer(pm.optimizer.Adam(pm.lr.ExponentialDecay(0.05, 0.9)), averaging=pm.averaging.Window(4))

    straight, of = made(), made()
    for one in (straight, of):
        if before:
            fit(one, before)
    fit(straight, 3)
    with pytest.raises(KeyboardInterrupt):
        fit(of, 3, At(before * STEPS + step, lambda: signal.raise_signal(number)), checkpoints=tmp_path)
    fit(of, 3, checkpoints=tmp_path)
    assert result(of) == result(straight) and of.planned == 3 + before


def test_the_same_call_continues_after_an_error_and_several_interrupts(tmp_path):
    straight, of = trainer(), trainer()
    fit(straight, 2)
    fit(straight, 3)
    fit(of, 2)
    for callback in (At(13), At(14, fail), At(14), At(22, fail)):
        with pytest.raises((KeyboardInterrupt, RuntimeError)):
            fit(of, 3, callback, checkpoints=tmp_path)
    fit(of, 3, checkpoints=tmp_path)
    assert result(of) == result(straight)
    fit(of, 1, checkpoints=tmp_path)
    fit(straight, 1)
    assert result(of) == result(straight)


def test_calls_in_a_new_process_continue_where_the_second_one_was_interrupted(tmp_path):
    straight, first, second = trainer(), trainer(), trainer(seed=99)
    for one in (straight, first):
        fit(one, 2, checkpoints=tmp_path if one is first else None)
    fit(straight, 3)
    with pytest.raises(KeyboardInterrupt):
        fit(first, 3, At(13), checkpoints=tmp_path)
    for epochs in (2, 3):
        fit(second, epochs, checkpoints=tmp_path)
    assert result(second) == result(straight)


def test_another_batch_size_continues_at_the_end_of_an_epoch(tmp_path):
    first, second = trainer(), trainer(seed=99)
    fit(first, 1, checkpoints=tmp_path)
    fit(second, 3, batch_size=BATCH // 2, checkpoints=tmp_path)
    assert second.step == STEPS + 2 * 2 * STEPS


def test_another_batch_size_does_not_continue_inside_an_epoch(tmp_path):
    straight, first, second = trainer(), trainer(), trainer(seed=99)
    fit(straight, 3)
    with pytest.raises(KeyboardInterrupt):
        fit(first, 3, At(3), checkpoints=tmp_path)
    with pytest.raises(pm.ProgramError, match=rf"3 batches into an epoch with batch_size={BATCH}, now batch_size is 4"):
        fit(second, 3, batch_size=BATCH // 2, checkpoints=tmp_path)
    assert second.step == 0 and not second.has_values
    fit(second, 3, checkpoints=tmp_path)
    assert result(second) == result(straight)


def test_another_folder_is_not_restored_in_the_middle_of_a_run(tmp_path):
    fit(trainer(), 4, checkpoints=tmp_path / "old")
    of = trainer()
    with pytest.raises(KeyboardInterrupt):
        fit(of, 3, At(6), checkpoints=tmp_path / "new")
    fit(of, 1, checkpoints=tmp_path / "old")
    assert of.step == 6 + STEPS and of.history["epoch"] == [1, 2]


def test_an_iterator_of_the_same_call_begins_at_the_epoch_of_that_call(tmp_path):
    def batches():
        for i in list(range(0, ROWS, BATCH)) * 3:
            yield {name: array[i : i + BATCH] for name, array in arrays().items()}

    straight, of = trainer(), trainer()
    for one in (straight, of):
        fit(one, 2)
    fit(straight, 3, data=batches(), steps_per_epoch=STEPS)
    with pytest.raises(KeyboardInterrupt):
        fit(of, 3, At(13), data=batches(), steps_per_epoch=STEPS, checkpoints=tmp_path)
    fit(of, 3, data=batches(), steps_per_epoch=STEPS, checkpoints=tmp_path)
    assert result(of) == result(straight)


def test_fit_in_the_same_process_continues_without_optimizer(tmp_path):
    def call(loss, *callbacks, checkpoints=tmp_path, optimizer=None):
        arguments = {"batch_size": BATCH, "progress": False, "callbacks": callbacks, "checkpoints": checkpoints}
        history = pm.fit(loss, arrays(), optimizer, 3, **arguments)
        return history.rows, pm.global_scope().get("fc_0.w_0").tobytes()

    def built():
        pm.seed(1)
        return network()[0]

    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        expected = call(built(), optimizer=pm.optimizer.Adam(0.05), checkpoints=None)
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        loss = built()
        with pytest.raises(KeyboardInterrupt):
            call(loss, At(6), optimizer=pm.optimizer.Adam(0.05))
        with pytest.raises(pm.ProgramError, match="leave out optimizer= and averaging=, .*give the same checkpoints="):
            call(loss, optimizer=pm.optimizer.Adam(0.05))
        with pytest.raises(pm.ProgramError, match="has an optimizer already: leave out averaging="):
            pm.fit(loss, arrays(), averaging=pm.averaging.Uniform())
        assert call(loss) == expected


def test_the_message_of_an_interrupt_says_how_to_continue(tmp_path, capsys):
    with pytest.raises(KeyboardInterrupt):
        fit(trainer(), 3, At(6), checkpoints=tmp_path, progress=True)
    assert "the same call of fit continues there (in this process: of the same Trainer, or pm.fit without optimizer=)" in (
        capsys.readouterr().out
    )


def test_a_stop_before_the_first_epoch_ends_the_call(tmp_path):
    class Stop(pm.training.Callback):
        def on_fit_begin(self, trainer, columns):
            trainer.stop("not today")

    of = trainer()
    history = fit(of, 3, Stop())
    assert len(history) == 0 and history.stopped == "not today" and of.step == 0
    assert len(fit(of, 2)) == 2 and of.history.stopped is None
    fit(trainer(), 1, checkpoints=tmp_path)
    again = trainer()
    assert len(fit(again, 3, Stop(), checkpoints=tmp_path)) == 1 and again.history.stopped == "not today"


def test_a_check_within_another_one_is_refused_before_anything_changes():
    of = trainer()
    before = of.main.to_bytes()
    with pm.check_finite(), pytest.raises(pm.ProgramError):
        fit(of, 1, check_finite=True)
    assert of.main.to_bytes() == before and not of.scope.names()
    assert len(fit(of, 1, check_finite=True)) == 1


def test_a_fast_run_leaves_the_files_of_callbacks_as_they_are(tmp_path):
    class Logger:
        def log_histograms(self, *values):
            raise RuntimeError("called")

    best = pm.training.BestCheckpoint(tmp_path / "best", "loss")
    fit(trainer(), 3, best)
    manager = pm.io.CheckpointManager(tmp_path / "best")
    steps = manager.steps()
    fit(trainer(), 3, best, pm.training.Histograms(Logger()), fast_dev_run=True)
    assert manager.steps() == steps == [3 * STEPS]
    of = trainer()
    fit(of, 1, best, fast_dev_run=True)
    fit(of, 1, best)
    assert manager.steps() == [1 + STEPS]


def test_batches_of_evaluate_begin_at_the_first_one_after_training():
    def batches(count):
        for i in range(count):
            yield {name: array[i * 4 : i * 4 + 4] for name, array in arrays().items()}

    of = trainer()
    fit(of, 2)
    expected = of.evaluate({name: array[:12] for name, array in arrays().items()})["loss"]
    for data, steps in ((batches(3), None), (batches(3), 3), (batches(10), 3), (list(batches(10)), 3)):
        assert of.evaluate(data, steps=steps)["loss"] == pytest.approx(expected, rel=1e-6)
    for steps in (0, -1):
        with pytest.raises(pm.ProgramError, match=f"evaluate: steps is {steps}, it must be an integer, at least 1"):
            of.evaluate(arrays(), steps=steps)


def test_integers_of_numpy_are_counts():
    assert len(fit(trainer(), np.int64(2), batch_size=np.int32(BATCH))) == 2


@pytest.mark.parametrize(
    "around",
    [
        lambda o: pm.optimizer.ParameterAverage(o, [pm.averaging.Uniform(), pm.averaging.BiasCorrected()]),
        pm.optimizer.Lookahead,
        pm.optimizer.ScheduleFree,
        lambda o: pm.optimizer.ParameterAverage(pm.amp.decorate(o, level="O2"), pm.averaging.Uniform()),
        lambda o: pm.amp.decorate(o, level="O2", dtype="float16"),
    ],
)
def test_loaded_parameters_stay_with_what_is_made_from_them(around):
    """The startup program makes averages and masters from initial parameters, which must not take the place of loaded ones."""
    of = trainer(around(pm.optimizer.SGD(0.0)), initialize=False)
    loaded = np.random.default_rng(5).integers(-8, 8, (6, 8)).astype("float32") / 8  # exact in 16 bits
    of.scope.set("fc_0.w_0", loaded)
    of.fit(arrays(), progress=False)
    kept = of.scope.info("fc_0.w_0")["dtype"]
    found = of.scope.get("fc_0.w_0")
    np.testing.assert_array_equal(numbers_of(found) if kept == "bfloat16" else found, loaded)
    if of.average is not None:
        with of.average.apply(of.exe, of.scope):
            found = of.scope.get("fc_0.w_0")
        np.testing.assert_array_equal(numbers_of(found) if kept == "bfloat16" else found, loaded)
