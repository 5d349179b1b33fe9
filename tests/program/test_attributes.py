"""Attributes that objects do not have can't be set: the value would have no effect."""

import copy
import pickle

import numpy as np
import pytest

import paddle_mini as pm

L = pm.layers


def made():
    """An object of each kind that answers names."""
    hidden = L.fc(L.data("x", [-1, 2]), 3)
    loss, optimizer = L.mean(hidden), pm.optimizer.SGD(0.1)
    program = loss.block.program
    things = [hidden, *program.all_parameters(), program, program.global_block(), program.global_block().ops[0], pm.Executor()]
    things += [pm.Scope(), optimizer, pm.optimizer.ParameterAverage(optimizer, window_size=3), pm.lr.StepDecay(0.1, 3)]
    things += [pm.Trainer(loss, optimizer), pm.training.EarlyStopping(), pm.data.Loader([1]), pm.data.DataFeeder([hidden])]
    things += [pm.ParamAttr(), pm.clip.GradientClipByNorm(1.0), pm.regularizer.L2Decay(0.1), pm.io.CheckpointManager("run")]
    return [*things, pm.DataParallel([pm.EmulatedPlace(0)])]


def test_objects_refuse_attributes_that_they_do_not_have():
    for thing in made():
        for name in ("requires_grad", "no_such_attribute"):
            with pytest.raises(AttributeError, match=f"'{type(thing).__name__}' object has no attribute '{name}'"):
                setattr(thing, name, False)
        thing_or_copy = thing if isinstance(thing, pm.Scope) else copy.copy(thing)
        with pytest.raises(AttributeError):
            thing_or_copy.no_such_attribute = 1


@pytest.mark.parametrize(
    "index, name, advice",
    [
        (0, "requires_grad", "stop_gradient is the opposite"),
        (0, "trainable", "parameters have trainable"),
        (8, "lr", "set_lr"),
        (11, "stop_training", r"stop\(reason\)"),
        (13, "batch_size", "batch"),
    ],
)
def test_names_of_other_frameworks_get_advice(index, name, advice):
    with pytest.raises(AttributeError, match=advice):
        setattr(made()[index], name, 1)


def test_what_an_object_is_made_from_is_fixed():
    hidden, exe = L.fc(L.data("x", [-1, 2]), 3), pm.Executor()
    for thing, name in [(hidden, "name"), (hidden.block.ops[0], "type"), (exe, "threads"), (pm.data.Loader([1]), "data")]:
        before = getattr(thing, name)
        with pytest.raises(AttributeError, match=f"'{name}' of .* is fixed"):
            setattr(thing, name, "other")
        assert getattr(thing, name) is before


def test_attributes_that_an_object_has_can_be_set():
    hidden = L.fc(L.data("x", [-1, 2]), 3)
    hidden.lod_level = 1  # PaddlePaddle's programs set it, too
    hidden.do_model_average = False
    assert (hidden.lod_level, hidden.do_model_average) == (1, False)


def test_own_classes_have_attributes_of_their_own():
    class Rate(pm.lr.LRScheduler):
        def get_lr(self):
            return 0.1

    rate = Rate(0.1)
    rate.seen = [1]
    hidden = L.fc(L.data("x", [-1, 2]), 3)
    hidden._mark = 1  # private names are the caller's
    hidden.stop_gradient = np.bool_(True)
    for again in (copy.deepcopy(hidden), pickle.loads(pickle.dumps(hidden))):
        assert again._mark == 1 and again.stop_gradient is True
    assert rate.seen == [1]


@pytest.mark.parametrize("name", ["stop_gradient", "trainable", "persistable"])
def test_flags_take_flags_only(name):
    weight = L.fc(L.data("x", [-1, 2]), 3).block.program.all_parameters()[0]
    before = getattr(weight, name)
    with pytest.raises(pm.ProgramError, match=f"{name} is 'no', it must be True or False"):
        setattr(weight, name, "no")
    assert getattr(weight, name) is before


def test_a_rate_that_is_in_the_program_is_set_by_set_lr():
    optimizer = pm.optimizer.SGD(0.1)
    optimizer.learning_rate = 0.5
    with pytest.raises(pm.ProgramError, match="finite number"):
        optimizer.learning_rate = -1.0
    optimizer.minimize(L.mean(L.fc(L.data("x", [-1, 2]), 3)))
    with pytest.raises(pm.ProgramError, match=r"set_lr\(rate\)"):
        optimizer.learning_rate = 0.2
    pm.Executor().run(pm.default_startup_program())
    assert optimizer.get_lr() == 0.5


def test_a_seed_is_an_integer():
    with pytest.raises(pm.ProgramError, match="random_seed is 'a'"):
        pm.default_main_program().random_seed = "a"
