"""Statistics of an average are compared with its weights by definition, for every scheme."""

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import Walk, averaged_model
from averages_by_definition import SCHEMES, averaged_steps, of_updates
from paddle_mini.averaging import Exponential, Latest, Uniform, Window
from paddle_mini.optimizer import ParameterAverage
from small_model import assert_same_bits


def by_definition(scheme, steps, every=1, start=0):
    """Updates, effective length and mean age after this many steps."""
    every = scheme.own_every or every
    averaged = averaged_steps(steps, every, max(start, scheme.start))
    if not averaged:
        return 0, 0.0, 0.0
    weights = of_updates(scheme, len(averaged), every)
    return len(averaged), 1 / (weights**2).sum(), weights @ (steps - np.array(averaged))


@pytest.mark.parametrize("every, start", [(1, 0), (3, 0), (2, 5)])
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_lengths_and_ages_are_those_of_the_weights(scheme, every, start):
    walk = Walk(scheme, every=every, start_step=start, dtype="float64")
    for steps in range(1, 71):
        walk.walk(1, steps)
        if steps > 12 and steps % 7:
            continue
        found = walk.average.statistics(walk.scope)
        updates, length, age = by_definition(scheme, steps, every, start)
        assert (found.steps, found.updates, found.skipped) == (steps, updates, 0)
        np.testing.assert_allclose([found.effective_length, found.mean_age], [length, age], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("steps", [1, 399, 400, 401, 650, 1300])
@pytest.mark.parametrize(
    "scheme", [Window(200), Window(rate=0.15, min_size=20, max_size=200), Exponential(0.99), Latest(5, every=100)], ids=repr
)
def test_long_runs(scheme, steps):
    walk = Walk(scheme, dtype="float64").walk(steps)
    found = walk.average.statistics(walk.scope)
    np.testing.assert_allclose(
        [found.updates, found.effective_length, found.mean_age], by_definition(scheme, steps), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distance_is_that_of_the_averages_from_the_parameters(dtype):
    model = averaged_model(Window(4), dtype=dtype)
    for number in range(11):
        model.step(number)
    raw = model.values()
    with model.average.apply(model.exe, model.scope):
        averaged = model.values()
    apart, size = (
        sum((one[name].astype("float64") ** 2).sum() for name in raw)
        for one in ({name: averaged[name].astype("float64") - raw[name] for name in raw}, raw)
    )
    np.testing.assert_allclose(model.average.statistics(model.scope).distance, (apart / size) ** 0.5, rtol=1e-10)


def test_distance_is_of_parameters_alone():
    """Not for the statistics of batch normalization, which may be large."""
    x = pm.layers.data("x", [-1, 3])
    average = ParameterAverage(pm.optimizer.SGD(0.0), Uniform(), buffers="average")
    average.minimize(pm.layers.mean(pm.layers.fc(pm.layers.batch_norm(x), 2)))
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    for number in range(3):
        exe.run(pm.default_main_program(), {"x": np.random.RandomState(number).randn(8, 3).astype("float32")})
    assert average.statistics().distance == 0


@pytest.mark.parametrize(
    "scheme, warm",
    [
        (Exponential(0.9, warmup="ratio"), 80),
        (Exponential(0.9, warmup=(1.0, 2 / 3)), 30),
        (Exponential(0.9, warmup=(2.0, 1.0)), 17),
    ],
)
@pytest.mark.parametrize("every", [1, 4])
def test_a_warmup_lasts_until_its_bound_is_above_the_decay(scheme, warm, every):
    """(1 + t) / (10 + t) = 0.9 at 80, 1 - (1 + t)^(-2/3) at 10^1.5 - 1, 1 - 1 / (1 + t/2) at 18."""
    walk = Walk(scheme, dtype="float64", every=every)
    assert not walk.average.statistics(walk.scope).warming_up
    for steps in range(1, 101):
        walk.walk(1, steps)
        used = steps // every * every
        assert walk.average.statistics(walk.scope).warming_up == (0 < used <= warm - (warm == 80)), steps


@pytest.mark.parametrize("scheme", [Exponential(0.9), Uniform(), Window(3), Exponential(half_life=5)], ids=repr)
def test_without_a_warmup_none_is_reported(scheme):
    walk = Walk(scheme).walk(5)
    assert not walk.average.statistics(walk.scope).warming_up


@pytest.mark.parametrize("scheme", [Uniform(), Exponential(0.9), Window(3)], ids=repr)
def test_skipped_steps_are_counted(scheme):
    walk, averaged = Walk(scheme, dtype="float64", non_finite="skip"), 0
    for steps in range(1, 31):
        before = walk.scope.get("p")
        if steps % 4 == 0:
            walk.step([np.inf] * 3)
            walk.scope.set("p", before)
        else:
            walk.walk(1, steps)
            averaged += 1
    found = walk.average.statistics(walk.scope)
    assert (found.steps, found.updates, found.skipped) == (30, averaged, 7)
    np.testing.assert_allclose(found.effective_length, 1 / (of_updates(scheme, averaged, 1) ** 2).sum(), rtol=1e-7)


@pytest.mark.parametrize("scheme", [Uniform(), Exponential(0.9), Window(3)], ids=repr)
def test_members_age_in_skipped_steps_too(scheme):
    walk = Walk(scheme, dtype="float64", non_finite="skip").walk(5)
    before = walk.scope.get("p")
    walk.step([np.inf] * 3)
    walk.scope.set("p", before)
    found, weights = walk.average.statistics(walk.scope), of_updates(scheme, 5, 1)
    np.testing.assert_allclose(found.mean_age, weights @ (6 - np.arange(1, 6)), rtol=1e-7)


def test_each_of_several_schemes_has_its_own():
    schemes = [Uniform(), Exponential(0.5), Latest(2, every=3)]
    walk = Walk(schemes, dtype="float64").walk(10)
    lengths = [walk.average.statistics(walk.scope, scheme).effective_length for scheme in schemes]
    np.testing.assert_allclose(lengths, [by_definition(scheme, 10)[1] for scheme in schemes], rtol=1e-9)
    assert walk.average.statistics(walk.scope) == walk.average.statistics(walk.scope, Uniform())
    with pytest.raises(pm.ProgramError, match=r"Window\(3\) is not averaged; there is Uniform\(\), Exp"):
        walk.average.statistics(walk.scope, Window(3))


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_they_leave_nothing_behind(scheme):
    walk = Walk(scheme).walk(9)
    before = {name: walk.scope.get(name) for name in walk.scope.names()}
    walk.average.statistics(walk.scope)
    assert_same_bits({name: walk.scope.get(name) for name in walk.scope.names()}, before)


def test_where_averages_are_applied_there_are_none():
    """The distance would be from the averages to themselves."""
    walk = Walk(Uniform()).walk(9)
    with walk.average.apply(walk.exe, walk.scope):
        before = {name: walk.scope.get(name) for name in walk.scope.names()}
        with pytest.raises(pm.OpError, match="applied already"):
            walk.average.statistics(walk.scope)
        assert_same_bits({name: walk.scope.get(name) for name in walk.scope.names()}, before)
    assert walk.average.statistics(walk.scope).steps == 9


def test_before_there_is_a_program_there_are_none():
    with pytest.raises(pm.ProgramError, match="call minimize"):
        ParameterAverage(pm.optimizer.SGD(0.1), Uniform()).statistics()
