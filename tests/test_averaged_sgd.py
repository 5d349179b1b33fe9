"""AveragedSGD: its learning rate follows the formula, and its average covers all parameters."""

import numpy as np
import pytest

import paddle_mini as pm
from optimizers import goes_on_from_a_checkpoint
from paddle_mini.averaging import Uniform, steps
from small_model import SmallModel, assert_same_bits, batch
from small_model_steps import NAMES, Descent, gradients, merged, of, sgd

O = pm.optimizer
AveragedSGD = O.AveragedSGD
# The schedule is float32 for every type of the parameters.
TOLERANCE = {"float32": 3e-4, "float64": 1e-6}


def rate_of(t, rate=0.3, decay=0.5, power=0.75):
    return rate / (1 + decay * rate * t) ** power


def averages(average, model):
    with average.apply(model.exe, model.scope):
        return model.values(NAMES)


def mean(history):
    return {name: np.mean([one[name] for one in history], 0) for name in NAMES}


def assert_close(found, expected, dtype):
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], err_msg=name)


@pytest.mark.parametrize("start", [0, 40])
@pytest.mark.parametrize("facts", [{}, {"power": 2 / 3}, {"decay": 0.0}], ids=["3/4", "2/3", "constant"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps_and_average_are_those_of_the_formulas(dtype, facts, start):
    average = AveragedSGD(0.3, **{"decay": 0.5, **facts}, start_step=start)
    model, values = of(average.minimize, dtype)
    history = []
    for t in range(300):
        values = Descent(sgd(rate_of(t, **facts))).step(values, gradients(values, t, dtype))
        model.step(t)
        history.append(values)
        if t % 60 in (0, 59):
            assert_close(model.values(), values, dtype)
            if t >= start:
                assert_close(averages(average, model), mean(history[start:]), dtype)
    found = average.statistics(model.scope)
    assert (found.steps, found.updates) == (300, 300 - start)
    np.testing.assert_allclose(found.effective_length, 300 - start, rtol=1e-9)


def test_what_sgd_takes():
    average = AveragedSGD(0.3, 0.5, regularization=0.05, grad_clip=pm.clip.GradientClipByGlobalNorm(0.2))
    model, values = of(average.minimize, "float64")
    for t in range(100):
        values = Descent(sgd(rate_of(t)), 0.05, 0.2).step(values, gradients(values, t, "float64"))
        model.step(t)
    assert_close(model.values(), values, "float64")


def test_the_schedule_counts_runs_where_gradients_are_merged():
    average = AveragedSGD(0.3, 0.5)
    model, values = of(O.GradientMerge(average, 3).minimize, "float64")
    history = []
    for step in range(40):
        numbers = range(3 * step, 3 * step + 3)
        values = Descent(sgd(rate_of(numbers[-1]))).step(values, merged(values, numbers, "float64"))
        history.append(values)
        for number in numbers:
            model.step(number)
    assert_close(model.values(), values, "float64")
    assert_close(averages(average, model), mean(history), "float64")


def test_a_step_that_overflows_is_not_averaged():
    average = AveragedSGD(0.3, 0.5)
    model = SmallModel(O.LossScaling(average, 8.0).minimize, "float64")
    history = []
    for number in range(30):
        feed = batch(number, "float64")
        if number % 5 == 2:
            feed["x"][0, 0] = np.inf
        model.exe.run(model.main, feed, scope=model.scope)
        if number % 5 != 2:
            history.append(model.values())
    assert_close(averages(average, model), mean(history), "float64")
    assert average.statistics(model.scope).steps == 24


def test_a_program_for_testing_has_no_schedule():
    average = AveragedSGD(0.3)
    model = SmallModel(average.minimize)
    model.step()
    testing = model.main.clone(for_test=True)
    plain = SmallModel().main.clone(for_test=True)
    assert [op.type for op in testing.global_block().ops] == [op.type for op in plain.global_block().ops]
    for program in (testing, average.program(testing)):
        assert np.isfinite(model.exe.run(program, batch(0), [model.loss.name], model.scope)[0])


def test_training_goes_on_from_a_checkpoint(tmp_path):
    averaged = [AveragedSGD(0.3, 0.5, start_step=4) for _ in range(3)]
    through, first, second = (SmallModel(one.minimize) for one in averaged)
    goes_on_from_a_checkpoint(tmp_path, through, first, second)
    assert_same_bits(averages(averaged[2], second), averages(averaged[0], through))


def test_some_parameters_and_lengths():
    average = AveragedSGD(0.3, parameters=["fc_0.w_0"], start_step=steps(2), non_finite="skip")
    model = SmallModel(average.minimize)
    for number in range(5):
        model.step(number)
    before = model.values()
    found = averages(average, model)
    assert (found["fc_0.w_0"] != before["fc_0.w_0"]).any()
    assert_same_bits({name: found[name] for name in NAMES[1:]}, {name: before[name] for name in NAMES[1:]})
    assert average.statistics(model.scope, Uniform()).updates == 3


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"learning_rate": -1}, "learning_rate"),
        ({"learning_rate": float("inf")}, "learning_rate"),
        ({"learning_rate": "x"}, "learning_rate"),
        ({"learning_rate": pm.lr.NoamDecay(4, 3)}, "learning_rate"),
        ({"decay": -1e-4}, "decay"),
        ({"power": -1}, "power"),
        ({"power": None}, "power"),
        ({"start_step": -1}, "start_step"),
        ({"non_finite": "ignore"}, "non_finite"),
        ({"grad_clip": 3}, "grad_clip"),
    ],
)
def test_wrong_arguments_are_refused(arguments, words):
    with pytest.raises(pm.ProgramError, match=words):
        AveragedSGD(**arguments)


def test_wrong_use_is_refused():
    average = AveragedSGD(0.1)
    with pytest.raises(pm.ProgramError, match="minimize"):
        average.apply(pm.Executor())
    model = SmallModel(average.minimize)
    count = len(model.main.global_block().ops)
    with pytest.raises(pm.ProgramError, match="has its program already"), pm.program_guard(model.main, model.startup):
        average.apply_gradients(
            [(parameter, model.main.global_block().var(parameter.name + "@GRAD")) for parameter in model.main.all_parameters()]
        )
    assert len(model.main.global_block().ops) == count
    program = None

    def minimize(loss):
        nonlocal program
        program = loss.block.program
        AveragedSGD(0.1, parameters=["nothing"]).minimize(loss)

    with pytest.raises(pm.ProgramError, match="'nothing' is not a parameter"):
        SmallModel(minimize)
    assert "@LR_DECAY_COUNTER@" not in program.global_block().vars


def test_its_rate_is_set_before_minimize_only():
    """Then the program computes it."""
    average, other = AveragedSGD(0.1), AveragedSGD(0.2)
    average.set_lr(0.2)
    assert average.get_lr() == 0.2
    models = [SmallModel(one.minimize) for one in (average, other)]
    for number in range(3):
        losses = [model.step(number).tobytes() for model in models]
        assert losses[0] == losses[1]
    with pytest.raises(pm.ProgramError, match="the program computes the learning rate: fetch"):
        average.get_lr(models[0].scope)
    with pytest.raises(pm.ProgramError, match="set_lr: the learning rate is Variable, which computes it"):
        average.set_lr(0.5, models[0].scope)
