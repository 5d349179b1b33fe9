"""Averages over long runs equal their definitions to two units in the last place of float32, in programs and in the C
library."""

from fractions import Fraction

import numpy as np
import pytest

import paddle_mini as pm
from averages_by_definition import digits_off, expected
from paddle_mini.averaging import BiasCorrected, Exponential, Latest, Polynomial, Power, Tail, Uniform, Window, fraction
from paddle_mini.optimizer import ParameterAverage
from paddle_mini.optimizer.native_library import load_library
from thorough import IS_THOROUGH

L = pm.layers
AT_ONCE = 1000
UNIT = 2.0**-23  # the last place of float32 between 1 and 2: while parameters stay there, their differences are exact
IN_LIBRARY = [
    Uniform(),
    Tail(10),
    Window(100_000),
    Window(7_000),
    Window(rate=0.15, min_size=100),
    Polynomial(),
    Power(6.94),
    Power(relative_width=0.1),
    Exponential(0.9),
    Exponential(0.95),
    Exponential(0.999),
    Exponential(0.9999),
    Exponential(1 - 1e-6),
    Exponential(half_life=fraction(0.05)),
    Exponential(0.9999, warmup="ratio"),
    Exponential(0.999, bias_correction=False),
]
LONG = [*IN_LIBRARY, Latest(7), BiasCorrected()]


class Steps:
    """A program whose parameter p takes one step per fed difference in each run."""

    def __init__(self, begin, schemes):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
        with pm.program_guard(self.main, self.startup):
            attr = pm.ParamAttr("p", pm.initializer.Constant(0.0))
            p = L.create_parameter([begin.size], "float32", attr=attr)
            steps, many = L.data("steps", [-1, begin.size]), L.data("many", [1], dtype="int64")
            at = L.fill_constant([1], "int64", 0)
            going_on = at < many
            with L.While(going_on, is_test=True).block():
                gradient = L.reshape(L.gather(steps, at), [begin.size])
                self.average = ParameterAverage(pm.optimizer.SGD(1.0), schemes)
                self.average.apply_gradients([(p, gradient)])
                L.assign(at + 1, at)
                L.assign(at < many, going_on)
        self.exe.run(self.startup, scope=self.scope)
        self.scope.set("p", begin)

    def take(self, gradients):
        for first in range(0, len(gradients), AT_ONCE):
            some = gradients[first : first + AT_ONCE]
            self.exe.run(self.main, {"steps": some, "many": np.int64([len(some)])}, scope=self.scope)

    def value(self, scheme):
        with self.average.apply(self.exe, self.scope, scheme):
            return self.scope.get("p")


class LibrarySteps:
    """The same with the C library, whose function is called without the checks of NativeOptimizer."""

    def __init__(self, begin, schemes):
        self.schemes = schemes
        self.native = pm.optimizer.NativeOptimizer(ParameterAverage(pm.optimizer.SGD(1.0), schemes).to_config(), begin)

    def take(self, gradients):
        update, handle = load_library().paddle_update_parameter, self.native._open().pointer
        size, last = gradients[0].nbytes, gradients.ctypes.data + gradients.nbytes
        for address in range(gradients.ctypes.data, last, size):
            assert update(handle, 4, address, size) == 0

    def value(self, scheme):
        return self.native.average(self.schemes.index(scheme))


def slow_path(steps, size):
    """Parameters that a float32 average would lose, in units above 1, one more row than steps: a quarter of the columns
    rises by half a unit per step, one drifts by 1 %, one drifts and shakes by 0.1 %, and one is constant."""
    random, at = np.random.RandomState(3), np.arange(steps + 1)[:, None]
    begin = random.randint(1 << 20, 6 << 20, size // 4)
    drift = (0.01 / UNIT * at / steps).astype("int32")
    shake = (1e-3 / UNIT * random.standard_normal((steps + 1, size // 4))).astype("int32")
    path = [begin + at // 2, begin + drift, begin + drift + shake, np.broadcast_to(begin, shake.shape)]
    return np.hstack(path).astype("int32")


def as_float32(units):
    values = (1 + units * UNIT).astype("float32")
    assert ((values - 1) / UNIT == units).all() and values.min() >= 1 and values.max() < 2
    return values


MANY = 1_000_000 if IS_THOROUGH else 200_000


@pytest.mark.parametrize("kind, schemes", [(Steps, LONG), (LibrarySteps, IN_LIBRARY)])
def test_many_steps(kind, schemes):
    path = slow_path(MANY, 16)
    values = as_float32(path)
    model, history, done = kind(values[0], schemes), values[1:].astype("float64"), 0
    gradients = values[:-1] - values[1:]
    for steps in (50, MANY // 10, MANY):
        model.take(gradients[done:steps])
        done = steps
        for scheme in schemes:
            off = digits_off(model.value(scheme), expected(scheme, history[:steps]))
            assert off.max() <= 2, (scheme, steps, off.reshape(4, -1).max(1))
    sums = path[1:].sum(0, dtype="int64")
    exact = [float(1 + Fraction(int(one), steps) * Fraction(UNIT)) for one in sums]
    assert digits_off(model.value(Uniform()), exact).max() <= 2


SHORT = [Exponential(decay) for decay in (0.2, 0.5, 0.72, 0.8, 0.85, 0.9, 0.938, 0.95, 0.97, 0.985, 0.99)]


@pytest.mark.parametrize("kind", [Steps, LibrarySteps])
@pytest.mark.parametrize("shake", [0, 1e-2])
def test_averages_of_few_steps(kind, shake):
    """Few steps cannot be dithered: each of 4,096 elements is right at any time."""
    random, schemes = np.random.RandomState(1), [*SHORT, Window(2), Window(20), Window(60)]
    noise = (shake / UNIT * random.standard_normal((260, 4096))).astype("int32").clip(-(2**20), 2**20)
    values = as_float32(random.randint(1 << 20, 7 << 20, 4096) + noise)
    model, history, done = kind(values[0], schemes), values[1:], 0
    gradients = values[:-1] - values[1:]
    for steps in range(150, 259, 12):
        model.take(gradients[done:steps])
        done = steps
        for scheme in schemes:
            off = digits_off(model.value(scheme), expected(scheme, history[:steps])).max()
            assert off <= 2, (scheme, steps, off)
