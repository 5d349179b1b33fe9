"""Gradients of 16 bits are added up and measured in float32."""

import numpy as np
import pytest

import paddle_mini as pm
from optimizers import OPTIMIZERS
from programs import start

O = pm.optimizer
NARROW = ["float16", "bfloat16"]
TAKE_16_BITS = {"SGD", "Momentum", "LarsMomentum", "Dpsgd", "ProximalGD"}


def step(optimizer, dtype, factor, runs=1, size=300):
    """The elements of a parameter, at first 0, after runs whose gradient is `factor`."""
    p = pm.layers.create_parameter([size], dtype, attr=pm.initializer.Constant(0.0))
    optimizer.minimize(pm.layers.reduce_sum(pm.layers.cast(p, "float32")) * factor)
    return after(p, runs)


def table_step(optimizer, dtype, factor, ids, runs=1):
    """The first column of a table, at first 0, after runs whose sparse gradient is `factor` for each of the ids."""
    x = pm.layers.data("x", [-1, 1], dtype="int64")
    attr = pm.ParamAttr(name="table", initializer=pm.initializer.Constant(0.0))
    rows = pm.layers.embedding(x, [6, 2], is_sparse=True, dtype=dtype, param_attr=attr)
    optimizer.minimize(pm.layers.reduce_sum(pm.layers.cast(rows, "float32")) * factor)
    return after(pm.default_main_program().global_block().var("table"), runs, x=np.array(ids)[:, None])[:, 0]


def after(p, runs, **feed):
    exe, value = start(), pm.layers.cast(p, "float64")
    for _ in range(runs):
        (result,) = exe.run(feed=feed, fetch_list=[value])
    return result


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("factor", [300.0, 1e-3, 3e4])
def test_global_norm_of_squares_that_16_bits_do_not_have(dtype, factor):
    """300 · 300² is infinite in float16, which made all gradients 0."""
    result = step(O.SGD(1.0, grad_clip=pm.clip.GradientClipByGlobalNorm(0.01)), dtype, factor)
    exact = factor * min(1.0, 0.01 / (factor * 300**0.5))
    np.testing.assert_allclose(result, -exact, rtol=1e-2)


@pytest.mark.parametrize("dtype", NARROW)
def test_a_merge_of_more_gradients_than_16_bits_count(dtype):
    """256 + 1 is 256 in bfloat16: the mean of 300 equal gradients was 256/300 of it."""
    result = step(O.GradientMerge(O.SGD(1.0), 300), dtype, 1.0, runs=300, size=2)
    np.testing.assert_array_equal(result, [-1, -1])


@pytest.mark.parametrize("dtype", NARROW)
def test_a_merge_of_sparse_gradients_of_16_bits(dtype):
    result = table_step(O.GradientMerge(O.SGD(1.0), 4), dtype, 6.0, [1, 1, 4], runs=4)
    np.testing.assert_array_equal(result, [0, -12, 0, 0, -6, 0])


@pytest.mark.parametrize("dtype", NARROW)
def test_global_norm_of_sparse_gradients_of_16_bits(dtype):
    result = table_step(O.SGD(1.0, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0)), dtype, 300.0, [1, 1, 4])
    np.testing.assert_allclose(result, np.array([0, -2, 0, 0, -1, 0]) / 10**0.5, rtol=1e-2)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("optimizer", sorted(set(OPTIMIZERS) - TAKE_16_BITS))
def test_state_that_16_bits_cannot_hold(optimizer, dtype):
    """With beta2 = 0.999, which is 1 in bfloat16, Adam took no step at all. In float16 squares of small gradients are 0, so that
    Adagrad's steps were five times too long, and those of large ones infinite, where Ftrl made each parameter 0."""
    p = pm.layers.create_parameter([2], dtype, name="p")
    loss = pm.layers.reduce_sum(pm.layers.cast(p, "float32"))
    before = str(pm.default_main_program())
    with pytest.raises(pm.ProgramError, match=f"{optimizer} keeps .*, which need float32 .* 'p' is {dtype}: train float32"):
        OPTIMIZERS[optimizer]().minimize(loss)
    assert str(pm.default_main_program()) == before


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("factor", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("optimizer", sorted(TAKE_16_BITS))
def test_steps_of_16_bits_are_those_of_float32(optimizer, factor, dtype):
    narrow, wide = (step(OPTIMIZERS[optimizer](), kind, factor, runs=3, size=4) for kind in (dtype, "float32"))
    np.testing.assert_allclose(narrow, wide, rtol=2e-2)


def test_adam_beside_masters():
    """The message recommends it."""
    x = pm.layers.data("x", [-1, 4])
    loss = pm.layers.mean(pm.layers.fc(x, 1, param_attr=pm.ParamAttr("w", pm.initializer.Constant(1.0)), bias_attr=False))
    pm.amp.decorate(O.Adam(0.1), level="O2").minimize(loss)
    exe = start()
    for _ in range(3):
        exe.run(feed={"x": np.ones((2, 4), "float32")})
    np.testing.assert_allclose(pm.global_scope().get("w").astype("uint32")[:, 0] << 16, np.float32(0.7).view("uint32"), rtol=1e-4)
