# Models with averaged parameters, which the tests of averaging train, and access to the averages in their scopes.
import numpy as np

import paddle_mini as pm
from paddle_mini.averaging import Exponential, Polynomial, Power, Tail, Uniform, Window
from paddle_mini.optimizer import ParameterAverage
from small_model import SmallModel

# One scheme of every kind that averages rows of tables when they change.
LAZY = [
    Uniform(),
    Tail(4),
    Polynomial(3.0),
    Power(6.94),
    Exponential(0.8),
    Exponential(0.9, warmup="ratio"),
    Exponential(0.9, bias_correction=False),
    Window(4),
    Window(rate=0.5, min_size=2, max_size=6),
]
COUNTERS = ("updates", "newer", "older", "steps", "skipped")


def averaged_model(scheme, optimizer=None, dtype="float32", attrs=None, **arguments):
    """A SmallModel; `average` is the object that averages it."""
    average = ParameterAverage(optimizer or pm.optimizer.SGD(0.2), scheme, **arguments)
    model = SmallModel(average.minimize, dtype, **(attrs or {}))
    model.average = average
    return model


class Walk:
    """One parameter p that SGD pulls towards the fed x, with its averages; history: p after every step."""

    def __init__(self, scheme, dtype="float32", size=3, rate=0.2, begin=3.0, optimizer=None, **arguments):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
        with pm.program_guard(self.main, self.startup):
            self.x = pm.layers.data("x", [size], dtype=dtype)
            attr = pm.ParamAttr("p", pm.initializer.Constant(begin))
            self.parameter = pm.layers.create_parameter([size], dtype, attr=attr)
            # The gradient is p - x.
            loss = pm.layers.reduce_sum(pm.layers.square(self.parameter - self.x)) * 0.5
            self.average = ParameterAverage(optimizer or pm.optimizer.SGD(rate), scheme, **arguments)
            self.average.minimize(loss)
        self.exe.run(self.startup, scope=self.scope)
        self.dtype, self.size, self.history = dtype, size, []

    def step(self, x):
        self.exe.run(self.main, {"x": np.asarray(x, self.dtype)}, scope=self.scope)
        self.history.append(self.scope.get("p"))

    def walk(self, steps, seed=0):
        for x in 3 + np.random.RandomState(seed).randn(steps, self.size):
            self.step(x)
        return self

    def value(self, scheme=None):
        with self.average.apply(self.exe, self.scope, scheme):
            return self.scope.get("p")


def train(model, steps, first=0):
    """The parameters of a SmallModel after every step."""
    history = []
    for number in range(first, first + steps):
        model.step(number)
        history.append(model.values())
    return history


def applied(model, scheme=None):
    """The averages of a SmallModel's parameters."""
    with model.average.apply(model.exe, model.scope, scheme):
        return model.values()


def counters(scope, number=0):
    """The counters of the average with this number, by name."""
    return dict(zip(COUNTERS, scope.get(f"average_counters_{number}").tolist()))


def assert_close(found, wanted, tolerance):
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=tolerance, atol=tolerance, err_msg=name)
