# Schedulers: PaddlePaddle's tables step by step, how the Executor writes the rate, states, rejected arguments.
import json
import math
import pathlib
from fractions import Fraction

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import lr
from programs import op_types, start

# Rates of each paddle.optimizer.lr schedule, as PaddlePaddle 2.6.2 gives them before each step.
TABLES = json.loads(pathlib.Path(__file__).with_name("lr_tables.json").read_text())
LAMBDAS = {"lambda e: 0.9 ** e": lambda e: 0.9**e, "lambda e: 0.85": lambda e: 0.85}
NESTED = {
    "LinearWarmup(PiecewiseDecay)": lambda: lr.LinearWarmup(lr.PiecewiseDecay([4, 8], [0.3, 0.1, 0.03]), 3, 0.0, 0.3),
    "LinearWarmup(CosineAnnealingDecay)": lambda: lr.LinearWarmup(lr.CosineAnnealingDecay(0.02, T_max=6), 2, 0.001, 0.02),
}


def scheduler_of(name):
    if name in NESTED:
        return NESTED[name]()
    args = {key: LAMBDAS.get(value, value) if isinstance(value, str) else value for key, value in TABLES[name]["args"].items()}
    return getattr(lr, TABLES[name]["class"])(**args)


def advance(scheduler, name, step):
    scheduler.step(*([TABLES[name]["metrics"][step]] if "metrics" in TABLES[name] else []))


@pytest.mark.parametrize("name", TABLES)
def test_the_table(name):
    scheduler = scheduler_of(name)
    for step, expected in enumerate(TABLES[name]["values"]):
        assert scheduler() == pytest.approx(expected, rel=1e-9, abs=1e-15), step
        assert scheduler.get_lr() == scheduler() == scheduler.last_lr
        advance(scheduler, name, step)


@pytest.mark.parametrize("name", TABLES)
def test_a_state_goes_on_where_it_was(name):
    first, second = scheduler_of(name), scheduler_of(name)
    for step in range(5):
        advance(first, name, step)
    second.set_state_dict(json.loads(json.dumps(first.state_dict())))
    for step in range(5, len(TABLES[name]["values"])):
        assert second() == first()
        advance(first, name, step)
        advance(second, name, step)
    with pytest.raises(pm.ProgramError, match="the state has no '"):
        second.set_state_dict({})


REFUSED = [
    ({"last_epoch": "3"}, "'last_epoch' of the state is '3', it must be an integer"),
    ({"last_epoch": 2.5}, "'last_epoch' of the state is 2.5, it must be an integer"),
    ({"last_lr": float("nan")}, "'last_lr' of the state is nan, it must be a finite number"),
    ({"last_lr": None}, "'last_lr' of the state is None, it must be a finite number"),
    ({"best": "low"}, "'best' of the state is 'low', it must be one number"),
    ({"num_bad_epochs": [1]}, "'num_bad_epochs' of the state is .*, it must be an integer"),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED)
def test_a_state_with_other_values_is_refused_and_changes_nothing(wrong, message):
    scheduler = lr.ReduceOnPlateau(0.5, patience=1)
    scheduler.step(3.0)
    before = scheduler.state_dict()
    with pytest.raises(pm.ProgramError, match=message):
        scheduler.set_state_dict({**before, "last_epoch": 9, **wrong})
    assert scheduler.state_dict() == before
    with pytest.raises(pm.ProgramError, match="the state is 3, it must be a dict"):
        scheduler.set_state_dict(3)


def test_a_wrong_state_changes_neither_of_two_schedules():
    scheduler = lr.LinearWarmup(lr.StepDecay(0.8, 2), 3, 0.0, 0.8)
    for _ in range(5):
        scheduler.step()
    before = scheduler.state_dict()
    inner = {**before["LinearWarmup_LR"], "last_epoch": 0}
    for wrong in (
        {"last_epoch": "9", "LinearWarmup_LR": inner},
        {"last_epoch": 9, "LinearWarmup_LR": {**inner, "last_lr": None}},
    ):
        with pytest.raises(pm.ProgramError, match="of the state is"):
            scheduler.set_state_dict({**before, **wrong})
        assert scheduler.state_dict() == before


def test_step_goes_to_an_epoch():
    scheduler = lr.StepDecay(0.3, 2, gamma=0.5)
    scheduler.step(5)
    assert scheduler() == 0.3 * 0.25 and scheduler.last_epoch == 5
    assert lr.StepDecay(0.3, 2, gamma=0.5, last_epoch=4)() == scheduler()


def test_onecycle_with_three_phases_and_lines():
    scheduler = lr.OneCycleLR(
        1.0, 20, divide_factor=10, end_learning_rate=0.01, phase_pct=0.25, anneal_strategy="linear", three_phase=True
    )
    rates = []
    for _ in range(25):
        rates.append(scheduler())
        scheduler.step()
    np.testing.assert_allclose(rates[:5], np.linspace(0.1, 1.0, 5))
    np.testing.assert_allclose(rates[4:9], np.linspace(1.0, 0.1, 5))
    np.testing.assert_allclose(rates[8:20], np.linspace(0.1, 0.01, 12))
    np.testing.assert_allclose(rates[20:], 0.01)


def test_cyclic_with_a_function_for_the_height():
    by_cycle = lr.CyclicLR(0.0, 1.0, 1, scale_fn=lambda cycle: 1 / cycle)
    by_step = lr.CyclicLR(0.0, 1.0, 1, scale_fn=lambda t: t * 10.0, scale_mode="iterations")
    found = []
    for _ in range(4):
        found.append((by_cycle(), by_step()))
        by_cycle.step()
        by_step.step()
    assert found == [(0, 0), (1, 10), (0, 0), (0.5, 30)]


def test_plateau_of_a_metric_that_should_rise():
    scheduler = lr.ReduceOnPlateau(1.0, mode="max", factor=0.5, patience=0, threshold=0.1, threshold_mode="abs")
    rates = []
    for metric in [1.0, np.array([1.2]), np.float32(1.25), 1.5, float("nan")]:
        scheduler.step(metric)
        rates.append(scheduler())
    assert rates == [1.0, 1.0, 0.5, 0.5, 0.25]


def trained(rate, dtype="float32"):
    """w goes down by the rate in each run."""
    w = pm.layers.create_parameter([1], dtype, attr=pm.ParamAttr("w", pm.initializer.Constant(0.0)))
    pm.optimizer.SGD(rate).minimize(pm.layers.reduce_sum(w))
    return start()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_executor_writes_the_rate_before_each_run(dtype):
    scheduler = lr.ExponentialDecay(0.1, gamma=0.5)
    exe = trained(scheduler, dtype)
    assert "sgd" in op_types() and "cast" not in op_types() and "increment" not in op_types()
    expected = 0.0
    for step in range(4):
        exe.run()
        expected -= 0.1 * 0.5 ** (step // 2)
        np.testing.assert_allclose(pm.global_scope().get("w"), [expected], rtol=1e-6 if dtype == "float32" else 1e-15)
        if step % 2:
            scheduler.step()
    assert pm.global_scope().get("learning_rate_0") == np.dtype(dtype).type(0.05)


def test_clones_share_the_scheduler_and_bytes_do_not():
    scheduler = lr.StepDecay(0.5, 1, gamma=0.5)
    exe = trained(scheduler)
    main, scope = pm.default_main_program(), pm.global_scope()
    copy, test = main.clone(), main.clone(for_test=True)
    scheduler.step()
    exe.run(copy)
    assert scope.get("w") == -0.25
    assert test.schedules == {}
    scheduler.step()
    exe.run(pm.Program.from_bytes(main.to_bytes()))
    assert scope.get("w") == -0.5 and scope.get("learning_rate_0") == 0.25  # the value that the last run left


def test_two_optimizers_may_share_a_scheduler_or_have_their_own():
    w, v = (pm.layers.create_parameter([1], name=name, default_initializer=pm.initializer.Constant(0.0)) for name in "wv")
    slow, fast = lr.StepDecay(0.1, 1), lr.StepDecay(1.0, 1)
    loss = pm.layers.reduce_sum(w + v)
    pm.optimizer.SGD(slow, parameter_list=[w]).minimize(loss)
    pm.optimizer.Momentum(fast, parameter_list=[v]).minimize(loss)
    exe = start()
    fast.step()
    fast.step()
    exe.run()
    np.testing.assert_allclose([pm.global_scope().get(name)[0] for name in "wv"], [-0.1, -0.01], rtol=1e-6)


def test_a_schedule_of_ones_own():
    class Halving(lr.LRScheduler):
        def get_lr(self):
            return self.base_lr if self.last_epoch == 0 else self.last_lr / 2

    scheduler = Halving(1.0)
    exe = trained(scheduler)
    for _ in range(3):
        exe.run()
        scheduler.step()
    assert pm.global_scope().get("w") == -1.75
    with pytest.raises(TypeError):
        lr.LRScheduler(0.1)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: lr.ExponentialDecay("fast", 0.5), "ExponentialDecay: learning_rate is 'fast'"),
        (lambda: lr.ExponentialDecay(0.1, 0), "gamma is 0, it must be a finite number, above 0"),
        (lambda: lr.NaturalExpDecay(math.nan, 1), "learning_rate is nan"),
        (lambda: lr.NoamDecay(0, 10), "d_model is 0, it must be an integer, at least 1"),
        (lambda: lr.PiecewiseDecay([4, 2], [1, 2, 3]), r"boundaries is \[4, 2\], it must rise"),
        (lambda: lr.PiecewiseDecay([2, 4], [1, 2]), "it must be a list of 3 numbers"),
        (lambda: lr.MultiStepDecay(0.1, 5), "milestones is 5, it must be a list"),
        (lambda: lr.PolynomialDecay(0.1, 2.5), "decay_steps is 2.5"),
        (lambda: lr.LambdaDecay(0.1, 0.9), "lr_lambda is 0.9, it must be a function"),
        (lambda: lr.LambdaDecay(0.1, lambda t: math.inf), r"get_lr\(\) is inf"),
        (lambda: lr.CyclicLR(0.1, 0.2, 3, mode="square"), "mode is 'square', it must be one of triangular"),
        (lambda: lr.OneCycleLR(0.1, 10, phase_pct=1.5), "leaves a phase without a step"),
        (lambda: lr.OneCycleLR(0.1, 10, anneal_strategy="jump"), "anneal_strategy is 'jump'"),
        (lambda: lr.ReduceOnPlateau(0.1, factor=1.0), "factor is 1.0, it must be below 1"),
        (lambda: lr.ReduceOnPlateau(0.1).step([1.0, 2.0]), "it must be one number"),
        (lambda: lr.LinearWarmup(0.1, 3, 0.2, 0.1), "must be above start_lr"),
        (lambda: lr.LinearWarmup(lr.ReduceOnPlateau(0.1), 3, 0.0, 0.1), "needs a metric at every step"),
        (lambda: lr.StepDecay(0.1, 1).step(-1), "epoch is -1"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(pm.ProgramError, match=words):
        make()


def test_every_real_number_is_a_rate():
    assert lr.StepDecay(Fraction(1, 2), np.int64(3))() == 0.5


@pytest.mark.parametrize("wrong", [math.nan, None, KeyboardInterrupt])
def test_a_step_that_fails_is_not_taken(wrong):
    rates = {0: 0.5, 1: 0.25, 2: wrong}

    def factor(step):
        if rates[step] is KeyboardInterrupt:
            raise KeyboardInterrupt
        return rates[step]

    schedule = lr.LambdaDecay(1.0, factor)
    schedule.step()
    with pytest.raises((pm.ProgramError, KeyboardInterrupt, TypeError)):
        schedule.step()
    assert schedule.state_dict() == {"last_epoch": 1, "last_lr": 0.25}
    rates[2] = 0.125
    schedule.step()
    assert (schedule(), schedule.last_epoch) == (0.125, 2)
