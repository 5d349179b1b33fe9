# Learning rates of the C library: each policy by its formula, and schedules of Python by their equivalent policies.
import math

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.optimizer.config import config_class

O, L = pm.optimizer, pm.lr
AB = {"learning_rate": 0.5, "lr_decay_a": 0.125, "lr_decay_b": 4.0}
SEGMENTS = {"learning_rate": 0.5, "segments": [{"bound": 2, "rate": 1.0}, {"bound": 5, "rate": 0.5}, {"bound": 6, "rate": 0.25}]}


def rate_of(segments, at):
    return next((one["rate"] for one in segments if at <= one["bound"]), segments[-1]["rate"])


# Policy, field, message, formula of t, boundaries.
POLICIES = [
    ("Const", "const_lr", {"learning_rate": 0.5}, lambda t: 0.5, [3]),
    ("Const", "const_lr", {}, lambda t: 1.0, [3]),
    ("Linear", "linear_lr", {**AB, "lr_decay_b": 0.1}, lambda t: max(0.5 - 0.125 * t, 0.1), [3, 4]),
    ("Poly", "poly_lr", AB, lambda t: 0.5 * (1 + 0.125 * t) ** -4, [8]),
    ("CaffePoly", "caffe_poly_lr", {**AB, "lr_decay_a": 8.0}, lambda t: 0.5 * (1 - t / 8) ** 4 if t <= 8 else 0.0, [7, 8, 9]),
    ("Exp", "exp_lr", AB, lambda t: 0.5 * 0.125 ** (t / 4), [4]),
    ("DiscExp", "discexp_lr", AB, lambda t: 0.5 * 0.125 ** (t // 4), [3, 4, 7, 8]),
    ("Manual", "manual_lr", SEGMENTS, lambda t: 0.5 * rate_of(SEGMENTS["segments"], t), [2, 3, 5, 6, 7]),
    (
        "Noam",
        "noam_lr",
        {"learning_rate": 2.0, "d_model": 64, "warmup_steps": 6},
        lambda t: 2 * 64**-0.5 * min(t**-0.5, t * 6**-1.5) if t else 0.0,
        [5, 6, 7],
    ),
    (
        "Cosine",
        "cosine_lr",
        {"learning_rate": 0.5, "steps": 8, "least": 0.1},
        lambda t: 0.1 + 0.4 * (1 + math.cos(math.pi * t / 8)) / 2 if t <= 8 else 0.1,
        [4, 8, 9],
    ),
]


def native(policy, field, message, **others):
    return O.NativeOptimizer(config_class()(lr_policy=policy, **{field: message}, **others), np.zeros(1))


def after(library, updates):
    """The rate of this update; 0: before the first one."""
    while library.updates < updates:
        library.update(np.zeros(1))
    return library.learning_rate


@pytest.mark.parametrize("policy, field, message, formula, boundaries", POLICIES, ids=[one[0] for one in POLICIES])
def test_policy(policy, field, message, formula, boundaries):
    library = native(policy, field, message)
    for n in [0, 1, *boundaries, 1000]:
        if n >= 1:
            assert after(library, n) == pytest.approx(formula(n), rel=1e-12, abs=1e-300), n
        else:
            assert library.learning_rate == pytest.approx(formula(0), rel=1e-12)


@pytest.mark.parametrize("policy, field, message, formula, boundaries", POLICIES, ids=[one[0] for one in POLICIES])
def test_samples_of_an_update(policy, field, message, formula, boundaries):
    library = native(policy, field, message, samples_per_update=32.0)
    for n in (1, 2, 10**3):
        assert after(library, n) == pytest.approx(formula(32 * n), rel=1e-12, abs=1e-300)


def test_the_rate_is_what_moves_the_parameter():
    library = native("Linear", "linear_lr", {**AB, "lr_decay_b": 0.1}, learning_rate_factor=0.5)
    moved = []
    for _ in range(4):
        before = library.parameter()
        library.update(np.ones(1))
        moved.append(float((before - library.parameter())[0]))
    np.testing.assert_allclose(moved, [0.375 / 2, 0.25 / 2, 0.125 / 2, 0.1 / 2], rtol=1e-12)
    assert library.learning_rate == pytest.approx(0.1)  # the policy's; the factor is the parameter's


def test_rates_by_the_number_of_the_pass():
    library = native("PassManual", "pass_manual_lr", SEGMENTS)
    for number, wanted in [(0, 0.5), (2, 0.5), (3, 0.25), (5, 0.25), (6, 0.125), (10**9, 0.125)]:
        library.set_pass(number)
        library.update(np.zeros(1))
        assert library.learning_rate == wanted


def test_a_rate_that_is_set_stays():
    library = native("Exp", "exp_lr", AB)
    library.update(np.ones(1))
    library.set_learning_rate(0.0)
    before = library.parameter()
    library.update(np.ones(1))
    assert library.learning_rate == 0 and library.parameter() == before
    library.set_learning_rate(2.0)
    library.update(np.ones(1))
    assert library.learning_rate == 2.0 and library.parameter() == before - 2
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(pm.ProgramError):
            library.set_learning_rate(wrong)
    assert after(library, 10) == 2.0


# Schedules that equal one of the policies; from their first step, and from a later one.
SCHEDULES = {
    "exponential": lambda **k: L.ExponentialDecay(0.5, 0.75, **k),
    "natural": lambda **k: L.NaturalExpDecay(0.5, 0.25, **k),
    "natural without": lambda **k: L.NaturalExpDecay(0.5, 0.0, **k),
    "inverse": lambda **k: L.InverseTimeDecay(0.5, 0.25, **k),
    "line": lambda **k: L.PolynomialDecay(0.5, 20, end_lr=0.1, **k),
    "root": lambda **k: L.PolynomialDecay(0.5, 20, end_lr=0.0, power=0.5, **k),
    "linear": lambda **k: L.LinearLR(0.5, 20, 1.0, 0.25, **k),
    "piecewise": lambda **k: L.PiecewiseDecay([2, 5, 9], [0.5, 0.25, 0.75, 0.125], **k),
    "one piece": lambda **k: L.PiecewiseDecay([], [0.5], **k),
    "milestones": lambda **k: L.MultiStepDecay(0.5, [1, 7], 0.25, **k),
    "each step": lambda **k: L.StepDecay(0.5, 1, 0.75, **k),
}


@pytest.mark.parametrize("begin", [-1, 0, 3, 10])
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name, begin):
    schedule = SCHEDULES[name](last_epoch=begin)
    library = O.NativeOptimizer(O.SGD(schedule).to_config(), np.zeros(1))
    for _ in range(30):  # as a program would: each run takes the rate, then step()
        library.update(np.zeros(1))
        assert library.learning_rate == pytest.approx(schedule(), rel=1e-9, abs=1e-12)
        schedule.step()


@pytest.mark.parametrize(
    "schedule", [L.NoamDecay(64, 5, last_epoch=0), L.StepDecay(0.5, 4, 0.5, last_epoch=0), L.StepDecay(0.5, 4, 0.5, last_epoch=4)]
)
def test_schedule_from_where_the_policy_begins(schedule):
    library = O.NativeOptimizer(O.SGD(schedule).to_config(), np.zeros(1))
    for _ in range(20):
        library.update(np.zeros(1))
        assert library.learning_rate == pytest.approx(schedule(), rel=1e-9)
        schedule.step()


@pytest.mark.parametrize(
    "schedule, why",
    [
        (L.NoamDecay(64, 5), r"NoamDecay.* step\(1\)"),
        (L.StepDecay(0.5, 4), "StepDecay.* MultiStepDecay"),
        (L.InverseTimeDecay(0.5, 2.0), "InverseTimeDecay.*from 1"),
        (L.LinearLR(0.5, 5), "LinearLR.*rises"),
        (L.PolynomialDecay(0.5, 5, cycle=True), "PolynomialDecay"),
        (L.PolynomialDecay(0.5, 5, power=2.0), "PolynomialDecay"),
        (L.CosineAnnealingDecay(0.5, 5), "CosineAnnealingDecay.*set_learning_rate"),
        (L.LambdaDecay(0.5, lambda t: 1), "LambdaDecay"),
        (L.LinearWarmup(0.5, 5, 0.0, 0.5), "LinearWarmup"),
        (L.OneCycleLR(0.5, 5), "OneCycleLR"),
        (L.ReduceOnPlateau(0.5), "ReduceOnPlateau"),
        (L.SWALR(0.5, 0.1, 3), "SWALR"),
    ],
)
def test_schedules_without_an_equal_policy(schedule, why):
    with pytest.raises(pm.ProgramError, match=why):
        O.SGD(schedule).to_config()


def test_averaged_sgd():
    config = O.AveragedSGD(0.5, decay=0.25, power=0.75).to_config()
    library = O.NativeOptimizer(config, np.zeros(1))
    for t in range(10):
        library.update(np.zeros(1))
        assert library.learning_rate == pytest.approx(0.5 / (1 + 0.25 * 0.5 * t) ** 0.75, rel=1e-12)
