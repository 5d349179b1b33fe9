"""Lengths are in steps, in every notation; errors say what to write instead."""

import inspect
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paddle_mini as pm
from averaged_models import Walk, counters
from averages_by_definition import averaged_steps
from paddle_mini.averaging import (
    BiasCorrected,
    Exponential,
    Latest,
    Polynomial,
    Power,
    Tail,
    Uniform,
    Window,
    epochs,
    fraction,
    samples,
    steps,
)
from paddle_mini.optimizer import ParameterAverage

SAME = [  # 60 steps each
    (60, steps(60), samples(1920, 32), epochs(3, 20), fraction(0.1, 600))
]


@pytest.mark.parametrize(
    "make",
    [
        Window,
        Tail,
        lambda length: Exponential(half_life=length),
        lambda length: Latest(3, every=length),
        lambda length: Window(rate=0.5, min_size=length, max_size=length),
        lambda length: Exponential(0.999, warmup=(length, 0.5)),
    ],
    ids=["window", "tail", "half-life", "latest", "limits", "warmup"],
)
def test_lengths_are_written_in_several_ways(make):
    """N5: the same averages, to the bit."""
    values = []
    for length in SAME[0]:
        model = Walk(make(length), "float64").walk(130)
        values.append(model.value().tobytes())
    assert len(set(values)) == 1


def test_other_places_that_take_lengths():
    models = [
        Walk(scheme, "float64", start_step=start, **arguments).walk(10)
        for scheme, start, arguments in (
            (Window(4), 3, {}),
            (Window(epochs(2, 2)), samples(24, 8), {}),
            (None, fraction(0.3, 10), {"window_size": steps(4)}),
        )
    ]
    assert len({model.value().tobytes() for model in models}) == 1


@given(size=st.integers(1, 40), every=st.integers(1, 8), n=st.integers(1, 80))
def test_a_window_of_steps_has_size_over_every_updates(size, every, n):
    """At least one; the sizes of generations are rounded to the nearest."""
    updates = max(1, round(size / every))
    attrs = Window(size).attrs(every)
    assert (attrs["window_min"], attrs["window_max"]) == (updates, updates)
    assert abs(updates * every - size) <= max(every / 2, every - size)


def test_a_window_in_a_program_that_averages_every_third_step():
    model = Walk(Window(12), "float64", every=3)
    held = []
    for number in range(1, 37):
        model.step(np.full(3, number))
        kept = counters(model.scope)
        held.append(kept["newer"] + kept["older"])
    assert held[2::3] == [1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 4]
    members = averaged_steps(36, 3)[-4:]
    np.testing.assert_allclose(model.value(), np.mean([model.history[t - 1] for t in members], 0), rtol=1e-14)


@given(half_life=st.floats(1, 1e5), every=st.integers(1, 100))
def test_a_half_life_is_one_whatever_every_is(half_life, every):
    scheme = Exponential(half_life=half_life)
    assert scheme.decay**half_life == pytest.approx(0.5, rel=1e-9)
    assert scheme.attrs(every) == scheme.attrs(1)  # average_weight applies decay^every


@pytest.mark.parametrize("part", [0.01, 0.05, 0.3])
def test_a_half_life_that_grows_with_the_run(part):
    """Half of the weights are in about the newest `part` of the run, after 500 steps as after 2,000."""
    model = Walk(Exponential(half_life=fraction(part)), "float64", size=1, rate=1.0, begin=0.0)
    for number in range(1, 2001):
        model.step([number])
        if number in (500, 2000):
            power = np.log(2) / part
            assert model.value()[0] / number == pytest.approx(power / (power + 1), abs=1 / number)


def test_lengths_say_what_they_are():
    lengths = (steps(60), samples(1000, 32), epochs(1.5, 20), fraction(0.1, 600), fraction(0.05))
    assert [repr(one) for one in lengths] == ["steps(60)", "steps(31.25)", "steps(30)", "steps(60)", "fraction(0.05)"]
    assert steps(60) == epochs(3, 20) != steps(61)


def around(scheme=None, **arguments):
    return lambda: ParameterAverage(pm.optimizer.SGD(0.1), scheme, **arguments)


@pytest.mark.parametrize(
    "make, words",
    [
        (around(), "has no scheme: give window_size=1000, or a scheme such as paddle_mini.averaging.Exponential"),
        (around(Uniform(), window_size=3), "has a scheme and window_size=3: give one of them"),
        (lambda: ParameterAverage("sgd", Uniform()), "takes an optimizer, not str"),
        (lambda: ParameterAverage(None, Uniform()), "takes an optimizer, not NoneType"),
        (lambda: ParameterAverage(pm.optimizer.SGD, Uniform()), r"not its class: SGD\(\.\.\.\)"),
        (lambda: ParameterAverage(around(Uniform())(), Uniform()), "give one of them a list of schemes"),
        (around("uniform"), r"scheme is 'uniform', it must be one of paddle_mini.averaging, such as Window\(n\), Uni"),
        (around(Uniform), "it must be one of paddle_mini.averaging"),
        (around([]), "scheme is an empty list"),
        (around([Uniform(), Window(3), Uniform()]), r"Uniform\(\) is listed twice"),
        (around([Uniform(), 3]), "scheme is 3, it must be one of"),
        (around(Uniform(), every=0), "every is 0, it must be at least 1 steps"),
        (around(Uniform(), every=1.5), "every is 1.5, it must be an integer number of steps, at least 1"),
        (around(Uniform(), every=True), "every is True"),
        (around(Uniform(), start_step=-1), "start_step is -1, it must be at least 0 steps"),
        (around(Uniform(), start_step=None), "start_step is None"),
        (around(Uniform(), start_step=fraction(0.1)), r"start_step: .* write fraction\(0.1, total_steps\)"),
        (around(Uniform(), place="cpu"), r"place is 'cpu': give CPUPlace\(\) or CUDAPlace\(0\)"),
        (around(Uniform(), buffers="ema"), "buffers is 'ema', it must be 'copy' or 'average'"),
        (around(Uniform(), non_finite=None), "non_finite is None, it must be 'raise' or 'skip'"),
        (around(window_size=0), r"Window\(size\) is 0, it must be at least 1 steps"),
        (around(window_size=2.0), r"Window\(size\) is 2.0, it must be an integer number of steps"),
        (around(window_size=True), r"Window\(size\) is True"),
        (around(window_size="9"), r"Window\(size\) is '9'"),
        (around(window_size=2**62), r"Window\(size\) is \d+, it must be below 2\*\*62"),
        (lambda: Window(), r"takes either a size, as in Window\(1000\), or a rate, as in Window\(rate=0.15\)"),
        (lambda: Window(3, rate=0.5), r"takes either a size, as in Window\(1000\), or a rate"),
        (lambda: Window(rate=0), r"Window\(rate=0\): the rate is a part of all steps, above 0 and at most 1"),
        (lambda: Window(rate=-1), "above 0 and at most 1"),
        (lambda: Window(rate=1.5), "above 0 and at most 1"),
        (lambda: Window(rate=float("nan")), "above 0 and at most 1"),
        (lambda: Window(rate=0.5, min_size=5, max_size=4), r"\(min_size=5, max_size=4\): min_size is larger"),
        (lambda: Window(rate=0.5, max_size=0), r"Window\(max_size\) is 0"),
        (lambda: Window(fraction(0.1)), r"Window\(size\): .* write fraction\(0.1, total_steps\)"),
        (lambda: Tail(-1), r"Tail\(start\) is -1, it must be at least 0 steps"),
        (lambda: Latest(0), r"Latest\(0\): k, the number of kept parameters, must be an integer, at least 1"),
        (lambda: Latest(2.0), r"Latest\(2.0\): k, the number of kept parameters, must be an integer"),
        (lambda: Latest(True), r"Latest\(True\)"),
        (lambda: Latest(3, every=0), r"Latest\(every\) is 0"),
        (lambda: Polynomial(-1), r"Polynomial\(eta=-1\): it is a number, at least 0"),
        (lambda: Polynomial("3"), r"Polynomial\(eta='3'\)"),
        (lambda: Power(), r"Power takes either gamma=6.94 or relative_width=0.1"),
        (lambda: Power(1.0, relative_width=0.1), "Power takes either gamma=6.94 or relative_width=0.1"),
        (lambda: Power(-0.5), r"Power\(gamma=-0.5\): it is a number, at least 0"),
        (lambda: Power(relative_width=0.29), "above 0 and at most 0.2886, the uniform average"),
        (lambda: Power(relative_width=0), "above 0 and at most 0.2886"),
        (lambda: Exponential(), r"takes either a decay, as in Exponential\(0.999\), or half_life=1000"),
        (lambda: Exponential(0.9, half_life=3), r"takes either a decay, as in Exponential\(0.999\), or half_life=1000"),
        (lambda: Exponential(1.0), r"Exponential\(1.0\): the decay is at least 0 and below 1"),
        (lambda: Exponential(-0.1), "at least 0 and below 1"),
        (lambda: Exponential(float("nan")), "at least 0 and below 1"),
        (lambda: Exponential("0.9"), "at least 0 and below 1"),
        (lambda: Exponential(half_life=0), r"Exponential\(half_life\) is 0, it must be at least 0.001 steps"),
        (lambda: Exponential(half_life=fraction(0.9)), r"at most 0.69 of it, .* write Power\(relative_width=...\) instead"),
        (lambda: Exponential(half_life=fraction(0.1), warmup="ratio"), r"no warmup .* write Power\(relative_width=...\)"),
        (lambda: Exponential(half_life=fraction(0.1), bias_correction=False), "takes no warmup and no bias_correction=F"),
        (lambda: Exponential(0.9, warmup="linear"), r"it is None, 'ratio' or \(length, power\), such as \(1, 2/3\)"),
        (lambda: Exponential(0.9, warmup=5), r"it is None, 'ratio' or \(length, power\)"),
        (lambda: Exponential(0.9, warmup=(0, 0.5)), r"Exponential\(warmup length\) is 0"),
        (lambda: Exponential(0.9, warmup=(1, 2)), "the power is above 0 and at most 1"),
        (lambda: BiasCorrected(kappa=0), r"BiasCorrected\(kappa=0\): it is above 0 and at most 1"),
        (lambda: BiasCorrected(eta=2), r"BiasCorrected\(eta=2\): it is above 0 and at most 1"),
        (lambda: BiasCorrected(rho=0.5), r"BiasCorrected\(rho=0.5\): it is a number, at least 1"),
        (lambda: BiasCorrected(gamma=-1), r"BiasCorrected\(gamma=-1\): it is a number, at least 0"),
        (lambda: steps(0), r"steps\(\): n is 0, it must be a number above 0"),
        (lambda: steps("3"), r"steps\(\): n is '3', it must be a number above 0"),
        (lambda: samples(100, 0), r"samples\(\): batch_size is 0, it must be a number above 0"),
        (lambda: samples(float("inf"), 8), r"samples\(\): n is inf"),
        (lambda: epochs(1, -3), r"epochs\(\): steps_per_epoch is -3"),
        (lambda: fraction(0), r"fraction\(\): part is 0, it must be a number above 0"),
        (lambda: fraction(1), r"fraction\(1\): the part is below 1"),
        (lambda: fraction(0.5, 0), r"fraction\(\): total_steps is 0"),
    ],
)
def test_wrong_arguments_are_refused(make, words):
    """A13."""
    with pytest.raises(pm.ProgramError, match=words):
        make()


@pytest.mark.parametrize("kind", [ParameterAverage, Window, Uniform, Tail, Latest, Polynomial, Power, Exponential, BiasCorrected])
def test_every_argument_is_in_the_docstring(kind):
    """A17."""
    names = [name for name in inspect.signature(kind.__init__).parameters if name != "self"]
    assert names and all(re.search(rf"\b{name}\b", kind.__doc__) for name in names), kind.__doc__


def test_wrong_use_is_refused():
    average = ParameterAverage(pm.optimizer.SGD(0.1), Uniform())
    w = pm.layers.create_parameter([3], attr=pm.ParamAttr("w"))
    loss = pm.layers.mean(pm.layers.square(w))
    average.minimize(loss)
    with pytest.raises(pm.ProgramError, match="has its program already; make another one"):
        average.minimize(loss)
    for parameters, words in (
        (["v"], "'v' is not a parameter that the optimizer changes; those are w"),
        ([], "no parameter to average"),
    ):
        with pm.program_guard(pm.Program(), pm.Program()):
            w = pm.layers.create_parameter([3], attr=pm.ParamAttr("w"))
            with pytest.raises(pm.ProgramError, match=words):
                ParameterAverage(pm.optimizer.SGD(0.1), Uniform(), parameters=parameters).minimize(pm.layers.mean(w))
