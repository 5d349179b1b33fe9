"""Arguments of Trainer and fit are checked before anything changes."""

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
        ([loss, optimizer, {"loss": loss}], "Trainer: names of metrics must be strings other than 'loss'"),
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
