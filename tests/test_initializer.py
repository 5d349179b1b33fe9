# Initializers: limits and spread of large parameters, fans, seeds.
import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import initializer
from programs import op_types, start


def drawn(initialize, shape, dtype="float32"):
    pm.default_startup_program().random_seed = 11
    pm.layers.create_parameter(shape, dtype=dtype, attr=pm.ParamAttr("w", initialize))
    start()
    value = pm.global_scope().get("w")
    assert (value.shape, value.dtype) == (tuple(shape), dtype)
    return value


@pytest.mark.parametrize(
    "initialize, shape, limit",
    [
        (initializer.Uniform(-0.25, 0.25), [100, 200], 0.25),
        (initializer.Xavier(), [100, 200], np.sqrt(6 / 300)),
        (initializer.Xavier(), [32, 16, 5, 5], np.sqrt(6 / (16 * 25 + 32 * 25))),
        (initializer.Xavier(fan_in=10, fan_out=14), [100, 200], 0.5),
        (initializer.MSRA(), [100, 200], np.sqrt(6 / 100)),
    ],
)
def test_uniform_fills_its_interval(initialize, shape, limit):
    value = drawn(initialize, shape)
    assert np.abs(value).max() <= limit * (1 + 1e-6) and np.abs(value).max() > 0.99 * limit
    assert value.mean() == pytest.approx(0, abs=0.03 * limit)
    assert value.std() == pytest.approx(limit / np.sqrt(3), rel=0.03)


@pytest.mark.parametrize(
    "initialize, mean, spread",
    [
        (initializer.Normal(0.5, 0.1), 0.5, 0.1),
        (initializer.Xavier(uniform=False), 0.0, np.sqrt(2 / 300)),
        (initializer.MSRA(uniform=False), 0.0, np.sqrt(2 / 100)),
    ],
)
def test_normal_has_its_moments(initialize, mean, spread):
    value = drawn(initialize, [100, 200])
    assert value.mean() == pytest.approx(mean, abs=0.05 * spread)
    assert value.std() == pytest.approx(spread, rel=0.03)
    assert np.abs(value - mean).max() > 3 * spread


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_constant_and_array(dtype):
    values = np.array([[1, 0, 1], [0, 0, 1]], dtype)
    np.testing.assert_array_equal(drawn(initializer.NumpyArrayInitializer(values), [2, 3], dtype), values)
    assert op_types(pm.default_startup_program()) == ["assign_value"]


def test_constant():
    np.testing.assert_array_equal(drawn(initializer.Constant(2.5), [3]), [2.5] * 3)


@pytest.mark.parametrize("shape, expected", [((), (1, 1)), ((7,), (7, 7)), ((3, 5), (3, 5)), ((8, 3, 5, 2), (30, 80))])
def test_fans(shape, expected):
    assert initializer.fans(shape) == expected


def test_a_seed_of_its_own_repeats():
    def draw():
        with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()) as scope:
            pm.layers.create_parameter([4], attr=pm.ParamAttr("w", initializer.Uniform(seed=5)))
            start()
            return scope.get("w")

    np.testing.assert_array_equal(draw(), draw())


def test_the_global_seed_repeats_a_run():
    def draw(number):
        pm.seed(number)
        with pm.scope_guard(pm.Scope()) as scope:
            start()
            return scope.get("w")

    pm.layers.create_parameter([4], name="w")
    np.testing.assert_array_equal(draw(3), draw(3))
    assert (draw(3) != draw(4)).all()


def test_refusals():
    with pytest.raises(pm.ShapeError, match=r"'w' has shape \[3\], its initial value \[2\]"):
        drawn(initializer.NumpyArrayInitializer(np.zeros(2)), [3])
    with pytest.raises(pm.ProgramError, match="random initializers are for float variables"):
        pm.layers.create_parameter([3], dtype="int64")
    with pytest.raises(pm.ProgramError, match="low 1 is above high 0"):
        initializer.Uniform(1, 0)
    for wrong in (float("nan"), float("inf"), True, "1"):
        with pytest.raises(pm.ProgramError, match="Normal: loc is .*, it must be a finite number"):
            initializer.Normal(wrong)
        with pytest.raises(pm.ProgramError, match="Uniform: high is .*, it must be a finite number"):
            initializer.Uniform(high=wrong)
    with pytest.raises(pm.ProgramError, match="Normal: scale -1 is negative"):
        initializer.Normal(scale=-1)


@pytest.mark.parametrize("value", [np.ones((2, 3)), 0.5, initializer.Normal])
def test_what_is_no_initializer_is_refused(value):
    with pytest.raises(pm.ProgramError, match=r"initializer is .* such as initializer.NumpyArrayInitializer\(array\)"):
        pm.ParamAttr(initializer=value)
