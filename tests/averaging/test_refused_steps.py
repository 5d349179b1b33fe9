"""A step that is rejected, or fails otherwise, is undone in all averages, on the CPU and on emulated devices."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Exponential, Uniform, Window
from paddle_mini.optimizer import ParameterAverage
from thorough import some

O = pm.optimizer


class Three:
    """Parameters a, b and c, each of which takes the value fed for it."""

    def __init__(self, schemes, place, size=700):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor(place)
        with pm.program_guard(self.main, self.startup):
            losses = []
            for name in "abc":
                p = pm.layers.create_parameter([size], attr=pm.ParamAttr(name, pm.initializer.Constant(1.0)))
                losses.append(pm.layers.reduce_sum(pm.layers.square(p - pm.layers.data(f"x_{name}", [size]))) * 0.5)
            self.average = ParameterAverage(O.SGD(1.0), schemes)
            self.average.minimize(losses[0] + losses[1] + losses[2])
        self.exe.run(self.startup, scope=self.scope)
        self.size = size

    def feed(self, step):
        random = np.random.RandomState(step)
        return {f"x_{name}": 2 + random.randn(self.size).astype("float32") for name in "abc"}

    def values(self, scheme):
        with self.average.apply(self.exe, self.scope, scheme):
            return [self.scope.get(name) for name in "abc"]


@pytest.mark.parametrize("place", [pm.CPUPlace(), pm.EmulatedPlace(0)], ids=str)
@pytest.mark.parametrize("at, fuse", [(0, "1"), (600, "1"), (600, "0")])
@pytest.mark.parametrize("before", some([1, 4, 5, 15, 16, 40], 2))
def test_a_refused_step_leaves_no_trace(monkeypatch, before, at, fuse, place):
    """Undone in the averages of the parameters before the one that is not finite and in its own: after later steps they
    are as they would be without it. Window(5) ends a generation with it, others a block."""
    monkeypatch.setenv("PM_FUSE", fuse)
    schemes = [
        Uniform(compensated=True),
        Uniform(),
        Exponential(0.9),
        Window(5),
        Window(1),
        Exponential(0.999),
        Exponential(0.99, compensated=True),
    ]
    model, other = Three(schemes, place), Three(schemes, place)
    for step in range(before):
        model.exe.run(model.main, model.feed(step), scope=model.scope)
        other.exe.run(other.main, other.feed(step), scope=other.scope)
    kept = {name: model.scope.get(name) for name in "abc"}
    was = [model.values(scheme) for scheme in schemes]
    for _ in range(2):
        bad = model.feed(999)
        bad["x_b"][at] = np.nan
        with pytest.raises(pm.OpError, match=f"element {at} of Param is nan(?s:.*)'b"):
            model.exe.run(model.main, bad, scope=model.scope)
            model.scope.get("a")  # a device reports late
        for name, value in kept.items():
            model.scope.set(name, value)
        for scheme, values in zip(schemes, was):
            for found, wanted in zip(model.values(scheme), values):
                np.testing.assert_allclose(found, wanted, rtol=4e-7, atol=2e-6)
    for step in range(before, before + 20):
        for one in (model, other):
            one.exe.run(one.main, one.feed(step), scope=one.scope)
        for scheme in schemes:
            for found, wanted in zip(model.values(scheme), other.values(scheme)):
                np.testing.assert_allclose(found, wanted, rtol=4e-7, atol=2e-6)
