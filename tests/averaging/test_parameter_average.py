"""ParameterAverage: the means are the means, and training, evaluating and saving never disturb each other."""
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Exponential, Uniform, Window
from paddle_mini.optimizer import ParameterAverage
from small_model import SmallModel, assert_same_bits, data

SCHEMES = [Window(4), Window(1), Uniform(), Exponential(0.8)]
OPTIMIZERS = {
    "sgd": lambda: pm.optimizer.SGD(0.2),
    "momentum": lambda: pm.optimizer.Momentum(0.1, momentum=0.9),
    "adam": lambda: pm.optimizer.Adam(0.05),
}


def averaged_model(scheme, optimizer="sgd", dtype="float32", attrs=None, **arguments):
    average = ParameterAverage(OPTIMIZERS[optimizer](), scheme, **arguments)
    model = SmallModel(average.minimize, dtype, **(attrs or {}))
    model.average = average
    return model


def train(model, steps, first=0):
    """The parameters after every step."""
    history = []
    for number in range(first, first + steps):
        model.step(number)
        history.append(model.values())
    return history


def applied(model):
    with model.average.apply(model.exe, scope=model.scope):
        return model.values()


def weights(scheme, steps, every=1, start_step=0):
    """How much each step's parameters weigh in the average, from the definition."""
    counted = [t for t in range(1, steps + 1) if t > start_step and (t - start_step) % every == 0]
    result = np.zeros(steps)
    if isinstance(scheme, Window):
        n = len(counted)
        counted = counted[max(0, (n // scheme.size - 1) * scheme.size):] if n >= scheme.size else counted
    for age, t in enumerate(reversed(counted)):
        result[t - 1] = scheme.decay ** (age * every) if isinstance(scheme, Exponential) else 1
    return result / result.sum() if counted else result


def expected(scheme, history, **arguments):
    share = weights(scheme, len(history), **arguments)
    return {name: sum(w * step[name].astype("float64") for w, step in zip(share, history)) for name in history[0]}


def assert_close(found, wanted, tolerance):
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-6), ("float64", 1e-14)])
def test_the_average_is_the_mean_after_every_step(scheme, dtype, tolerance):
    model, history = averaged_model(scheme, dtype=dtype), []
    for number in range(13):
        history += train(model, 1, number)
        found = applied(model)
        assert all(value.dtype == dtype for value in found.values())
        assert_close(found, expected(scheme, history), tolerance)


@pytest.mark.parametrize("scheme", [Window(3), Uniform(), Exponential(0.8)], ids=repr)
@pytest.mark.parametrize("arguments", [{"every": 3}, {"start_step": 5}, {"every": 2, "start_step": 3}], ids=str)
def test_steps_that_are_left_out(scheme, arguments):
    model = averaged_model(scheme, **arguments)
    history = train(model, 16)
    assert_close(applied(model), expected(scheme, history, **arguments), 1e-6)


def test_a_window_holds_between_its_size_and_twice_that():
    model, spans = averaged_model(Window(4)), []
    counters = next(name for name in model.scope.names() if "counters" in name)
    for number in range(12):
        model.step(number)
        _, newer, older, _ = model.scope.get(counters)
        spans.append(newer + older)
    assert spans == [1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 4]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("scheme", [Window(2), Uniform(), Exponential(0.9)], ids=repr)
def test_training_has_the_same_bits_with_and_without(optimizer, scheme):
    plain = SmallModel(OPTIMIZERS[optimizer]().minimize)
    names = plain.scope.names()
    model = averaged_model(scheme, optimizer)
    for number in range(7):
        assert model.step(number).tobytes() == plain.step(number).tobytes()
        if number % 2:
            applied(model)
    assert_same_bits(model.values(names), plain.everything())


def test_several_averages_of_one_trajectory_are_those_of_one_each():
    """The second average is put beside an optimizer whose operators are there already."""
    first, second = ParameterAverage(OPTIMIZERS["sgd"](), Window(3)), None

    def minimize(loss):
        nonlocal second
        result = first.minimize(loss)
        second = ParameterAverage(SimpleNamespace(minimize=lambda *_: result), Exponential(0.7))
        second.minimize(loss)

    both = SmallModel(minimize)
    train(both, 7)
    for average, scheme in ((first, Window(3)), (second, Exponential(0.7))):
        both.average, alone = average, averaged_model(scheme)
        train(alone, 7)
        assert_same_bits(applied(both), applied(alone))


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_raw_values_come_back_bit_for_bit_also_on_an_exception(scheme):
    model = averaged_model(scheme, "adam")
    train(model, 5)
    before = model.everything()
    averages = applied(model)
    assert_same_bits(model.everything(), before)
    if scheme != Window(1):
        assert any((averages[name] != before[name]).any() for name in averages)
    with pytest.raises(RuntimeError, match="in the body"):
        with model.average.apply(model.exe, scope=model.scope):
            assert_same_bits(model.values(), averages)
            raise RuntimeError("in the body")
    assert_same_bits(model.everything(), before)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_before_the_first_averaged_step_raw_values_stay(scheme):
    model = averaged_model(scheme, start_step=2)
    for number in range(3):
        before = model.values()
        assert_same_bits(applied(model), before)
        assert_same_bits(model.values(), before)
        if number < 2:
            model.step(number)


def test_apply_does_not_nest_and_nothing_is_lost():
    model = averaged_model(Window(3))
    train(model, 4)
    before, averages = model.values(), applied(model)
    with model.average.apply(model.exe, scope=model.scope):
        with pytest.raises(pm.OpError, match=r"applied already: 'fc_0\.[bw]_0'"):
            with model.average.apply(model.exe, scope=model.scope):
                pytest.fail("entered")
        assert_same_bits(model.values(), averages)
    assert_same_bits(model.values(), before)


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
    quiet, disturbed = averaged_model(Window(3)), averaged_model(Window(3))
    for number in range(8):
        for model in (quiet, disturbed):
            model.step(number)
        for _ in range(3):
            applied(disturbed)
        disturbed.average.restore(disturbed.exe, disturbed.scope)  # nothing is applied: nothing happens
    assert_same_bits(disturbed.everything(), quiet.everything())


def test_need_restore_false_then_restore_with_saving_in_between(tmp_path):
    model = averaged_model(Uniform())
    train(model, 4)
    before, averages = model.everything(), applied(model)
    with model.average.apply(model.exe, scope=model.scope, need_restore=False):
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


def test_what_is_saved_is_what_is_bound(tmp_path):
    model = averaged_model(Exponential(0.5))
    train(model, 4)
    before, averages = model.values(), applied(model)
    pm.io.save_inference_model(tmp_path / "raw", [model.x], [model.logits], model.exe, scope=model.scope)
    with model.average.apply(model.exe, scope=model.scope):
        pm.io.save_inference_model(tmp_path / "averaged", [model.x], [model.logits], model.exe, scope=model.scope)
    for name, wanted in (("raw", before), ("averaged", averages)):
        scope = pm.Scope()
        pm.io.load_inference_model(tmp_path / name, model.exe, scope=scope)
        assert_same_bits({name: scope.get(name) for name in scope.names()}, wanted)


def test_a_saved_program_goes_on_with_the_same_average(tmp_path):
    whole, stopped = averaged_model(Window(3), "adam"), averaged_model(Window(3), "adam")
    train(whole, 8)
    train(stopped, 4)
    pm.io.save_program(tmp_path / "half", stopped.main, stopped.scope)
    stopped.scope = pm.Scope()
    stopped.main = pm.io.load_program(tmp_path / "half", stopped.scope)
    train(stopped, 4, first=4)
    names = whole.scope.names()
    assert_same_bits(stopped.values(names), whole.everything())
    assert_same_bits(applied(stopped), applied(whole))


@pytest.mark.parametrize("choose", [
    {"attrs": {"bias_attr": pm.ParamAttr(do_model_average=False)}},
    {"parameters": ["fc_0.w_0", "fc_1.w_0", "fc_1.b_0"]},
])
def test_parameters_that_are_not_averaged_keep_raw_values(choose):
    model = averaged_model(Uniform(), **choose)
    history = train(model, 3)
    found, raw = applied(model), history[-1]
    assert_same_bits({"fc_0.b_0": found["fc_0.b_0"]}, {"fc_0.b_0": raw["fc_0.b_0"]})
    assert not any("fc_0.b_0_average" in name for name in model.scope.names())
    assert all((found[name] != raw[name]).any() for name in found if name != "fc_0.b_0")


def test_frozen_parameters_and_statistics_are_left_alone():
    x, label = pm.layers.data("x", [-1, 6]), pm.layers.data("label", [-1, 1], dtype="int64")
    hidden = pm.layers.batch_norm(pm.layers.fc(x, 4, param_attr=pm.ParamAttr("frozen", trainable=False)))
    loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(pm.layers.fc(hidden, 3), label))
    average = ParameterAverage(pm.optimizer.SGD(0.1), Uniform())
    average.minimize(loss)
    exe, scope = pm.Executor(pm.CPUPlace()), pm.global_scope()
    exe.run(pm.default_startup_program())
    values, labels = data()
    for _ in range(3):
        exe.run(feed={"x": values, "label": labels})
    kept = [name for name in scope.names() if name == "frozen" or name in ("batch_norm_0.w_1", "batch_norm_0.w_2")]
    before = {name: scope.get(name) for name in kept}
    assert len(kept) == 3 and before["batch_norm_0.w_1"].any()
    with average.apply(exe):
        assert_same_bits({name: scope.get(name) for name in kept}, before)


def test_the_mean_of_a_constant_keeps_its_digits():
    """A single sum of 100,000 values of 0.1 would be wrong in the fourth digit."""
    parameter = pm.layers.create_parameter([2], attr=pm.ParamAttr("p", pm.initializer.Constant(0.1)))
    loss = pm.layers.mean(pm.layers.square(parameter))
    averages = [ParameterAverage(pm.optimizer.SGD(0.0), scheme) for scheme in (Window(16_384), Uniform(), Exponential(0.999))]
    result = averages[0].minimize(loss)
    for average in averages[1:]:
        average.optimizer = SimpleNamespace(minimize=lambda *_: result)
        average.minimize(loss)
    exe = pm.Executor(pm.CPUPlace())
    exe.run(pm.default_startup_program())
    main, scope = pm.default_main_program(), pm.global_scope()
    for step in range(1, 100_001):
        exe.run(main, scope=scope)
        if step in (1, 2, 16_383, 16_384, 16_385, 100_000):
            for average in averages:
                with average.apply(exe):
                    np.testing.assert_array_max_ulp(scope.get("p"), np.full(2, 0.1, "float32"), maxulp=1)


@pytest.mark.parametrize("scheme", [Window(6000), Uniform(), Exponential(0.999)], ids=repr)
def test_long_averages_stay_near_those_in_float64(scheme):
    """Values far from zero, whose sum would soon be thousands of times as large as each."""
    model, steps = averaged_model(scheme), 16_000
    moved = 3 + np.random.RandomState(0).randn(steps, 3).astype("float32")
    description = model.main.describe()  # only the operators of averaging: the test sets the parameters
    description["blocks"][0]["ops"] = [op for op in description["blocks"][0]["ops"] if "average" in op["type"]]
    program = pm.Program.from_bytes(pm._core.encode_program(description))
    for value in moved:
        model.scope.set("fc_1.b_0", value)
        model.exe.run(program, scope=model.scope)
    share = weights(scheme, steps)
    np.testing.assert_allclose(applied(model)["fc_1.b_0"], share @ moved.astype("float64"), rtol=3e-6)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_apply_program_through_pm_run_is_apply(tmp_path, scheme):
    model = averaged_model(scheme)
    for steps in (0, 6):
        train(model, steps)
        pm.io.save_program(tmp_path / "trained", model.main, model.scope)
        (tmp_path / "apply.pdmodel").write_bytes(model.average.apply_program().to_bytes())
        with model.average.apply(model.exe, scope=model.scope):
            pm.io.save_inference_model(tmp_path / "here", [model.x], [model.logits], model.exe, scope=model.scope)
        done = subprocess.run([Path(sys.executable).parent / "pm_run", tmp_path / "apply.pdmodel", "--params", tmp_path / "trained.pdiparams",
                               "--save-params", tmp_path / "there.pdiparams", "--save-for", tmp_path / "here.pdmodel"],
                              capture_output=True, text=True, timeout=20)
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "there.pdiparams").read_bytes() == (tmp_path / "here.pdiparams").read_bytes()


@pytest.mark.parametrize("make, words", [
    (lambda sgd: ParameterAverage(sgd), "either a scheme or a window_size"),
    (lambda sgd: ParameterAverage(sgd, Uniform(), 3), "either a scheme or a window_size"),
    (lambda sgd: ParameterAverage("sgd", Uniform()), "takes an optimizer, not str"),
    (lambda sgd: ParameterAverage(type(sgd), Uniform()), "not its class: SGD"),
    (lambda sgd: ParameterAverage(ParameterAverage(sgd, Uniform()), Uniform()), "takes an optimizer, not ParameterAverage"),
    (lambda sgd: ParameterAverage(sgd, "uniform"), "scheme is 'uniform'"),
    (lambda sgd: ParameterAverage(sgd, window_size=0), r"Window\(0\)"),
    (lambda sgd: ParameterAverage(sgd, window_size=2.0), r"Window\(2.0\)"),
    (lambda sgd: ParameterAverage(sgd, window_size=True), r"Window\(True\)"),
    (lambda sgd: Exponential(1.0), "below 1"),
    (lambda sgd: Exponential(-0.1), "at least 0"),
    (lambda sgd: Exponential(float("nan")), "at least 0"),
    (lambda sgd: Exponential("0.9"), "at least 0"),
    (lambda sgd: ParameterAverage(sgd, Uniform(), every=0), "every is 0"),
    (lambda sgd: ParameterAverage(sgd, Uniform(), start_step=-1), "start_step is -1"),
])
def test_wrong_arguments_are_refused(make, words):
    with pytest.raises(pm.ProgramError, match=words):
        make(pm.optimizer.SGD(0.1))


def test_wrong_use_is_refused():
    average = ParameterAverage(pm.optimizer.SGD(0.1), Uniform())
    with pytest.raises(pm.ProgramError, match="call minimize"):
        with average.apply(pm.Executor()):
            pytest.fail("entered")
    model = SmallModel(average.minimize)
    with pytest.raises(pm.ProgramError, match="has its program already"):
        average.minimize(model.loss)
    with pytest.raises(pm.ProgramError, match="'fc_9.w_0' is not a parameter that the optimizer changes"):
        averaged_model(Uniform(), parameters=["fc_9.w_0"])
    with pytest.raises(pm.ProgramError, match="no parameter to average"):
        averaged_model(Uniform(), parameters=[])
    with pytest.raises(pm.OpError, match="not in the scope|no value"):
        with average.apply(model.exe, scope=pm.Scope()):
            pytest.fail("entered")
