"""Early stopping, the best checkpoint and the learning rate, with values of each epoch that are known."""

import math

import numpy as np
import pytest

import paddle_mini as pm
from training_model import BATCH, arrays, everything, trainer


class Scores(pm.training.Callback):
    """Adds "score", a list of known values."""

    def __init__(self, *scores):
        self.scores = scores

    def columns(self, trainer):
        return ["score"]

    def on_epoch_end(self, trainer, values):
        values["score"] = self.scores[trainer.epoch]


def fit(of, *callbacks, epochs=9, **arguments):
    return of.fit(arrays(), epochs, batch_size=BATCH, callbacks=callbacks, progress=False, **arguments)


@pytest.mark.parametrize(
    "scores, arguments, epochs",
    [
        ([5, 4, 3, 3, 3, 0, 0, 0, 0], {"mode": "min", "patience": 2}, 5),
        ([5, 4, 3, 3, 2, 3, 3, 3, 3], {"mode": "min", "patience": 3}, 8),
        ([1, 2, 3, 2, 2, 9, 9, 9, 9], {"mode": "max", "patience": 2}, 5),
        ([5, 4.95, 4.9, 4.85, 4, 3, 2, 1, 0], {"mode": "min", "patience": 3, "min_delta": 0.5}, 4),
        ([math.nan] * 9, {"mode": "max", "patience": 2}, 2),
        ([1, math.nan, 0.5, math.nan, math.nan, 9, 9, 9, 9], {"mode": "min", "patience": 2}, 5),
        ([9, 8, 7, 6, 5, 4, 3, 2, 1], {"mode": "min", "patience": 1}, 9),
    ],
)
def test_training_stops_at_the_known_epoch(scores, arguments, epochs):
    history = fit(trainer(), Scores(*scores), pm.training.EarlyStopping("score", **arguments))
    assert len(history) == epochs
    assert (history.stopped is None) == (epochs == 9)
    if history.stopped:
        assert history.stopped.startswith(f"score was not better for {arguments['patience']} epochs (")


@pytest.mark.parametrize("with_folder", [False, True])
@pytest.mark.parametrize("scores", [[3, 1, 2, 2, 2], [3, 1, 2]])
def test_the_best_values_are_restored(tmp_path, with_folder, scores):
    """After an early end, and after the last epoch."""
    best = trainer()
    fit(best, epochs=2)
    expected = everything(best)[0]
    of = trainer()
    stopping = pm.training.EarlyStopping("score", patience=2, mode="min", restore_best=True)
    folder = tmp_path / "run" if with_folder else None
    fit(of, Scores(*scores), stopping, epochs=len(scores), checkpoints=folder)
    assert len(of.history) == min(len(scores), 4) and everything(of)[0] == expected


def test_a_stopped_run_stays_stopped_and_keeps_the_best_values(tmp_path):
    def run(seed):
        of = trainer(seed=seed)
        stopping = pm.training.EarlyStopping("score", patience=2, mode="min", restore_best=True)
        fit(of, Scores(3, 1, 2, 2, 2), stopping, epochs=5, checkpoints=tmp_path)
        return everything(of), of.history.rows, of.history.stopped

    assert run(3) == run(99)


def test_early_stopping_waits_across_a_restart(tmp_path):
    scores = Scores(3, 1, 2, 2, 2, 2, 2)
    for epochs in (3, 7):
        of = trainer(seed=epochs)
        stopping = pm.training.EarlyStopping("score", patience=3, mode="min", restore_best=True)
        fit(of, scores, stopping, epochs=epochs, checkpoints=tmp_path)
    assert len(of.history) == 5 and stopping.best == 1


@pytest.mark.parametrize("order", [1, -1])
def test_callbacks_of_one_class_get_their_own_states_after_a_restart(tmp_path, order):
    """Also in another order, and beside one that was not there."""

    def stoppings():
        return [pm.training.EarlyStopping("score", mode=mode, patience=9) for mode in ("max", "min")]

    fit(trainer(), Scores(5, 4, 3), *stoppings(), epochs=3, checkpoints=tmp_path)
    greatest, least = again = stoppings()
    loss, accuracy = pm.training.EarlyStopping("loss", patience=9), pm.training.EarlyStopping("accuracy", mode="max", patience=9)
    of = trainer()
    fit(of, Scores(5, 4, 3, 4), loss, accuracy, *again[::order], epochs=4, checkpoints=tmp_path)
    assert (greatest.best, greatest.waited, least.best, least.waited) == (5, 3, 3, 1)
    assert loss.best == of.history["loss"][3] and accuracy.best == of.history["accuracy"][3]


class Second(Scores):
    def columns(self, trainer):
        return ["second"]

    def on_epoch_end(self, trainer, values):
        values["second"] = self.scores[trainer.epoch]


def test_two_callbacks_keep_their_own_best_values(tmp_path):
    """With the same values with and without checkpoints: those of the callback that comes last."""
    for monitor, other, epochs in (("score", "second", 1), ("second", "score", 3)):
        found = []
        for folder in (None, tmp_path / monitor):
            of, one, two = trainer(), Scores(1, 2, 3, 4), Second(4, 3, 1, 2)
            stoppings = [pm.training.EarlyStopping(name, mode="min", patience=9, restore_best=True) for name in (other, monitor)]
            fit(of, one, two, *stoppings, epochs=4, checkpoints=folder)
            found.append(everything(of))
        best = trainer()
        fit(best, epochs=epochs)
        assert found[0] == found[1] and found[0][0] == everything(best)[0]


@pytest.mark.parametrize("with_folder", [False, True])
def test_the_best_values_are_variables_only(tmp_path, with_folder):
    """Schedules and random numbers are those of the last epoch."""
    schedule, other = pm.lr.ExponentialDecay(0.05, 0.9), pm.lr.ExponentialDecay(0.05, 0.9)
    of, straight = trainer(pm.optimizer.Adam(schedule)), trainer(pm.optimizer.Adam(other))
    stopping = pm.training.EarlyStopping("score", mode="min", patience=9, restore_best=True)
    fit(of, Scores(3, 1, 2, 2), stopping, epochs=4, checkpoints=tmp_path if with_folder else None)
    fit(straight, epochs=4)
    assert schedule.state_dict() == other.state_dict() and of.exe.random_state() == straight.exe.random_state()


def test_a_callback_is_used_again():
    stopping = pm.training.EarlyStopping("score", patience=2, mode="min")
    for _ in range(2):
        assert len(fit(trainer(), Scores(3, 1, 2, 2, 2), stopping, epochs=5)) == 4


def test_the_best_checkpoint(tmp_path):
    of, best = trainer(), trainer()
    fit(best, epochs=2)
    fit(of, Scores(3, 1, 2, math.nan), pm.training.BestCheckpoint(tmp_path, "score", "min"), epochs=4)
    manager = pm.io.CheckpointManager(tmp_path)
    assert manager.steps() == [10]
    at = manager.restore(of.main, of.exe, of.scope)
    assert at.data == {**best.history.last, "score": 1}
    assert everything(of)[0] == everything(best)[0]


def test_the_rate_of_the_last_step():
    schedule = pm.lr.PiecewiseDecay([5, 8], [0.1, 0.01, 0.001])
    history = fit(trainer(pm.optimizer.SGD(schedule)), pm.training.LearningRateLogger(), epochs=2)
    assert history["learning_rate"] == pytest.approx([0.1, 0.001])
    merged = trainer(pm.optimizer.GradientMerge(pm.optimizer.SGD(0.25), 2))
    assert fit(merged, pm.training.LearningRateLogger(), epochs=1)["learning_rate"] == [0.25]


def test_unknown_values_are_refused_before_anything_changes():
    of = trainer()
    ops = len(of.main.global_block().ops)
    with pytest.raises(pm.ProgramError) as refused:
        fit(of, pm.training.EarlyStopping("vall_loss"))
    assert str(refused.value) == "EarlyStopping: no value is named 'vall_loss'; did you mean 'loss'?; there are loss, accuracy"
    assert len(of.main.global_block().ops) == ops and not of.scope.names() and of.planned == 0
    with pytest.raises(pm.ProgramError, match="BestCheckpoint: no value is named 'val_loss'; did you mean 'loss'"):
        fit(of, pm.training.BestCheckpoint("folder"))
    with pytest.raises(pm.ProgramError, match="EvaluateAverages: there is no validation data|the program has no averages"):
        fit(of, pm.training.EvaluateAverages())


def test_arguments_are_checked():
    stopping = pm.training.EarlyStopping
    with pytest.raises(pm.ProgramError, match="is a greater 'val_accuracy' better\\? Give mode='max'"):
        stopping("val_accuracy")
    with pytest.raises(pm.ProgramError, match="mode is 'greatest', it must be 'min' or 'max'"):
        stopping("loss", mode="greatest")
    with pytest.raises(pm.ProgramError, match="EarlyStopping: monitor is None, it must be the name of a value: 'val_loss'"):
        stopping(None)
    with pytest.raises(pm.ProgramError, match="BestCheckpoint: min_delta is 'a', it must be a number"):
        pm.training.BestCheckpoint("folder", "loss", min_delta="a")
    for patience in (0, 1.5, True):
        with pytest.raises(pm.ProgramError, match="patience is .*, it must be an integer, at least 1"):
            stopping("loss", patience=patience)


class Recorder:
    """A logger whose histograms are the values of parameters and averages."""

    def __init__(self):
        self.calls = []

    def log_histograms(self, step, program, scope, averages):
        names = [one.name for one in program.all_parameters()]
        averaged = []
        if averages is not None:
            with averages.apply(pm.Executor(), scope):
                averaged = [scope.get(name) for name in names]
        self.calls.append((step, [scope.get(name) for name in names], averaged))


@pytest.mark.parametrize("averaging", [None, pm.averaging.Uniform()])
def test_histograms_are_written_every_second_epoch(averaging):
    recorder = Recorder()
    fit(trainer(averaging=averaging), pm.training.Histograms(recorder, every=2), epochs=5)
    assert [step for step, _, _ in recorder.calls] == [10, 20]
    for _, parameters, averages in recorder.calls:
        assert parameters and bool(averages) == (averaging is not None)
        assert all((one != other).any() for one, other in zip(parameters, averages))


def test_histograms_reach_tensorboard(tmp_path):
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with pm.loggers.TensorBoardLogger(tmp_path) as logger:
        fit(trainer(averaging=pm.averaging.Uniform()), pm.training.Histograms(logger), epochs=1, loggers=[logger])
    events = event_accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert {"parameters/fc_0.w_0", "averages/fc_0.w_0"} <= set(events.Tags()["histograms"]) and "loss" in events.Tags()["scalars"]


def test_arguments_of_histograms():
    with pytest.raises(pm.ProgramError, match="every is 0, it must be an integer, at least 1"):
        pm.training.Histograms(Recorder(), every=0)
    with pytest.raises(pm.ProgramError, match="has no log_histograms; give it a TensorBoardLogger"):
        pm.training.Histograms(pm.loggers.CSVLogger)


def test_a_folder_of_checkpoints_has_one_user(tmp_path):
    """A manager removes the older checkpoints of its folder, also those that another one has saved."""
    of, best = trainer(), pm.training.BestCheckpoint
    (tmp_path / "link").symlink_to(tmp_path)
    for callbacks, checkpoints in (
        ([best(tmp_path, "loss")], tmp_path),
        ([best(tmp_path / "link", "loss")], str(tmp_path)),
        ([best(tmp_path, "loss")], pm.io.CheckpointManager(tmp_path)),
        ([best(tmp_path, "loss"), best(str(tmp_path), "accuracy", "max")], None),
    ):
        with pytest.raises(pm.ProgramError, match=r"and BestCheckpoint\('.*'\) save into the same folder .* a folder of its own"):
            fit(of, *callbacks, checkpoints=checkpoints)
    assert not of.scope.names() and [path.name for path in tmp_path.iterdir()] == ["link"]


def test_the_rate_is_the_optimizers_where_each_parameter_has_a_factor():
    x = pm.layers.data("x", [-1, 2])
    attr = pm.ParamAttr(learning_rate=0.5)
    loss = pm.layers.mean(pm.layers.fc(x, 1, param_attr=attr, bias_attr=attr))
    data = {"x": np.ones((4, 2), "float32")}
    history = pm.fit(loss, data, pm.optimizer.SGD(0.25), callbacks=[pm.training.LearningRateLogger()], progress=False)
    assert history["learning_rate"] == [0.25]
