"""Training and averages do not affect each other: the same parameters without averages, the same averages side by side."""

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import Walk, applied, averaged_model, train
from averages_by_definition import SCHEMES
from optimizers import OPTIMIZERS, SPARSE, Table
from paddle_mini.averaging import BiasCorrected, Exponential, Latest, Uniform, Window
from paddle_mini.optimizer import GradientMerge, LossScaling, ParameterAverage
from small_model import SmallModel, assert_same_bits, batch

EARLY = [scheme for scheme in SCHEMES if scheme.start < 5 and (scheme.own_every or 1) < 5]
FEW = [Window(2), Uniform(), Exponential(0.9), Latest(2), BiasCorrected()]
WRAPPERS = {"": lambda one: one, "merged": lambda one: GradientMerge(one, 2), "scaled": LossScaling}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("arguments", [{}, {"every": 2, "start_step": 1}, {"non_finite": "skip"}], ids=str)
def test_training_has_the_same_bits_with_and_without(name, arguments):
    """A1: loss, parameters and optimizer state, also when averages are applied in between."""
    plain = SmallModel(OPTIMIZERS[name]().minimize)
    names = plain.scope.names()
    model = averaged_model(FEW, OPTIMIZERS[name](), **arguments)
    for number in range(7):
        assert model.step(number).tobytes() == plain.step(number).tobytes()
        if number > 2:
            applied(model, FEW[number % len(FEW)])
    assert_same_bits(model.values(names), plain.everything())


@pytest.mark.parametrize("wrapper", [key for key in WRAPPERS if key])
@pytest.mark.parametrize("name", ["SGD", "Adam", "Dpsgd", "Lamb"])
def test_wrapped_training_has_the_same_bits(name, wrapper):
    plain = SmallModel(WRAPPERS[wrapper](OPTIMIZERS[name]()).minimize)
    names = plain.scope.names()
    model = averaged_model(FEW, WRAPPERS[wrapper](OPTIMIZERS[name]()))
    for number in range(6):
        feed = batch(number)
        if number == 3 and wrapper == "scaled":
            feed["x"][0, 0] = np.inf
        for one in (model, plain):
            one.exe.run(one.main, feed, scope=one.scope)
    assert_same_bits(model.values(names), plain.everything())


@pytest.mark.parametrize(
    "arguments",
    [{"grad_clip": pm.clip.GradientClipByGlobalNorm(0.05)}, {"regularization": pm.regularizer.L2Decay(0.1)}],
    ids=["clip", "l2"],
)
def test_clipping_and_regularization_stay_what_they_are(arguments):
    plain = SmallModel(OPTIMIZERS["Adam"](**arguments).minimize)
    model = averaged_model(FEW, OPTIMIZERS["Adam"](**arguments))
    names = plain.scope.names()
    train(plain, 5), train(model, 5)
    assert_same_bits(model.values(names), plain.everything())


@pytest.mark.parametrize("name", ["SGD", "Adagrad", "Ftrl", "Adam", "Momentum"])
def test_sparse_training_has_the_same_bits(name):
    plain = Table(OPTIMIZERS[name]().minimize)
    names = plain.scope.names()
    model = Table(ParameterAverage(OPTIMIZERS[name](), [Window(2), Uniform()]).minimize)
    for one in (plain, model):
        one.run(*SPARSE, *SPARSE)
    assert_same_bits({key: model.scope.get(key) for key in names}, {key: plain.scope.get(key) for key in names})


@pytest.mark.parametrize("arguments", [{}, {"every": 2, "start_step": 1}], ids=str)
def test_several_averages_are_those_of_one_each(arguments):
    """N3: to the bit, for every scheme."""
    together = averaged_model(EARLY, pm.optimizer.Adam(0.05), **arguments)
    train(together, 9)
    for scheme in EARLY:
        alone = averaged_model(scheme, pm.optimizer.Adam(0.05), **arguments)
        train(alone, 9)
        assert_same_bits(applied(together, scheme), applied(alone))


def test_optimizer_and_averages_run_part_by_part(monkeypatch):
    """A21: a parameter is read once for the optimizer and all its averages, which have the same bits as separate ones."""
    models = []
    for fuse in ("1", "0"):
        monkeypatch.setenv("PM_FUSE", fuse)
        model = Walk([Uniform(), Exponential(0.9), Window(3)], size=10_007)
        plan = model.exe.plan_text(model.main, {"x": np.zeros(10_007, "float32")}, scope=model.scope)
        assert plan.count("in parts with it: parameter_average") == (3 if fuse == "1" else 0)
        models.append(model.walk(8))
    assert models[0].history[-1].tobytes() == models[1].history[-1].tobytes()
    for scheme in models[0].average.schemes:
        assert models[0].value(scheme).tobytes() == models[1].value(scheme).tobytes()


@pytest.mark.parametrize(
    "scheme, floats",
    [(Uniform(), 2), (Exponential(0.9), 2), (Window(3), 3), (Latest(4), 4), (BiasCorrected(), 3), (Uniform(compensated=True), 2)],
    ids=repr,
)
def test_what_an_average_keeps(scheme, floats):
    """A21, D12: the number of floats per parameter, 5 counters and 7 numbers; no more while averages are not applied."""
    model = averaged_model(scheme)
    plain = SmallModel(pm.optimizer.SGD(0.2).minimize)
    train(model, 3)
    kept = {name: model.scope.get(name) for name in set(model.scope.names()) - set(plain.scope.names())}
    assert (kept["average_counters_0"].shape, kept["average_counters_0"].dtype) == ((5,), "int64")
    assert (kept["average_state_0"].shape, kept["average_state_0"].dtype) == ((7,), "float64")
    values = sum(value.size for name, value in kept.items() if not name.startswith("average_"))
    assert values == floats * sum(model.scope.get(name).size for name in model.parameters)


def test_averages_begin_as_the_parameters_do():
    model = averaged_model([Uniform(), Window(3)])
    for name in model.parameters:
        for kept in ("average_0", "average_1", "previous_average_0"):
            assert model.scope.get(f"{name}_{kept}").tobytes() == model.scope.get(name).tobytes()
    assert not model.scope.get("average_counters_0").any() and not model.scope.get("average_state_0").any()


def test_averaging_is_appended_behind_the_optimizer():
    """A19: the averages use the values that the optimizer wrote in the same step."""
    model = Walk(Latest(1), "float64")
    model.step([1, 2, 3])
    assert model.value().tobytes() == model.scope.get("p").tobytes() == model.history[0].tobytes()


def test_parameters_of_two_optimizers_in_one_program():
    a, b = (pm.layers.create_parameter([3], attr=pm.ParamAttr(name, pm.initializer.Constant(1.0))) for name in "ab")
    loss = pm.layers.mean(pm.layers.square(a) + pm.layers.square(b))
    averages = [ParameterAverage(pm.optimizer.SGD(rate, parameter_list=[one]), Uniform()) for one, rate in ((a, 0.3), (b, 0.6))]
    for average in averages:
        average.minimize(loss)
    exe, scope = pm.Executor(), pm.global_scope()
    exe.run(pm.default_startup_program())
    history = []
    for _ in range(4):
        exe.run()
        history.append([scope.get(name) for name in "ab"])
    means = np.mean(history, 0, "float64")
    with averages[0].apply(exe), averages[1].apply(exe):
        np.testing.assert_allclose([scope.get(name) for name in "ab"], means, rtol=1e-6)
    assert [scope.get(name).tobytes() for name in "ab"] == [value.tobytes() for value in history[-1]]
