# Layers that create, copy and reshape tensors, and dropout.
import numpy as np
import pytest

import paddle_mini as pm
from programs import run, start

X = np.arange(24, dtype="float32").reshape(2, 3, 4)


@pytest.mark.parametrize(
    "layer, expected",
    [
        (lambda x: pm.layers.reshape(x, [0, -1]), X.reshape(2, 12)),
        (lambda x: pm.layers.transpose(x, [2, 0, 1]), X.transpose(2, 0, 1)),
        (lambda x: pm.layers.flatten(x), X.reshape(2, 12)),
        (lambda x: pm.layers.concat([x, x * 2.0], axis=1), np.concatenate([X, X * 2], 1)),
        (lambda x: pm.layers.cast(x, "int64"), X.astype("int64")),
        (lambda x: pm.layers.cast(x, np.float64), X.astype("float64")),
        (lambda x: pm.layers.sums([x, x, x]), X * 3),
        (lambda x: pm.layers.assign(x), X),
        (lambda x: pm.layers.assign(np.array([[1, 2], [3, 4]])), np.array([[1, 2], [3, 4]])),
        (lambda x: pm.layers.assign([1.5, 2.5]), np.array([1.5, 2.5], "float32")),
        (lambda x: pm.layers.assign(np.array([True, False])), np.array([True, False])),
        (lambda x: pm.layers.fill_constant([2, 2], "int64", 7), np.full((2, 2), 7)),
        (lambda x: pm.layers.fill_constant([1], "int64", 2**53 + 1), np.array([2**53 + 1])),
        (lambda x: pm.layers.fill_constant([1], "float64", 0.1), np.array([0.1])),
        (lambda x: pm.layers.ones([3]), np.ones(3, "float32")),
        (lambda x: pm.layers.reduce_sum(x), X.sum()),
        (lambda x: pm.layers.reduce_sum(x, dim=[0, -1], keep_dim=True), X.sum((0, 2), keepdims=True)),
        (lambda x: pm.layers.reduce_mean(x, dim=np.int64(1)), X.mean(1)),
        (lambda x: pm.layers.clip(x, min=2.0, max=9.5), X.clip(2, 9.5)),
    ],
)
def test_layers_compute_what_numpy_does(layer, expected):
    out = layer(pm.layers.data("x", [-1, 3, 4]))
    (value,) = run(out, x=X)
    assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
    assert out.dtype == value.dtype and all(a in (-1, b) for a, b in zip(out.shape, value.shape))
    np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_data_is_declared_once():
    x = pm.layers.data("x", [None, 3])
    assert x.shape == (-1, 3) and x.stop_gradient and x.need_check_feed
    assert pm.layers.data("x", [-1, 3]) is x
    with pytest.raises(pm.ProgramError, match=r"'x' is there already as \[-1, 3\] float32: give it another name, or call"):
        pm.layers.data("x", [-1, 4])
    with pytest.raises(pm.ProgramError, match=r"'x' is there already as \[-1, 3\] float32 with lod_level 0: give"):
        pm.layers.data("x", [-1, 3], lod_level=1)


def test_a_global_variable_counts_runs():
    counter = pm.layers.create_global_var([1], 5.0, dtype="int64", name="counter")
    pm.layers.increment(counter, 2.0)
    exe = start()
    assert [exe.run(fetch_list=[counter])[0].item() for _ in range(3)] == [7, 9, 11]
    assert pm.global_scope().get("counter").item() == 11


@pytest.mark.parametrize("way, train, test", [("upscale_in_train", 4 / 3, 1.0), ("downgrade_in_infer", 1.0, 0.75)])
def test_dropout_keeps_the_mean(way, train, test):
    x = pm.layers.data("x", [-1, 1000])
    out = pm.layers.dropout(x, 0.25, dropout_implementation=way, seed=3)
    program = pm.default_main_program().clone(for_test=True)
    exe, feed = start(), {"x": np.ones((20, 1000), "float32")}
    first, second = (exe.run(feed=feed, fetch_list=[out])[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)  # the seed is given
    np.testing.assert_allclose(np.unique(first), [0, train], rtol=1e-6)
    assert (first != 0).mean() == pytest.approx(0.75, abs=0.02)
    np.testing.assert_allclose(exe.run(program, feed=feed, fetch_list=[out])[0], test)


def test_dropout_repeats_its_mask_with_the_programs_random_seed():
    """As in PaddlePaddle, whose operators have fix_seed then."""
    pm.default_main_program().random_seed = 5
    x = pm.layers.data("x", [-1, 100])
    outs = [pm.layers.dropout(x), pm.layers.dropout(x)]
    feed = {"x": np.ones((2, 100), "float32")}
    masks = [pm.Executor().run(feed=feed, fetch_list=outs) for _ in range(2)]
    np.testing.assert_array_equal(masks[0], masks[1])
    assert (masks[0][0] != masks[0][1]).any()  # not one mask for all


@pytest.mark.parametrize(
    "mistake, words",
    [
        (lambda x: pm.layers.concat(x), "concat: X is of type Variable, it must be a list"),
        (lambda x: pm.layers.sums(3), "sum: X is 3, it must be a list"),
        (lambda x: pm.layers.reshape(x, -1), "'shape' is -1, it must be a list of integers"),
        (lambda x: pm.layers.reduce_sum(x, dim=1.5), "'dim' is 1.5, it must be a list of integers"),
        (lambda x: pm.layers.cast(3, "int64"), "cast: the input is 3"),
        (lambda x: pm.layers.data("y", 4), "data: shape of 'y' is 4"),
        (lambda x: pm.layers.data("y", [2.5]), r"\[2.5\] is not a shape"),
        (lambda x: pm.layers.data("y", [True, 4]), r"\[True, 4\] is not a shape"),
        (lambda x: pm.layers.create_parameter([4, False]), r"\[4, False\] is not a shape"),
        (lambda x: pm.layers.fill_constant(True, "float32", 1.0), "True is not a shape"),
        (lambda x: pm.layers.create_global_var((True,), 1.0), r"\(True,\) is not a shape"),
        (lambda x: pm.layers.data("", [2]), "data: name is ''"),
        (lambda x: pm.layers.data(3, [2]), "data: name is 3"),
        (lambda x: pm.layers.fill_constant([2], "int64", 1.5), "value is 1.5, which is not a valid int64"),
        (lambda x: pm.layers.fill_constant([2], "int32", 2**31), "value is 2147483648, which is not a valid int32"),
        (lambda x: pm.layers.increment(pm.layers.zeros([1], "int64"), 0.5), "increment: value is 0.5, .* must be whole"),
        (lambda x: pm.layers.increment(x, "1"), "'step' is '1', it must be a number"),
        (lambda x: pm.layers.full_like(x, None), "'value' is None, it must be a number"),
        (lambda x: pm.layers.scale(x, scale=10**400), "'scale' is 10+.*, it must be a number"),
        (lambda x: pm.layers.scale(x, scale=np.complex64(1)), "'scale' is .*complex64.*, it must be a number"),
        (lambda x: pm.layers.unstack(x, num=2**40), "unstack: 1099511627776 is too many variables at Y, at most"),
        (lambda x: pm.layers.unbind(x, axis="1"), "unbind: an axis is '1', it must be an integer"),
        (lambda x: pm.layers.fill_constant([2], "float32", "1"), "value is '1', it must be a number"),
    ],
)
def test_refusals(mistake, words):
    with pytest.raises(pm.ProgramError, match=words) as caught:
        mistake(pm.layers.data("x", [-1, 3, 4]))
    assert "test_tensor.py:" in str(caught.value)
