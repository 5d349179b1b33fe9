"""Training that was stopped anywhere continues with the bits, and the history, of a run that was not."""

import os
import signal
import subprocess
import sys

import pytest

import paddle_mini as pm
from training_model import BATCH, arrays, everything, trainer

EPOCHS = 4


class At(pm.training.Callback):
    """Calls an action once, when a hook is called at a step."""

    def __init__(self, hook, step, action):
        self.hook, self.step, self.action = hook, step, action

    def _call(self, hook, of):
        if (hook, of.step) == (self.hook, self.step):
            self.hook = None
            self.action()

    def on_step_end(self, trainer, values):
        self._call("step", trainer)

    def on_epoch_begin(self, trainer):
        self._call("begin", trainer)

    def on_epoch_end(self, trainer, values):
        self._call("end", trainer)


def noisy(sample, random):
    return {**sample, "x": sample["x"] + random.normal(size=sample["x"].shape).astype("float32") / 10}


def run(checkpoints=None, *callbacks, seed=3, workers=0, epochs=EPOCHS):
    """A network with dropout, a schedule, averages, random data and early stopping."""
    optimizer = pm.optimizer.Adam(pm.lr.ExponentialDecay(0.05, 0.95))
    of = trainer(optimizer, seed, averaging=[pm.averaging.Window(5), pm.averaging.Exponential(0.9)])
    data = pm.data.Loader(arrays()).map(noisy, random=True).shuffle(seed=5).batch(BATCH)
    data = data.prefetch(3, workers=workers) if workers else data
    stopping = pm.training.EarlyStopping("val_loss", patience=9, restore_best=False)
    of.fit(data, epochs, arrays(16, 1), callbacks=[stopping, *callbacks], checkpoints=checkpoints, progress=False)
    return of, stopping


def state(trained):
    of, stopping = trained
    return everything(of), of.history.rows, stopping.best, stopping.waited


@pytest.fixture(scope="module")
def straight():
    return state(run())


def interrupt(number=signal.SIGINT):
    return lambda: signal.raise_signal(number)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("hook, step", [("step", 1), ("step", 7), ("step", 10), ("begin", 5), ("end", 10), ("end", 20)])
def test_after_a_signal(tmp_path, straight, hook, step, number, workers):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, At(hook, step, interrupt(number)), workers=workers)
    assert pm.io.CheckpointManager(tmp_path).latest() == step
    assert state(run(tmp_path, seed=99)) == straight


def test_after_a_signal_while_data_is_read(tmp_path, straight, monkeypatch):
    reads = []

    def stopping(sample, random, noisy=noisy):
        reads.append(None)
        if len(reads) == 60:  # the first batch is read twice, so 52 samples are 6 batches and a half
            signal.raise_signal(signal.SIGINT)
        return noisy(sample, random)

    monkeypatch.setattr(sys.modules[__name__], "noisy", stopping)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert pm.io.CheckpointManager(tmp_path).latest() == 6
    assert state(run(tmp_path, seed=99)) == straight


def test_after_an_error_the_last_checkpoint_is_continued(tmp_path, straight):
    def fail():
        raise RuntimeError("the machine fails")

    with pytest.raises(RuntimeError, match="machine"):
        run(pm.io.CheckpointManager(tmp_path, every_steps=4), At("step", 14, fail))
    assert pm.io.CheckpointManager(tmp_path).latest() == 12
    assert state(run(pm.io.CheckpointManager(tmp_path, every_steps=4), seed=99)) == straight


def test_a_second_signal_ends_a_step_at_once_and_saves_nothing(tmp_path, straight):
    class Twice(pm.training.Callback):
        def on_step_end(self, trainer, values):
            if trainer.step == 7:
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
                raise AssertionError("the second one was not raised")

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Twice())
    assert pm.io.CheckpointManager(tmp_path).latest() == 5
    assert state(run(tmp_path, seed=99)) == straight


def test_a_run_that_is_complete_is_not_trained_again(tmp_path, straight, capsys):
    run(tmp_path)
    before = os.listdir(tmp_path)
    assert state(run(tmp_path, seed=99)) == straight
    assert os.listdir(tmp_path) == before


def test_more_epochs_continue_a_complete_run(tmp_path, straight):
    run(tmp_path, epochs=2)
    assert state(run(tmp_path, seed=99)) == straight


def test_handlers_of_signals_are_given_back(tmp_path):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    run(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, At("step", 22, interrupt()), epochs=6)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_iterator_is_read_on_where_it_was(tmp_path):
    def batches():
        for i in list(range(0, 40, BATCH)) * 4:
            yield {name: array[i : i + BATCH] for name, array in arrays().items()}

    def fit(of, *callbacks, checkpoints=None):
        of.fit(batches(), 4, steps_per_epoch=5, callbacks=callbacks, checkpoints=checkpoints, progress=False)
        return everything(of)

    with pytest.raises(KeyboardInterrupt):
        fit(trainer(), At("step", 13, interrupt()), checkpoints=tmp_path)
    assert fit(trainer(seed=99), checkpoints=tmp_path) == fit(trainer())


def test_nan_in_the_history_is_saved(tmp_path):
    class Nan(pm.training.Callback):
        def on_epoch_end(self, trainer, values):
            values["gap"] = float("nan")

    run(tmp_path, Nan(), epochs=1)
    gap = run(tmp_path, Nan(), epochs=2)[0].history["gap"]
    assert len(gap) == 2 and all(value != value for value in gap)


def test_a_checkpoint_of_another_loop_is_refused(tmp_path):
    of, _ = run()
    pm.io.CheckpointManager(tmp_path).save(3, of.main, of.exe, of.scope, data={"epoch": 3})
    with pytest.raises(pm.ProgramError, match=r"was not saved by fit: its data is \{'epoch': 3\}"):
        run(tmp_path)


SCRIPT = """
import sys
from training_model import arrays, trainer
import paddle_mini as pm
class Say(pm.training.Callback):
    def on_step_end(self, trainer, values):
        print(trainer.step, flush=True)
trainer().fit(arrays(), 100000, checkpoints=sys.argv[1], callbacks=[Say()])
"""


def test_sigterm_ends_a_process_after_it_has_saved(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], cwd="tests", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as training:
        for _ in range(5):
            printed = training.stdout.readline()
        training.send_signal(signal.SIGTERM)
        out, err = training.communicate(timeout=60)
    assert training.returncode != 0 and err.rstrip().endswith("SIGTERM"), err
    step = pm.io.CheckpointManager(tmp_path).latest()
    *lines, last = (printed + out).splitlines()
    steps = [line for line in lines if line.isdigit()]  # the signal may come after the line of an epoch
    assert last.startswith(f"interrupted after step {step}, saved as {tmp_path}") and steps[-1] == str(step)
