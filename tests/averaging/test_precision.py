"""Averages keep their precision: over long runs, for 16-bit parameters, for weights too small for float32."""

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import Walk, counters
from averages_by_definition import SCHEMES, digits_off, expected
from bfloat16 import bits_of, numbers_of
from paddle_mini.averaging import BiasCorrected, Exponential, Latest, Polynomial, Power, Uniform, Window
from paddle_mini.optimizer import ParameterAverage

HALVES = {"bfloat16": (numbers_of, 2.0**-8), "float16": (lambda value: value.astype("float32"), 2.0**-11)}


def cast_to(dtype):
    return {"in_dtype": pm.dtypes.NUMBERS["float32"], "out_dtype": pm.dtypes.NUMBERS[dtype]}


class MasterWeights:
    """An optimizer of a 16-bit parameter: SGD on its float32 original, from which the parameter is cast."""

    def __init__(self, rate):
        self.sgd = pm.optimizer.SGD(rate)

    def backward(self, loss, startup_program=None, parameter_list=None, no_grad_set=None):
        ((master, gradient),) = self.sgd.backward(loss, startup_program, parameter_list, no_grad_set)
        self.master = master
        return [(master.block.vars["half"], gradient)]

    def apply_gradients(self, pairs):
        ((half, gradient),) = pairs
        ops = self.sgd.apply_gradients([(self.master, gradient)])
        half.block.append_op("cast", {"X": self.master}, {"Out": half}, cast_to(half.dtype))
        return ops


class HalfWalk(Walk):
    """Walk, with the 16-bit `half` as the averaged parameter."""

    def __init__(self, scheme, dtype, rate=0.2, begin=3.0, **arguments):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
        with pm.program_guard(self.main, self.startup):
            self.x = pm.layers.data("x", [3])
            master = pm.layers.create_parameter([3], "float32", attr=pm.ParamAttr("p", pm.initializer.Constant(begin)))
            self.main.global_block().create_parameter("half", [3], dtype)
            startup = self.startup.global_block()
            startup.create_var("half", shape=[3], dtype=dtype, persistable=True)
            startup.append_op("cast", {"X": "p"}, {"Out": "half"}, cast_to(dtype))
            loss = pm.layers.reduce_sum(pm.layers.square(master - self.x)) * 0.5
            self.average = ParameterAverage(MasterWeights(rate), scheme, **arguments)
            self.average.minimize(loss)
        self.exe.run(self.startup, scope=self.scope)
        self.dtype, self.size, self.history, self.read = "float32", 3, [], HALVES[dtype][0]

    def step(self, x):
        self.exe.run(self.main, {"x": np.asarray(x, "float32")}, scope=self.scope)
        self.history.append(self.read(self.scope.get("half")))

    def value(self, scheme=None):
        with self.average.apply(self.exe, self.scope, scheme):
            return self.scope.get("half")


@pytest.mark.parametrize("dtype", HALVES)
def test_parameters_of_two_bytes_have_averages_of_four(dtype):
    """D2: the average is exact, and is rounded once when it replaces the parameter."""
    schemes = [scheme for scheme in SCHEMES if not isinstance(scheme, (Latest, BiasCorrected))]
    model = HalfWalk(schemes, dtype).walk(1100)
    for scheme in schemes:
        found, wanted = model.value(scheme), expected(scheme, model.history)
        assert found.dtype == model.scope.get("half").dtype
        np.testing.assert_allclose(model.read(found), wanted, rtol=HALVES[dtype][1])
    kept = {name: model.scope.get(name) for name in model.scope.names() if name.startswith("half_")}
    assert "half_average_0" in kept
    assert {value.dtype.name for name, value in kept.items()} == {"float32"}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("scheme", [Exponential(0.999), Exponential(0.999, bias_correction=False), Uniform()], ids=repr)
def test_averages_of_two_byte_parameters_do_not_stand_still(dtype, scheme):
    """D1: the average of a parameter that jumps from 1 to 2 reaches 2; stored in 16 bits it would stay at 1."""
    model = HalfWalk(scheme, dtype, begin=1.0)
    model.step(np.full(3, 1.0))
    for _ in range(4000):
        model.step(np.full(3, 2.0))
    np.testing.assert_allclose(model.read(model.value()), expected(scheme, model.history), rtol=HALVES[dtype][1])
    assert model.read(model.value())[0] > 1.97


@pytest.mark.parametrize("dtype", HALVES)
def test_parameters_of_two_bytes_that_are_not_finite(dtype):
    """Rejected or skipped, as 32-bit ones are."""
    model = HalfWalk([Uniform(), Window(2)], dtype).walk(3)
    with pytest.raises(pm.OpError, match="element 1 of Param is nan: it does not enter the average(?s:.)*'half"):
        model.step([1, np.nan, 2])
    assert counters(model.scope)["steps"] == 3
    model = HalfWalk(Uniform(), dtype, non_finite="skip").walk(3)
    before = model.value()
    model.step([1, np.nan, 2])
    assert counters(model.scope) == {"updates": 3, "newer": 0, "older": 0, "steps": 4, "skipped": 1}
    assert model.value().tobytes() == before.tobytes()


def test_raw_values_of_two_bytes_come_back_bit_for_bit():
    model = HalfWalk(Uniform(compensated=True), "bfloat16").walk(7)
    raw, value = model.scope.get("half"), model.value()
    assert value.tobytes() == bits_of(model.scope.get("half_average_0")).tobytes() != raw.tobytes()
    assert model.scope.get("half").tobytes() == raw.tobytes()


def test_a_hundred_thousand_steps_keep_all_digits():
    """A5: 0.1 in every step, and values far from zero; a single sum in float32 would lose them."""
    schemes = [Uniform(), Window(16_384), Exponential(0.999), Exponential(0.99999)]
    model, random = Walk(schemes, size=2, rate=1.0, begin=0.1), np.random.RandomState(0)
    path = np.stack([np.full(100_000, 0.1), 3 + random.randn(100_000)], 1).astype("float32")
    run, main, scope, history = model.exe.run, model.main, model.scope, []
    for step, x in enumerate(path, 1):
        run(main, {"x": x}, scope=scope)
        history.append(scope.get("p"))
        if step in (1, 2, 16_383, 16_384, 16_385, 32_768, 100_000):
            members = np.stack(history)
            for scheme in schemes:
                wanted = expected(scheme, members)
                np.testing.assert_allclose(model.value(scheme), wanted, rtol=2.4e-7, err_msg=f"{scheme}, {step}")
    exact = members.mean(0, "float64")
    np.testing.assert_allclose(model.value(schemes[0]), exact, rtol=2e-7)
    assert abs(np.cumsum(members[:, 0])[-1] / 100_000 / exact[0] - 1) > 1e-5


BEGIN = np.random.RandomState(5).uniform(1, 2, 64).astype("float32")


def walk_along(path, schemes, **arguments):
    """A model whose parameter is path[t] after step t; nothing else of it is used."""
    model = Walk(schemes, size=path.shape[1], rate=0.0, begin=1.0, **arguments)
    run, main, scope = model.exe.run, model.main, model.scope
    nothing = {"x": np.zeros(path.shape[1], "float32")}
    for values in path:
        scope.set("p", values)
        run(main, nothing, scope=scope)
    model.history = list(path)
    return model


def test_the_mean_of_a_constant_is_the_constant():
    schemes = [Window(64), Uniform(), Exponential(0.999), Polynomial(), Power(6.94), Latest(5)]
    model = Walk(schemes, rate=0.0, begin=0.1)
    for step in range(1, 1001):
        model.step(np.zeros(3))
        if step in (1, 2, 63, 64, 65, 1000):
            for scheme in schemes:
                np.testing.assert_array_max_ulp(model.value(scheme), np.full(3, 0.1, "float32"), maxulp=1)


def test_compensation_keeps_what_rounding_takes_from_long_exponential_averages():
    """A weight of 1e-7 moves a float32 near 3 by less than half a unit in the last place."""
    schemes = [Exponential(1 - 1e-7, bias_correction=False, compensated=True)]
    model = Walk(schemes, rate=1.0, begin=3.0)
    for _ in range(5000):
        model.step(np.full(3, 3.5))
    model.history[0] = np.full(3, 3.5)
    assert model.value()[0] == 3.5
    for _ in range(20_000):
        model.step(np.full(3, 4.0))
    np.testing.assert_allclose(model.value(), 3.5 + 0.5 * -np.expm1(20_000 * np.log1p(-1e-7)), rtol=1e-7)


@pytest.mark.parametrize(
    "scheme", [Exponential(1 - 1e-7), Exponential(half_life=10**7), Exponential(1 - 1e-8, warmup="ratio")], ids=repr
)
def test_weights_that_a_float32_average_would_round_to_nothing(scheme):
    """Updates lose nothing: 2,000 steps upwards, each less than half a unit in the last place of the average."""
    up = [BEGIN + step * np.float32(2.0**-23) for step in range(2000)]
    model = walk_along(np.stack(up), [scheme])
    found = model.value()
    assert (digits_off(found, expected(scheme, model.history)) <= 2).all() and (found != model.history[0]).all()


@pytest.mark.parametrize("scheme", [Latest(3), BiasCorrected()], ids=repr)
def test_schemes_that_do_not_take_parameters_of_two_bytes(scheme):
    with pytest.raises(pm.ProgramError, match=r"'half' is bfloat16, which only Uniform\(\), .* leave it out with"):
        HalfWalk(scheme, "bfloat16")


def test_a_refused_scheme_leaves_the_program_as_it_was():
    x = pm.layers.data("x", [-1, 3])
    loss = pm.layers.mean(pm.layers.fc(x, 2))
    average = ParameterAverage(pm.optimizer.SGD(0.1), [Uniform(), Exponential(0.9)], parameters=["missing"])
    pairs = average.backward(loss)
    main, startup = pm.default_main_program(), pm.default_startup_program()
    before = main.to_bytes(), startup.to_bytes()
    with pytest.raises(pm.ProgramError, match="'missing' is not a parameter"):
        average.apply_gradients(pairs)
    assert (main.to_bytes(), startup.to_bytes()) == before
    pm.optimizer.SGD(0.1).apply_gradients(pairs)
