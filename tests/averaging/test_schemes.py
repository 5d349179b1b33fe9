"""Every scheme equals its definition: after any number of steps, with any interval of averaging, in both dtypes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_mini as pm
from averaged_models import Walk, applied, assert_close, averaged_model, counters, train
from averages_by_definition import SCHEMES, averaged_steps, expected, of_updates, spans
from paddle_mini import averaging
from paddle_mini.averaging import BiasCorrected, Exponential, Latest, LearningRateDecay, Power, Tail, Uniform, Window

LOOKED_AT = (1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 40, 333, 999, 1000, 1001, 2000)


def test_every_scheme_is_tried():
    kinds = {
        one
        for one in map(vars(averaging).get, averaging.__all__)
        if isinstance(one, type) and issubclass(one, averaging.Scheme) and one is not averaging.Scheme
    }
    assert kinds == {type(scheme) for scheme in SCHEMES}


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("start_step", [0, 5])
@pytest.mark.parametrize("dtype, tolerance", [("float32", 4e-6), ("float64", 1e-13)])
def test_the_average_is_its_formula(every, start_step, dtype, tolerance):
    """A2, A18, A20: every scheme, 2,000 steps, several at once, against float64 sums over the history."""
    model = Walk(SCHEMES, dtype, every=every, start_step=start_step)
    for step, x in enumerate(3 + np.random.RandomState(0).randn(2000, 3), 1):
        model.step(x)
        if step not in LOOKED_AT:
            continue
        for scheme in SCHEMES:
            counted = averaged_steps(step, scheme.own_every or every, max(start_step, scheme.start))
            if not counted:
                with pytest.warns(UserWarning, match="no step has been averaged yet"):
                    found = model.value(scheme)
                assert found.tobytes() == model.history[-1].tobytes()
                continue
            found = model.value(scheme)
            assert found.dtype == dtype
            wanted = expected(scheme, model.history, every, start_step)
            np.testing.assert_allclose(found, wanted, rtol=tolerance, err_msg=f"{scheme} after {step}")


@pytest.mark.parametrize("scheme", [Window(4), Window(1), Uniform(), Exponential(0.8)], ids=repr)
@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-6), ("float64", 1e-14)])
def test_all_parameters_have_their_average_after_every_step(scheme, dtype, tolerance):
    model, history = averaged_model(scheme, dtype=dtype), []
    for number in range(13):
        history += train(model, 1, number)
        found = applied(model)
        assert all(value.dtype == dtype for value in found.values())
        assert_close(found, {name: expected(scheme, [step[name] for step in history]) for name in found}, tolerance)


@pytest.mark.parametrize("scheme", [Window(3), Uniform(), Exponential(0.8)], ids=repr)
@pytest.mark.parametrize("arguments", [{"every": 3}, {"start_step": 5}, {"every": 2, "start_step": 3}], ids=str)
def test_steps_that_are_left_out(scheme, arguments):
    model = averaged_model(scheme, **arguments)
    history = train(model, 16)
    found = applied(model)
    assert_close(found, {name: expected(scheme, [step[name] for step in history], **arguments) for name in found}, 1e-6)


def test_a_window_holds_between_its_size_and_twice_that():
    """A4: and the first value after a generation closes contains the newest parameters."""
    model, held = Walk(Window(4)), []
    for step in range(12):
        model.step(np.full(3, step))
        kept = counters(model.scope)
        held.append(kept["newer"] + kept["older"])
        np.testing.assert_allclose(model.value(), np.mean(model.history[-held[-1] :], 0, "float64"), rtol=1e-6)
    assert held == [1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 4]


def test_a_window_that_grows_ends_its_generations_by_paddles_rule():
    """A3: with n members after u updates, when n >= min_size and n >= min(max_size, rate u); then the newer generation
    is empty, and the previous one is the former newer one."""
    scheme = Window(rate=0.25, min_size=3, max_size=10)
    model, newer, older, ends = Walk(scheme), 0, 0, []
    for step in range(1, 61):
        model.step(np.full(3, step))
        newer += 1
        if newer >= 3 and newer >= min(10, step * 0.25):
            newer, older = 0, newer
            ends.append(step)
            wanted = np.mean(model.history[-older:], 0, "float64")
            np.testing.assert_allclose(model.scope.get("p_previous_average_0"), wanted, rtol=1e-6)
        assert counters(model.scope) == {"updates": step, "newer": newer, "older": older, "steps": step, "skipped": 0}
    assert ends == [3, 6, 9, 12, 16, 22, 30, 40, 50, 60]


@given(
    least=st.integers(1, 9), more=st.integers(0, 9), rate=st.floats(0.05, 1.0), every=st.integers(1, 4), steps=st.integers(1, 60)
)
@settings(max_examples=25)
def test_any_window_holds_what_its_rule_says(least, more, rate, every, steps):
    scheme = Window(rate=rate, min_size=least, max_size=least + more)
    model = Walk(scheme, "float64", every=every).walk(steps)
    if steps < every:
        return
    np.testing.assert_allclose(model.value(), expected(scheme, model.history, every), rtol=1e-13)
    low, high = (max(1, round(size / every)) for size in (least, least + more))
    kept, held = counters(model.scope), spans(steps // every, lambda n, u: n >= low and n >= min(high, u * rate))
    assert kept["newer"] + kept["older"] == held


@given(
    decay=st.floats(0, 0.9999),
    every=st.integers(1, 5),
    start_step=st.integers(0, 7),
    steps=st.integers(1, 40),
    warmup=st.one_of(st.none(), st.just("ratio"), st.tuples(st.floats(0.5, 50), st.floats(0.1, 1))),
    correct=st.booleans(),
)
@settings(max_examples=40)
def test_any_exponential_average_is_its_formula(decay, every, start_step, steps, warmup, correct):
    scheme = Exponential(decay, warmup=warmup, bias_correction=correct)
    model = Walk(scheme, "float64", every=every, start_step=start_step).walk(steps)
    if averaged_steps(steps, every, start_step):
        np.testing.assert_allclose(model.value(), expected(scheme, model.history, every, start_step), rtol=1e-12)
    else:
        assert counters(model.scope)["updates"] == 0


@given(number=st.integers(0, len(SCHEMES) - 1), every=st.integers(1, 6), start_step=st.integers(0, 12), steps=st.integers(1, 30))
@settings(max_examples=40)
def test_constant_parameters_are_their_own_average(number, every, start_step, steps):
    """A20: the weights add up to 1 from the first update on."""
    model = Walk(SCHEMES[number], "float64", rate=0.0, every=every, start_step=start_step, begin=0.7).walk(steps)
    if counters(model.scope)["updates"]:
        np.testing.assert_allclose(model.value(), 0.7, rtol=1e-14)


def test_an_exponential_average_is_corrected_by_the_decays_that_were_used():
    """D11: with a warmup the divisor is 1 - b_1 b_2 ... b_t, not 1 - b_t^t, which is too large by 1.8 % at t = 2."""
    model = Walk(Exponential(0.999, warmup="ratio"), "float64").walk(3)
    b = [2 / 11, 3 / 12, 4 / 13]
    zero = 0.0
    for decay, p in zip(b, model.history):
        zero = decay * zero + (1 - decay) * p
    np.testing.assert_allclose(model.value(), zero / (1 - math.prod(b)), rtol=1e-14)
    assert np.abs(model.value() / (zero / (1 - b[-1] ** 3)) - 1).max() > 0.01


@pytest.mark.parametrize("every", [1, 10, 100])
def test_a_power_profile_keeps_its_place_whatever_every_is(every):
    """D8: gamma of relative width 0.1 has the mean age of 11 % of the run, not of a run of 1/every of the length."""
    scheme = Power(relative_width=0.1)
    model = Walk(scheme, "float64", size=1, rate=1.0, every=every)
    for step in range(1, 2001):
        model.step([step])  # p is the number of the step
    gamma = scheme.exponent
    assert gamma == pytest.approx(6.94, abs=0.01)
    assert model.value()[0] / 2000 == pytest.approx((gamma + 1) / (gamma + 2), abs=0.6 * every / 2000 + 1e-3)


@pytest.mark.parametrize("scheme", [Exponential(0.99), Exponential(half_life=69), Window(100)], ids=repr)
def test_a_length_in_steps_stays_what_it_is_whatever_every_is(scheme):
    """D9, N5: the mean age in steps of the averaged values is the same to within `every`, not `every` times as large."""
    ages = []
    for every in (1, 5):
        model = Walk(scheme, "float64", size=1, rate=1.0, every=every)
        for step in range(1, 1001):
            model.step([step])
        ages.append(1000 - model.value()[0])
    assert 45 < ages[0] < 120 and abs(ages[0] - ages[1]) <= 5


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if not isinstance(scheme, BiasCorrected)], ids=repr)
@pytest.mark.parametrize("every, start_step", [(1, 0), (3, 5)])
def test_profiles_say_the_same_weights(scheme, every, start_step):
    steps, total = np.arange(1, 403), 402
    apart = scheme.own_every or every
    counted = averaged_steps(total, apart, max(start_step, scheme.start))
    wanted = np.zeros(total)
    wanted[np.array(counted or [total]) - 1] = of_updates(scheme, len(counted), apart) if counted else 1
    found = averaging.profiles.share(scheme, total, steps, every, start_step)
    np.testing.assert_allclose(found, np.cumsum(wanted), atol=1e-9)


class Logarithmic(Uniform):
    """A scheme whose rule has no profile."""

    def attrs(self, every):
        return {"scheme": "logarithmic"}


def test_a_scheme_without_a_profile_is_refused():
    with pytest.raises(pm.ProgramError, match="Logarithmic.* has no profile.*'logarithmic'"):
        averaging.profiles.share(Logarithmic(), 10, np.arange(11))
    kept = [averaging.Checkpoint(step, {}) for step in (5, 10)]
    with pytest.raises(pm.ProgramError, match="has no profile"):
        averaging.synthesize(kept, Logarithmic())


def test_a_tail_is_a_uniform_average_that_starts_later():
    tail, late = Walk(Tail(7)).walk(20), Walk(Uniform(), start_step=7).walk(20)
    assert tail.value().tobytes() == late.value().tobytes()
    both = Walk(Tail(7), start_step=9).walk(20)
    assert both.value().tobytes() == Walk(Uniform(), start_step=9).walk(20).value().tobytes()


def test_the_latest_take_their_own_steps():
    """Their `every` overrides that of ParameterAverage."""
    model = Walk([Latest(3, every=4), Uniform()], "float64", every=5).walk(21)
    np.testing.assert_allclose(model.value(), np.mean([model.history[t - 1] for t in (12, 16, 20)], 0), rtol=1e-14)
    uniform = np.mean([model.history[t - 1] for t in (5, 10, 15, 20)], 0)
    np.testing.assert_allclose(model.value(Uniform()), uniform, rtol=1e-14)


def test_schemes_are_values():
    assert Window(3) == Window(3) != Window(4) and Exponential(0.9) != Exponential(0.9, compensated=True)
    assert len({*SCHEMES, *SCHEMES}) == len(SCHEMES)
    schemes = (
        Window(4),
        Uniform(),
        Tail(7),
        Latest(3, every=10),
        Exponential(half_life=50),
        Exponential(0.9, warmup="ratio"),
        Window(rate=0.5),
        Power(relative_width=0.1),
    )
    assert [repr(scheme) for scheme in schemes] == [
        "Window(4)",
        "Uniform()",
        "Tail(7)",
        "Latest(3, every=10)",
        "Exponential(half_life=50)",
        "Exponential(0.9, warmup='ratio')",
        "Window(rate=0.5)",
        "Power(relative_width=0.1)",
    ]


def test_a_learning_rate_decay_is_no_scheme_of_training():
    with pytest.raises(pm.ProgramError, match="it must be one of paddle_mini.averaging"):
        averaged_model(LearningRateDecay(3))
