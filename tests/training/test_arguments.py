"""Arguments of Trainer and fit are checked before anything changes."""

import numpy as np
import pytest

import paddle_mini as pm
from training_model import arrays, trainer


def network():
    x = pm.layers.data("x", [-1, 2])
    return pm.layers.fc(x, 1)


def test_arguments_of_trainer_are_checked():
    each = network()
    loss = pm.layers.mean(each)
    optimizer = pm.optimizer.SGD(0.1)
    for arguments, message in (
        ([each, optimizer], r"Trainer: 'loss' has shape \[-1, 1\], not one element: take its mean"),
        (["loss", optimizer], "Trainer: 'loss' is 'loss', it must be a Variable"),
        ([loss], "Trainer: give optimizer=; the program of the loss has none"),
        ([loss, optimizer, {"each": each}], r"Trainer: 'each' has shape \[-1, 1\], not one element"),
        ([loss, optimizer, None, None, loss], "Trainer: startup is of type Variable, it must be of type Program"),
        ([loss, optimizer, {"loss": loss}], "Trainer: 'loss' is the name of another value of the history"),
    ):
        with pytest.raises(pm.ProgramError, match=message):
            pm.Trainer(*arguments)
    with pm.program_guard(pm.Program(), pm.Program()):
        with pytest.raises(pm.ProgramError, match="the loss is not in the default main program: give its startup program"):
            pm.Trainer(loss, optimizer)
        with pytest.raises(pm.ProgramError, match="'other' is a variable of another program than the loss"):
            pm.Trainer(pm.layers.mean(network()), optimizer, {"other": loss})
    with pytest.raises(pm.ProgramError, match="Trainer: exe is of type DataParallel, it must be of type Executor"):
        pm.Trainer(loss, optimizer, exe=pm.DataParallel([pm.EmulatedPlace(0)]))
    optimizer.minimize(loss)
    with pytest.raises(pm.ProgramError, match="has an optimizer already: leave out optimizer="):
        pm.Trainer(loss, pm.optimizer.SGD(0.1))


def test_arguments_of_fit_are_checked():
    of = trainer()
    for arguments, message in (
        ({"epochs": 0}, "fit: epochs is 0, it must be an integer, at least 1"),
        ({"batch_size": 2.5}, "fit: batch_size is 2.5, it must be an integer"),
        ({"steps_per_epoch": 0}, "fit: steps_per_epoch is 0"),
        ({"schedule": "batch"}, "fit: schedule is 'batch', it must be 'step' or 'epoch'"),
    ):
        with pytest.raises(pm.ProgramError, match=message):
            of.fit(arrays(), **arguments)
    assert not of.scope.names()


class Logger:
    def log(self, values, step):
        raise RuntimeError("called")


METRICS = 'Trainer: metrics is .*, it must be a dict of Variables by name, such as {"accuracy": layers.accuracy'
OPTIMIZER = "it must be an object of pm.optimizer, such as pm.optimizer.Adam\\(0.001\\)"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (lambda loss: {"optimizer": "adam"}, f"Trainer: optimizer is 'adam', {OPTIMIZER}"),
        (lambda loss: {"optimizer": 3}, f"Trainer: optimizer is 3, {OPTIMIZER}"),
        (lambda loss: {"optimizer": pm.optimizer.SGD}, f"Trainer: optimizer is <class .*, {OPTIMIZER}"),
        (lambda loss: {"metrics": ["accuracy"]}, METRICS),
        (lambda loss: {"metrics": [loss]}, METRICS),
        *(
            (lambda loss, name=name: {"metrics": {name: loss}}, f"Trainer: '{name}' is the name of another value of the history")
            for name in ("loss", "epoch", "step", "val_loss", "averaged_val_loss")
        ),
        (lambda loss: {"metrics": {"a": loss, "val_a": loss}}, "Trainer: 'val_a' is the name of another value"),
        (lambda loss: {"metrics": {3: loss}}, "Trainer: names of metrics must be strings: 3"),
        (
            lambda loss: {"callbacks": pm.training.LearningRateLogger()},
            "callbacks is <.*, it must be a list: callbacks=\\[...\\]",
        ),
        (lambda loss: {"callbacks": [pm.training.LearningRateLogger]}, "has the class LearningRateLogger, give an object: Learn"),
        (lambda loss: {"callbacks": [print]}, "callbacks has <built-in function print>; a callback is an object of a class"),
        (lambda loss: {"callbacks": [Logger()]}, "callbacks has <.*, which goes into loggers="),
        (lambda loss: {"loggers": [3]}, "loggers has 3, it must be an object with log\\(values, step\\)"),
        (lambda loss: {"loggers": Logger()}, "loggers is <.*, it must be a list: loggers="),
        (lambda loss: {"loggers": [pm.loggers.CSVLogger]}, "loggers has <class .*, it must be an object with log"),
    ],
)
def test_arguments_of_other_kinds_are_refused_before_anything_changes(arguments, message):
    x, y = pm.layers.data("x", [-1, 4]), pm.layers.data("y", [-1, 1])
    loss = pm.layers.mean(pm.layers.square_error_cost(pm.layers.fc(x, 1), y))
    given = {"optimizer": pm.optimizer.SGD(0.1), **arguments(loss)}
    before = pm.default_main_program().to_bytes()
    data = {"x": np.ones((4, 4), "float32"), "y": np.ones((4, 1), "float32")}
    with pytest.raises(pm.ProgramError, match=message):
        pm.fit(loss, data, progress=False, **given)
    assert pm.default_main_program().to_bytes() == before and not pm.global_scope().names()


@pytest.mark.parametrize(
    "name, meant", [("on_batch_end", "on_step_end"), ("on_train_end", "on_fit_end"), ("on_epoch_ends", "on_epoch_end")]
)
def test_methods_that_fit_does_not_call_are_refused(name, meant):
    of = trainer()
    callback = type("Mine", (pm.training.Callback,), {name: lambda self, trainer: None})()
    with pytest.raises(
        pm.ProgramError, match=f"Mine: fit does not call '{name}'; did you mean '{meant}'\\?; it calls on_epoch_begin"
    ):
        of.fit(arrays(), callbacks=[callback], progress=False)
    assert not of.scope.names()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda of: of.fit(arrays(), validation_data=arrays()), "fit\\(\\) has no argument 'validation_data'; it is validation"),
        (lambda of: pm.fit(None, None, validation_split=0.2), "'validation_split'; it is validation, rows that you leave out"),
        (lambda of: pm.fit(None, None, verbose=0), "fit\\(\\) has no argument 'verbose'; it is progress, True or False"),
        (lambda of: pm.fit(None, None, epoch=3), "fit\\(\\) has no argument 'epoch'; did you mean 'epochs'"),
        (lambda of: pm.Trainer(None, metric={}), "Trainer\\(\\) has no argument 'metric'; did you mean 'metrics'"),
        (lambda of: pm.training.EarlyStopping("loss", restore_best_weights=True), "it is restore_best"),
        (lambda of: pm.training.BestCheckpoint("a", "loss", save_best_only=True), "BestCheckpoint saves the best epoch only"),
    ],
)
def test_keywords_of_other_libraries_get_advice(call, message):
    with pytest.raises(TypeError, match=message):
        call(trainer())


def test_schemes_that_are_not_averaged_are_refused_before_anything_changes():
    of = trainer(averaging=pm.averaging.Uniform())
    ops = of.main.to_bytes()
    for schemes in (pm.averaging.Latest(3), [pm.averaging.Latest(3)]):
        callback = pm.training.EvaluateAverages(schemes)
        with pytest.raises(pm.ProgramError, match="EvaluateAverages: Latest\\(.* is not averaged; there is Uniform\\(\\)"):
            of.fit(arrays(), validation=arrays(), callbacks=[callback], progress=False)
    free = trainer(pm.optimizer.ScheduleFree(pm.optimizer.SGD(0.1)))
    with pytest.raises(pm.ProgramError, match="Uniform\\(\\) is not averaged; there is its own average only"):
        one = pm.training.EvaluateAverages(pm.averaging.Uniform())
        free.fit(arrays(), validation=arrays(), callbacks=[one], progress=False)
    assert of.main.to_bytes() == ops and not of.scope.names() and not free.scope.names()
    one = pm.training.EvaluateAverages(pm.averaging.Uniform())
    assert "averaged_val_loss" in of.fit(arrays(), validation=arrays(), callbacks=[one], progress=False).columns()
    for schemes in (3, [], ["Uniform"]):
        with pytest.raises(
            pm.ProgramError, match="EvaluateAverages: schemes is .*, it must be a scheme of pm.averaging, or a list"
        ):
            pm.training.EvaluateAverages(schemes)


class Adds(pm.training.Callback):
    def __init__(self, value):
        self.value = value

    def on_epoch_end(self, trainer, values):
        values["g"] = self.value


@pytest.mark.parametrize("value", [2, 1.5, True, np.float32(1.5), np.float64(1.5), np.int64(3), np.bool_(True), np.inf])
def test_values_of_callbacks_are_numbers(value, tmp_path):
    for epochs in (1, 2):
        history = trainer().fit(arrays(), epochs, callbacks=[Adds(value)], checkpoints=tmp_path, progress=False)
    assert history["g"] == [value, value] and type(history["g"][0]) in (int, float)


@pytest.mark.parametrize("value", ["text", np.ones(2), None, [1]])
@pytest.mark.parametrize("with_folder", [False, True])
def test_other_values_of_callbacks_are_refused(value, with_folder, tmp_path):
    with pytest.raises(pm.ProgramError, match="^Adds: the value 'g' of the epoch is .*, it must be a number by a name$"):
        trainer().fit(arrays(), callbacks=[Adds(value)], checkpoints=tmp_path if with_folder else None, progress=False)


@pytest.mark.parametrize("by", ["checkpoints", "best"])
def test_folders_are_made_before_training(tmp_path, by):
    (tmp_path / "file").touch()
    of = trainer(pm.optimizer.SGD(0.1))

    def fit(folder):
        if by == "checkpoints":
            return of.fit(arrays(), checkpoints=folder, progress=False)
        return of.fit(arrays(), callbacks=[pm.training.BestCheckpoint(folder, "loss")], progress=False)

    for folder in (tmp_path / "file", ""):
        with pytest.raises(pm.ProgramError, match="can't|must be a path"):
            fit(folder)
        assert of.step == 0 and not of.main.minimizers
    fit(tmp_path / "folder")
    assert pm.io.CheckpointManager(tmp_path / "folder").steps() == [of.step]


def test_the_optimizer_stays_an_attribute():
    seen = []

    class Slower(pm.training.Callback):
        def on_epoch_end(self, trainer, values):
            trainer.optimizer.set_lr(0.01, trainer.scope)
            seen.append(trainer.optimizer.get_lr(trainer.scope))

    of = trainer(pm.optimizer.SGD(0.1))
    of.fit(arrays(), callbacks=[Slower()], progress=False)
    of.fit(arrays(), callbacks=[Slower()], progress=False)  # it minimizes once
    assert seen == pytest.approx([0.01, 0.01])
