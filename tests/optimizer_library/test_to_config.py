# to_config: every argument of every optimizer is in the message, or rejected by name.
import inspect
import math

import numpy as np
import pytest

import paddle_mini as pm
from optimizers import ARGUMENTS, OPTIMIZERS
from paddle_mini.averaging import Exponential, Polynomial, Power, Tail, Uniform, Window
from paddle_mini.optimizer.config import config_class
from paddle_mini.optimizer.optimizer import Optimizer

O = pm.optimizer
SEED = {"Dpsgd": {"seed": 3}}  # others have no message
NEEDED = {"LarsMomentum": {"momentum": 0.875}}


def optimizer(name, **arguments):
    return getattr(O, name)(**{"learning_rate": 0.5, **SEED.get(name, {}), **NEEDED.get(name, {}), **arguments})


def values_of(message):
    """The values that were set, in one dictionary: those of a message inside as "adam.beta_1"."""
    found = {}
    for field, value in message.ListFields():
        if field.message_type is None:
            found[field.name] = value
        elif field.name != "averaging":
            found.update({f"{field.name}.{inner.name}": one for inner, one in value.ListFields()})
    return found


def parameter(name="w", shape=(4, 3), **facts):
    return pm.default_main_program().global_block().create_parameter(name, shape, **facts)


def own_arguments(kind):
    """Names of the constructor's arguments, without those that all optimizers share."""
    shared = set(inspect.signature(Optimizer.__init__).parameters)
    return [
        name
        for name, one in inspect.signature(kind.__init__).parameters.items()
        if name not in shared and one.kind is not inspect.Parameter.VAR_KEYWORD
    ]


def test_the_lists_have_every_optimizer_and_every_argument():
    public = {getattr(O, name) for name in O.__all__} - {Optimizer}
    kinds = {one.__name__: one for one in public if issubclass(one, Optimizer)}
    assert set(kinds) == set(ARGUMENTS) == set(OPTIMIZERS)
    for name, kind in kinds.items():
        assert sorted(ARGUMENTS[name]) == sorted(own_arguments(kind)), name


@pytest.mark.parametrize(
    "name, argument", [(name, argument) for name, given in ARGUMENTS.items() for argument in given if given[argument] is not None]
)
def test_each_argument_changes_its_value(name, argument):
    given = ARGUMENTS[name][argument]
    before, after = (values_of(optimizer(name, **arguments).to_config()) for arguments in ({}, {argument: given}))
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    assert len(changed) == 1, changed
    ((key, value),) = changed.items()
    assert value == given or (key, value) == ("row_policy", config_class().Lazy)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_field_of_the_message_is_said(name):
    """The message's defaults, which differ, are never used."""
    config = optimizer(name).to_config()
    inner = next(value for field, value in config.ListFields() if field.message_type and field.name != "const_lr")
    said = {field.name for field, _ in inner.ListFields()}
    missing = {field.name for field in inner.DESCRIPTOR.fields} - said
    foreign = {"SGD": {"momentum", "decay", "nesterov"}, "ProximalGD": {"initial_accumulator_value"}}
    assert missing <= foreign.get(name, {"decay"})


@pytest.mark.parametrize("name", ARGUMENTS)
def test_what_all_optimizers_share(name):
    values = values_of(optimizer(name, regularization=0.25, grad_clip=pm.clip.GradientClipByNorm(2.0)).to_config())
    assert (values["const_lr.learning_rate"], values["l2_rate"], values["clip_norm"]) == (0.5, 0.25, 2.0)
    l1, clip = pm.regularizer.L1Decay(0.25), pm.clip.GradientClipByValue(2.0)
    values = values_of(optimizer(name, regularization=l1, grad_clip=clip).to_config())
    assert (values["l1_rate"], values["clip_value"]) == (0.25, 2.0) and "l2_rate" not in values
    assert not {"l1_rate", "l2_rate", "clip_norm", "clip_value"} & set(values_of(optimizer(name).to_config()))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_library_takes_it(name):
    config = optimizer(name, regularization=0.25, grad_clip=pm.clip.GradientClipByNorm(2.0)).to_config(parameter())
    with O.NativeOptimizer(config, np.ones((4, 3))) as native:
        native.update(np.ones((4, 3)))
        assert native.updates == 1


def test_facts_of_a_parameter():
    own = parameter(learning_rate=0.25, regularizer=pm.regularizer.L1Decay(0.5), need_clip=False)
    values = values_of(O.SGD(0.1, regularization=0.75, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0)).to_config(own))
    assert values["learning_rate_factor"] == 0.25 and values["l1_rate"] == 0.5 and values["row_width"] == 3
    assert not {"l2_rate", "clip_norm", "clip_value"} & set(values)
    assert values_of(O.SGD(0.1).to_config(parameter("bias", [5])))["row_width"] == 1


def test_functions_of_a_parameter():
    w, bias = parameter("w"), parameter("bias")
    adamw = O.AdamW(0.1, weight_decay=0.5, lr_ratio=lambda one: 0.25, apply_decay_param_fun=lambda name: name == "w")
    lamb = O.Lamb(0.1, 0.5, exclude_from_weight_decay_fn=lambda one: one.name == "bias")
    lars = O.LarsMomentum(0.1, 0.9, lars_weight_decay=0.5, exclude_from_weight_decay=["ias"])
    decays = [
        [values_of(one.to_config(of))[key] for of in (w, bias)]
        for one, key in ((adamw, "adam.decay"), (lamb, "lamb.weight_decay"), (lars, "lars.lars_weight_decay"))
    ]
    assert decays == [[0.125, 0.0], [0.5, 0.0], [0.5, 0.0]]
    for one, name in (
        (O.AdamW(0.1, lr_ratio=lambda one: 1), "lr_ratio"),
        (adamw, "apply_decay_param_fun"),
        (lamb, "exclude_from_weight_decay_fn"),
        (lars, "exclude_from_weight_decay"),
    ):
        with pytest.raises(pm.ProgramError, match=f"{name}.*give it to to_config"):
            one.to_config()


@pytest.mark.parametrize(
    "optimizer, policy",
    [
        (O.SGD(0.1), "Lazy"),
        (O.SGD(0.1, regularization=0.1), "Lazy"),
        (O.Adagrad(0.1), "Lazy"),
        (O.Ftrl(0.1), "Lazy"),
        (O.Adam(0.1, lazy_mode=True), "Lazy"),
        (O.Adam(0.1), "LikeZeros"),
        (O.Momentum(0.1), "LikeZeros"),
        (O.RMSProp(0.1), "LikeZeros"),
        (O.Adagrad(0.1, regularization=0.1), "LikeZeros"),
        (O.ParameterAverage(O.SGD(0.1), Uniform()), "Lazy"),
        (O.ParameterAverage(O.SGD(0.1, regularization=0.1), Uniform()), "LikeZeros"),
    ],
)
def test_rows_that_a_gradient_does_not_name(optimizer, policy):
    config = optimizer.to_config()
    assert config.RowPolicy.Name(config.row_policy) == policy


@pytest.mark.parametrize(
    "scheme",
    [
        Window(5),
        Window(rate=0.5, min_size=3, max_size=9),
        Uniform(),
        Tail(4),
        Polynomial(2.0),
        Power(3.0),
        Exponential(0.5),
        Exponential(0.5, bias_correction=False),
        Exponential(0.5, warmup="ratio"),
        Exponential(0.5, warmup=(3, 0.5)),
    ],
)
def test_averages(scheme):
    config = O.ParameterAverage(O.Adam(0.1), [scheme, Polynomial(1.5)], every=2, start_step=3).to_config()
    assert config.optimizer == config.Adam and len(config.averaging) == 2
    said = {field.name: value for field, value in config.averaging[0].ListFields()}
    for key, value in {**scheme.attrs(2), "every": 2, "start_step": max(3, scheme.start)}.items():
        kind = config.averaging[0].DESCRIPTOR.fields_by_name[key].enum_type
        if kind is not None:
            value = kind.values_by_name["warmup_by_power" if (key, value) == ("warmup", "power") else value].number
        assert said.pop(key) == value, key
    assert said == {}


@pytest.mark.parametrize("non_finite, policy", [("raise", "Refuse"), ("skip", "Skip")])
def test_averages_of_what_is_not_finite(non_finite, policy):
    config = O.ParameterAverage(O.SGD(0.1), Uniform(), non_finite=non_finite).to_config()
    assert config.NanPolicy.Name(config.nan_policy) == policy


def test_only_parameters_that_are_averaged():
    w, bias, out = parameter("w"), parameter("bias"), parameter("out", do_model_average=False)
    chosen, all_ = (O.ParameterAverage(O.SGD(0.1), Uniform(), parameters=names) for names in (["w"], None))
    assert [len(chosen.to_config(one).averaging) for one in (w, bias, None)] == [1, 0, 1]
    assert [len(all_.to_config(one).averaging) for one in (w, bias, out)] == [1, 1, 0]


def test_parameters_that_are_none_of_its():
    with pytest.raises(pm.ProgramError, match="'w'.*parameter_list"):
        O.SGD(0.1, parameter_list=["bias"]).to_config(parameter())
    with pytest.raises(pm.ProgramError, match="Parameter"):
        O.SGD(0.1).to_config("w")


def test_a_message_goes_through_bytes():
    config = O.ParameterAverage(O.AdamW(0.1), Exponential(0.5)).to_config()
    assert config_class().FromString(config.SerializeToString()) == config
    assert math.isclose(config.adam.decay, 0.01)
