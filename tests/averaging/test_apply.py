"""apply: averages replace the parameters for a while, and the raw values are restored in every case."""

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import applied, averaged_model, counters, train
from averages_by_definition import SCHEMES
from paddle_mini.averaging import Exponential, Latest, Uniform, Window
from paddle_mini.optimizer import ParameterAverage
from small_model import SmallModel, assert_same_bits, batch, data

FEW = [Window(4), Window(1), Uniform(), Exponential(0.8), Latest(3)]
EARLY = [scheme for scheme in SCHEMES if scheme.start < 5 and (scheme.own_every or 1) < 5]


def set_aside(scope):
    return [name for name in scope.names() if "@" in name]


def test_raw_values_come_back_bit_for_bit_also_on_an_exception():
    """A6, D3, D5, D7, D14: for every scheme, a hundred times, among values of all sizes."""
    model = averaged_model(EARLY, pm.optimizer.Adam(0.05))
    odd = np.float32([1e-40, -0.0, 1e30, 1.5, -3e-38])
    model.scope.set("fc_0.b_0", odd)
    train(model, 5)
    model.scope.set("fc_1.b_0", np.float32([1e-42, -0.0, 3e38]))
    before = model.everything()
    for scheme in EARLY:
        averages = applied(model, scheme)
        assert_same_bits(model.everything(), before)
        if scheme not in (Window(1), Latest(1), Exponential(0)):
            assert any((averages[name] != before[name]).any() for name in averages), scheme
        with pytest.raises(RuntimeError, match="in the body"), model.average.apply(model.exe, model.scope, scheme):
            assert_same_bits(model.values(), averages)
            raise RuntimeError("in the body")
        assert_same_bits(model.everything(), before)
    for _ in range(100):
        applied(model)
    assert_same_bits(model.everything(), before)


def test_evaluating_in_the_block_uses_the_averages():
    model = averaged_model(Window(3))
    train(model, 5)
    testing = model.main.clone(for_test=True).prune([model.x, model.label], [model.logits])

    def logits():
        return model.exe.run(testing, batch(0), [model.logits], model.scope)[0].tobytes()

    raw, averages = logits(), applied(model)
    with model.average.apply(model.exe, model.scope):
        averaged = logits()
    assert logits() == raw != averaged
    for name, value in averages.items():
        model.scope.set(name, value)
    assert logits() == averaged


@pytest.mark.parametrize("scheme", EARLY, ids=repr)
def test_before_the_first_averaged_step_raw_values_stay(scheme):
    """A7, D6: with a warning; initial values or NaN never appear."""
    model = averaged_model(scheme, start_step=4)
    for number in range(3):
        before = model.values()
        with (
            pytest.warns(UserWarning, match="no step has been averaged yet, so the raw values stay") as caught,
            model.average.apply(model.exe, model.scope),
        ):
            assert_same_bits(model.values(), before)
        assert caught[0].filename == __file__
        assert_same_bits(model.values(), before)
        model.step(number)


@pytest.mark.parametrize("scheme", [scheme for scheme in EARLY if not isinstance(scheme, Latest)], ids=repr)
def test_before_the_first_update_the_average_follows_the_parameter(scheme):
    """A program that reads it without apply does not read initial values either."""
    model = averaged_model(scheme, start_step=6)
    averages = [f"{name}_average_0" for name in model.parameters]
    assert_same_bits(dict(zip(model.parameters, model.values(averages).values())), model.values())
    for number in range(5):
        model.step(number)
        assert_same_bits(dict(zip(model.parameters, model.values(averages).values())), model.values())
    assert counters(model.scope) == {"updates": 0, "newer": 0, "older": 0, "steps": 5, "skipped": 0}


def test_apply_does_not_nest_and_nothing_is_lost():
    """A8: not inside apply with another scheme or by another ParameterAverage of the same parameters, either."""
    model = averaged_model([Window(3), Uniform()])
    train(model, 4)
    before, averages = model.values(), applied(model)
    with model.average.apply(model.exe, model.scope):
        for again in (None, Uniform()):
            with (
                pytest.raises(
                    pm.OpError,
                    match=r"applied already: 'fc_0\.[bw]_0' holds one; leave that apply\(\), or "
                    r"call restore\(\), first",
                ),
                model.average.apply(model.exe, model.scope, again),
            ):
                pytest.fail("entered")
        assert_same_bits(model.values(), averages)
    assert_same_bits(model.values(), before)
    assert set_aside(model.scope) == []


def test_a_failing_apply_leaves_everything_as_it_was():
    model = averaged_model(Window(3))
    train(model, 4)
    lost = next(name for name in model.scope.names() if "previous_average" in name)
    value = model.scope.get(lost)
    model.scope.erase(lost)
    before = model.everything()
    for _ in range(2):
        with pytest.raises(pm.OpError, match="previous_average"):
            applied(model)
        assert_same_bits(model.everything(), before)
    model.scope.set(lost, value)
    applied(model)


def test_apply_between_steps_changes_nothing():
    """A9, A11: counters do not move, and restore() without apply() has no effect."""
    quiet, disturbed = (averaged_model([Window(3), Uniform(), Latest(2)]) for _ in range(2))
    for number in range(8):
        for model in (quiet, disturbed):
            model.step(number)
        for scheme in (None, Uniform(), Latest(2)):
            applied(disturbed, scheme)
        disturbed.average.restore(disturbed.exe, disturbed.scope)
    assert_same_bits(disturbed.everything(), quiet.everything())


def test_need_restore_false_then_restore_with_saving_in_between(tmp_path):
    """A10."""
    model = averaged_model(Uniform())
    train(model, 4)
    before, averages = model.everything(), applied(model)
    with model.average.apply(model.exe, model.scope, need_restore=False):
        pass
    pm.io.save_inference_model(tmp_path / "averaged", [model.x], [model.logits], model.exe, scope=model.scope)
    assert_same_bits(model.values(), averages)
    with pytest.raises(pm.OpError, match="applied already"):
        applied(model)
    for _ in range(2):
        model.average.restore(model.exe, model.scope)
        assert_same_bits(model.everything(), before)
    loaded = pm.Scope()
    pm.io.load_inference_model(tmp_path / "averaged", model.exe, scope=loaded)
    assert_same_bits({name: loaded.get(name) for name in averages}, averages)


def test_an_exception_with_need_restore_false_leaves_the_averages():
    model = averaged_model(Uniform())
    train(model, 3)
    before, averages = model.everything(), applied(model)
    with pytest.raises(RuntimeError), model.average.apply(model.exe, model.scope, need_restore=False):
        raise RuntimeError
    assert_same_bits(model.values(), averages)
    model.average.restore(scope=model.scope)
    assert_same_bits(model.everything(), before)


def test_what_is_saved_is_what_is_bound(tmp_path):
    """A15."""
    model = averaged_model(Exponential(0.5))
    train(model, 4)
    before, averages = model.values(), applied(model)
    pm.io.save_inference_model(tmp_path / "raw", [model.x], [model.logits], model.exe, scope=model.scope)
    with model.average.apply(model.exe, model.scope):
        pm.io.save_inference_model(tmp_path / "averaged", [model.x], [model.logits], model.exe, scope=model.scope)
    for name, wanted in (("raw", before), ("averaged", averages)):
        scope = pm.Scope()
        pm.io.load_inference_model(tmp_path / name, model.exe, scope=scope)
        assert_same_bits({name: scope.get(name) for name in scope.names()}, wanted)


@pytest.mark.parametrize("scheme", EARLY, ids=repr)
def test_a_saved_program_goes_on_with_the_same_average(tmp_path, scheme):
    """A16, D16: in the middle of a window, too."""
    whole, stopped = (averaged_model(scheme, pm.optimizer.Adam(0.05), every=1, start_step=1) for _ in range(2))
    train(whole, 9)
    train(stopped, 5)
    pm.io.save_program(tmp_path / "half", stopped.main, stopped.scope)
    stopped.scope = pm.Scope()
    stopped.main = pm.io.load_program(tmp_path / "half", stopped.scope)
    train(stopped, 4, first=5)
    assert_same_bits(stopped.values(whole.scope.names()), whole.everything())
    assert_same_bits(applied(stopped), applied(whole))


@pytest.mark.parametrize(
    "choose",
    [{"attrs": {"bias_attr": pm.ParamAttr(do_model_average=False)}}, {"parameters": ["fc_0.w_0", "fc_1.w_0", "fc_1.b_0"]}],
)
def test_parameters_that_are_not_averaged_keep_raw_values(choose):
    """A14."""
    model = averaged_model(Uniform(), **choose)
    history = train(model, 3)
    found, raw = applied(model), history[-1]
    assert_same_bits({"fc_0.b_0": found["fc_0.b_0"]}, {"fc_0.b_0": raw["fc_0.b_0"]})
    assert not any("fc_0.b_0_average" in name for name in model.scope.names())
    assert all((found[name] != raw[name]).any() for name in found if name != "fc_0.b_0")


def test_frozen_parameters_are_left_alone():
    x, label = pm.layers.data("x", [-1, 6]), pm.layers.data("label", [-1, 1], dtype="int64")
    hidden = pm.layers.fc(x, 4, param_attr=pm.ParamAttr("frozen", trainable=False))
    loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(pm.layers.fc(hidden, 3), label))
    average = ParameterAverage(pm.optimizer.SGD(0.1), Uniform())
    average.minimize(loss)
    exe, scope = pm.Executor(pm.CPUPlace()), pm.global_scope()
    exe.run(pm.default_startup_program())
    values, labels = data()
    for _ in range(3):
        exe.run(feed={"x": values, "label": labels})
    before = scope.get("frozen")
    with average.apply(exe):
        assert scope.get("frozen").tobytes() == before.tobytes()
    assert not any("frozen_" in name for name in scope.names())


def test_a_place_of_its_own_gives_the_same_bits():
    """A12."""
    here, there = averaged_model(FEW), averaged_model(FEW, place=pm.CPUPlace())
    for model in (here, there):
        train(model, 6)
    for scheme in FEW:
        assert_same_bits(applied(there, scheme), applied(here, scheme))


def test_a_second_average_around_the_same_optimizer_is_refused():
    with pytest.raises(pm.ProgramError, match="give one of them a list of schemes"):
        SmallModel(ParameterAverage(ParameterAverage(pm.optimizer.SGD(0.1), Uniform()), Window(3)).minimize)


def test_apply_before_minimize_and_in_a_scope_without_the_model():
    average = ParameterAverage(pm.optimizer.SGD(0.1), Uniform())
    for use in (
        lambda: average.apply(pm.Executor()),
        average.apply_program,
        average.restore_program,
        lambda: average.program(pm.Program()),
    ):
        with pytest.raises(pm.ProgramError, match="call minimize"):
            use()
    average.restore()
    model = SmallModel(average.minimize)
    with pytest.raises(pm.OpError, match="not in the scope|no value"):
        average.apply(model.exe, scope=pm.Scope())
    for wrong in (model.scope, "exe", None):
        with pytest.raises(pm.ProgramError, match="apply takes an Executor, not"):
            average.apply(wrong)
    train(model, 1)
    with pytest.raises(pm.ProgramError, match=r"Window\(7\) is not averaged; there is Uniform\(\)"):
        average.apply(model.exe, model.scope, Window(7))


def test_no_name_is_exchanged_twice():
    scope = pm.Scope()
    for i, name in enumerate("abc"):
        scope.set(name, np.full(3, i, "float32"))
    for pairs in ([("a", "b", ""), ("b", "c", "")], [("a", "a", "")]):
        with pytest.raises(pm.OpError, match="is named twice"):
            scope.exchange(pairs)
    assert [scope.get(name)[0] for name in "abc"] == [0, 1, 2]


@pytest.mark.parametrize("parameters", ["fc_0.w_0", ["fc_0.w_0", "fc_0.w_0"], iter(["fc_0.w_0"])])
def test_one_parameter_is_named_alone_or_twice(parameters):
    model = averaged_model(Uniform(), parameters=parameters)
    train(model, 3)
    raw = model.values()
    averages = applied(model)
    assert_same_bits(model.values(), raw)
    assert [name for name in raw if raw[name].tobytes() != averages[name].tobytes()] == ["fc_0.w_0"]


def test_averages_that_were_taken_back_are_not_entered_again():
    model = averaged_model(Uniform())
    train(model, 3)
    held = model.average.apply(model.exe, model.scope)
    with held:
        averages = model.values()
    raw = model.values()
    with pytest.raises(pm.OpError, match=r"taken back already: call apply\(\) again"), held:
        pass
    assert_same_bits(model.values(), raw)
    assert any(averages[name].tobytes() != raw[name].tobytes() for name in raw)
