"""Which steps count: those that change parameters and leave them finite."""

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import Walk, applied, assert_close, averaged_model, counters, train
from averages_by_definition import SCHEMES, expected
from optimizers import Table
from paddle_mini.averaging import Exponential, Latest, Power, Tail, Uniform, Window
from paddle_mini.optimizer import ParameterAverage
from small_model import SmallModel, assert_same_bits, batch

O = pm.optimizer
EARLY = [scheme for scheme in SCHEMES if scheme.start < 5 and (scheme.own_every or 1) < 3]
BAD = (np.nan, np.inf, -np.inf)


def means(scheme, history, *arguments):
    """The average of every parameter."""
    return {name: expected(scheme, [step[name] for step in history], *arguments) for name in history[0]}


@pytest.mark.parametrize("order", ["average of merged", "merge of averaged"])
@pytest.mark.parametrize("every, start_step", [(1, 0), (2, 1)])
def test_runs_of_a_merge_count_when_they_step(order, every, start_step):
    """D4: the parameters do not change in the other runs, and neither does their average."""
    if order == "average of merged":
        model = averaged_model(EARLY, O.GradientMerge(O.SGD(0.2), 3), "float64", every=every, start_step=start_step)
    else:
        average = ParameterAverage(O.SGD(0.2), EARLY, every=every, start_step=start_step)
        model = SmallModel(O.GradientMerge(average, 3).minimize, "float64")
        model.average = average
    history, kept = [], None
    for number in range(18):
        model.step(number)
        steps = (number + 1) // 3
        assert counters(model.scope)["steps"] == steps
        averages = [model.scope.get(name) for name in model.scope.names() if "average" in name]
        if (number + 1) % 3 == 0:
            history.append(model.values())
        elif kept is not None:
            assert all(one.tobytes() == other.tobytes() for one, other in zip(averages, kept))
        kept = averages
    for scheme in EARLY:
        assert_close(applied(model, scheme), means(scheme, history, every, start_step), 1e-13)


def scaled_model(order):
    """With averages inside or outside of loss scaling."""

    def scaled(optimizer):
        return O.LossScaling(optimizer, decr_every_n_nan_or_inf=10)

    if order == "average of scaled":
        return averaged_model(EARLY, scaled(O.Adam(0.05)))
    average = ParameterAverage(O.Adam(0.05), EARLY)
    model = SmallModel(scaled(average).minimize)
    model.average = average
    return model


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("order", ["average of scaled", "scaled average"])
def test_steps_that_loss_scaling_leaves_out_do_not_count(value, order):
    """Averages do not move in them, and afterwards equal, bit for bit, those of a run without them."""
    models = [scaled_model(order) for _ in range(2)]
    averages = [name for name in models[0].scope.names() if "average" in name]
    for number in range(9):
        feed = batch(number)
        if number in (0, 3, 4, 8):
            feed["x"][2, 1] = value
            before = models[0].values(averages)
            models[0].exe.run(models[0].main, feed, scope=models[0].scope)
            assert_same_bits(models[0].values(averages), before)
        else:
            for model in models:
                model.step(number)
    assert counters(models[0].scope)["steps"] == 5
    for scheme in EARLY:
        assert_same_bits(applied(models[0], scheme), applied(models[1], scheme))


def test_merged_and_scaled_steps_count_once():
    average = ParameterAverage(O.GradientMerge(O.LossScaling(O.SGD(0.1)), 2), Uniform())
    model = SmallModel(average.minimize, "float64")
    history = []
    for number in range(8):
        feed = batch(number, "float64")
        if number == 3:
            feed["x"][0, 0] = np.nan
        model.exe.run(model.main, feed, scope=model.scope)
        if number in (1, 5, 7):
            history.append(model.values())
    assert counters(model.scope)["steps"] == 3
    with average.apply(model.exe, model.scope):
        assert_close(model.values(), means(Uniform(), history), 1e-14)


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("size", [3, 5000])
def test_a_parameter_that_is_not_finite_is_refused(value, size):
    """N7: the error names it, counters do not move, averages do not contain it, and apply still works."""
    model = Walk([Uniform(), Window(2), Exponential(0.9)], size=size, rate=1.0).walk(3)
    kept, before = counters(model.scope), [model.value(scheme) for scheme in model.average.schemes]
    x = np.full(size, 3.0)
    x[size // 2] = value
    with pytest.raises(
        pm.OpError,
        match=rf"parameter_average: element {size // 2} of Param is -?(inf|nan): it does "
        r"not enter the average(?s:.)*'p",
    ):
        model.step(x)
    assert counters(model.scope) == kept
    assert all(np.isfinite(model.value(scheme)).all() for scheme in model.average.schemes)
    if size == 3:  # one block: none of its steps were averaged
        for scheme, was in zip(model.average.schemes, before):
            assert model.value(scheme).tobytes() == was.tobytes()


@pytest.mark.parametrize("scheme", EARLY, ids=repr)
def test_no_average_holds_what_is_not_finite(scheme):
    model = averaged_model(scheme)
    train(model, 5)
    kept = counters(model.scope)
    feed = batch(4)
    feed["x"][1, 2] = np.nan
    with pytest.raises(pm.OpError, match=r"it does not enter the average|is not finite"):
        model.exe.run(model.main, feed, scope=model.scope)
    assert counters(model.scope) == kept
    averages = [name for name in model.scope.names() if "_average_" in name]
    assert len(averages) >= 4 and all(np.isfinite(model.scope.get(name)).all() for name in averages)


def skipping(schemes, dtype="float32", **arguments):
    return Walk(schemes, dtype, rate=1.0, non_finite="skip", **arguments)


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("arguments", [{}, {"start_step": 2}], ids=str)
def test_skipped_steps_leave_averages_as_without_them(value, arguments):
    """N7: exactly, for every scheme; skipped steps are counted."""
    schemes = [scheme for scheme in EARLY if scheme.own_every in (None, 1)]
    met, without = skipping(schemes, **arguments), skipping(schemes, **arguments)
    for number, x in enumerate(3 + np.random.RandomState(0).randn(12, 3)):
        if number in (4, 5, 9):
            raw = met.scope.get("p")
            bad = x.copy()
            bad[number % 3] = value
            met.step(bad)
            assert not np.isfinite(met.scope.get("p")).all()
            met.scope.set("p", raw)
        met.step(x)
        without.step(x)
    kept = counters(without.scope)
    assert kept["skipped"] == 0
    assert counters(met.scope) == {**kept, "skipped": 3, "steps": kept["steps"] + 3}
    for scheme in schemes:
        assert met.value(scheme).tobytes() == without.value(scheme).tobytes(), scheme


def test_a_skipped_step_is_a_step():
    """`every` and start_step count steps of the optimizer, and a skipped step is one."""
    model = skipping([Uniform(), Latest(9, every=2)], start_step=1).walk(3)
    raw = model.scope.get("p")
    model.step([np.nan, 0, 0])
    model.scope.set("p", raw)
    model.walk(4)
    del model.history[3]  # the average of steps 1 to 8
    np.testing.assert_allclose(model.value(), np.mean(model.history[1:], 0), rtol=1e-6)
    latest = np.mean([model.history[t] for t in (2, 3, 5)], 0)
    np.testing.assert_allclose(model.value(Latest(9, every=2)), latest, rtol=1e-6)


def test_parameters_that_stay_not_finite_are_skipped_for_good():
    model = skipping([Uniform(), Window(2), Latest(2)]).walk(5)
    before = [model.value(scheme) for scheme in model.average.schemes]
    model.step([1, np.nan, 2])
    model.walk(3)
    assert counters(model.scope)["skipped"] == 4
    for scheme, value in zip(model.average.schemes, before):
        assert model.value(scheme).tobytes() == value.tobytes()


def test_skipping_looks_at_parameters_of_every_dtype():
    first = pm.layers.create_parameter([3], attr=pm.ParamAttr("a", pm.initializer.Constant(1.0)))
    second = pm.layers.create_parameter([2], "float64", attr=pm.ParamAttr("b", pm.initializer.Constant(1.0)))
    x, y = pm.layers.data("x", [3]), pm.layers.data("y", [2], dtype="float64")
    loss = pm.layers.mean(first * x) + pm.layers.cast(pm.layers.mean(second * y), "float32")
    ParameterAverage(O.SGD(0.1), Uniform(), non_finite="skip").minimize(loss)
    exe, scope = pm.Executor(), pm.global_scope()
    exe.run(pm.default_startup_program())
    good = {"x": np.ones(3, "float32"), "y": np.ones(2)}
    exe.run(feed=good)
    assert counters(scope)["skipped"] == 0
    for name, bad in (("a", {"x": np.float32([1, np.inf, 1])}), ("b", {"y": np.array([np.nan, 1])})):
        raw, before = scope.get(name), counters(scope)["skipped"]
        exe.run(feed={**good, **bad})
        assert counters(scope)["skipped"] == before + 1
        scope.set(name, raw)
    assert all(np.isfinite(scope.get(name)).all() for name in ("a_average_0", "b_average_0"))


@pytest.mark.parametrize("scheme", [Uniform(), Window(2), Power(3.0), Tail(1)], ids=repr)
def test_skipping_with_rows(scheme):
    """A step whose gradient is not finite does not change the averages of rows, either."""
    tables = []
    for bad in (True, False):
        average = ParameterAverage(O.SGD(0.1), scheme, non_finite="skip")
        table = Table(average.minimize)
        for number, ids in enumerate(([3, 1], [1, 2], [2, 5])):
            if bad and number:
                raw = {name: table.scope.get(name) for name in ("table", "fc_0.w_0", "fc_0.b_0")}
                table.scope.set("fc_0.w_0", np.full_like(raw["fc_0.w_0"], np.inf))
                with np.errstate(all="ignore"):
                    table.run(ids)
                for name, value in raw.items():
                    table.scope.set(name, value)
            table.run(ids)
        assert counters(table.scope)["skipped"] == (2 if bad else 0)
        with average.apply(table.exe, table.scope):
            tables.append(table.scope.get("table"))
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-14)


def test_skipping_and_loss_scaling():
    """A run without a step is not a skipped step."""
    model = averaged_model(Uniform(), O.LossScaling(O.SGD(0.1)), non_finite="skip")
    train(model, 2)
    feed = batch(2)
    feed["x"][0, 0] = np.inf
    model.exe.run(model.main, feed, scope=model.scope)
    assert counters(model.scope) == {"updates": 2, "newer": 0, "older": 0, "steps": 2, "skipped": 0}
    model.scope.set("fc_0.b_0", np.full(5, np.inf, "float32"))
    train(model, 1, 3)
    assert counters(model.scope) == {"updates": 2, "newer": 0, "older": 0, "steps": 3, "skipped": 1}


def test_the_latest_are_taken_when_parameter_average_says():
    """Used where Latest does not set its own, which takes precedence."""
    model = Walk(Latest(4), "float64", every=10).walk(40)
    np.testing.assert_allclose(model.value(), np.mean(model.history[9::10], 0), rtol=1e-14)
    model = Walk(Latest(4, every=5), "float64", every=10).walk(40)
    np.testing.assert_allclose(model.value(), np.mean(model.history[24::5], 0), rtol=1e-14)


def test_two_averages_of_one_program_that_average_at_different_steps():
    """As in the two halves of an adversarial network: each counts by its own `every` and start_step."""
    x, apart = pm.layers.data("x", [3], dtype="float64"), {}
    for name, every, start, schemes in (("a", 3, 0, [Uniform(), Latest(2)]), ("b", 2, 1, [Latest(2), Uniform()])):
        p = pm.layers.create_parameter([3], "float64", attr=pm.ParamAttr(name, pm.initializer.Constant(3.0)))
        apart[name] = ParameterAverage(O.SGD(0.2), schemes, every=every, start_step=start), every, start
        loss = pm.layers.reduce_sum(pm.layers.square(p - x)) * 0.5
        apart[name][0].minimize(loss, parameter_list=[name])
    exe, scope, random, history = pm.Executor(), pm.global_scope(), np.random.RandomState(0), {"a": [], "b": []}
    exe.run(pm.default_startup_program())
    for _ in range(17):
        exe.run(feed={"x": random.randn(3)})
        for name, steps in history.items():
            steps.append(scope.get(name))
    for name, (average, every, start) in apart.items():
        for scheme in average.schemes:
            with average.apply(exe, scope, scheme):
                np.testing.assert_allclose(scope.get(name), expected(scheme, history[name], every, start), rtol=1e-13)


def test_one_scheme_at_two_steps():
    """A scheme's own `every` overrides that of ParameterAverage; an average that is then the same is listed twice."""
    schemes = [Latest(3), Latest(3, every=4), Uniform()]
    model = Walk(schemes, "float64", every=5).walk(23)
    for scheme in schemes:
        np.testing.assert_allclose(model.value(scheme), expected(scheme, model.history, 5), rtol=1e-13)
    with pytest.raises(pm.ProgramError, match=r"Latest\(3, every=5\) is listed twice"):
        Walk([Latest(3), Uniform(), Latest(3, every=5)], every=5)
    with pytest.raises(pm.ProgramError, match=r"Latest\(3, every=2\) is not averaged; there is Latest\(3\)"):
        model.value(Latest(3, every=2))
