# Normalization: batch_norm by the batch in training and by moving statistics in a test, layer_norm, l2_normalize.
import numpy as np
import pytest

import paddle_mini as pm
from programs import run, start

X = np.random.default_rng(0).normal(2, 3, size=(8, 3, 4, 4)).astype("float32")


def test_names_are_paddlepaddles():
    pm.layers.batch_norm(pm.layers.data("x", [-1, 3, 4, 4]))
    parameters = pm.default_main_program().all_parameters()
    assert [(p.name, p.trainable) for p in parameters] == [
        ("batch_norm_0.w_0", True),
        ("batch_norm_0.b_0", True),
        ("batch_norm_0.w_1", False),
        ("batch_norm_0.w_2", False),
    ]


@pytest.mark.parametrize("scaled, shifted", [(False, True), (True, False), (False, False)])
def test_without_a_scale_or_a_bias_that_is_trained(scaled, shifted):
    x = pm.layers.data("x", [-1, 3, 4, 4])
    attrs = {"param_attr": None if scaled else False, "bias_attr": None if shifted else False}
    loss = pm.layers.mean(pm.layers.square(pm.layers.fc(pm.layers.batch_norm(x, **attrs), 1) - 2.0))
    pm.optimizer.SGD(0.5).minimize(loss)
    exe, scope = start(), pm.global_scope()
    exe.run(feed={"x": X}, fetch_list=[loss])
    assert (scope.get("batch_norm_0.w_0") != 1).all() == scaled
    assert (scope.get("batch_norm_0.b_0") != 0).all() == shifted


def test_training_moves_the_statistics_and_a_test_uses_them():
    out = pm.layers.batch_norm(pm.layers.data("x", [-1, 3, 4, 4]), momentum=0.9, act="relu")
    test = pm.default_main_program().clone(for_test=True)
    exe, scope = start(), pm.global_scope()
    mean, variance = X.mean((0, 2, 3)), X.var((0, 2, 3))
    (value,) = exe.run(feed={"x": X}, fetch_list=[out])
    normal = (X - mean[:, None, None]) / np.sqrt(variance[:, None, None] + 1e-5)
    np.testing.assert_allclose(value, np.maximum(normal, 0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scope.get("batch_norm_0.w_1"), 0.1 * mean, rtol=1e-5)
    np.testing.assert_allclose(scope.get("batch_norm_0.w_2"), 0.9 + 0.1 * variance, rtol=1e-5)
    (value,) = exe.run(test, feed={"x": X}, fetch_list=[out])
    moving = [scope.get(f"batch_norm_0.{name}")[:, None, None] for name in ["w_1", "w_2"]]
    np.testing.assert_allclose(value, np.maximum((X - moving[0]) / np.sqrt(moving[1] + 1e-5), 0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scope.get("batch_norm_0.w_1"), 0.1 * mean, rtol=1e-5)


def test_features_of_a_matrix():
    x = pm.layers.data("x", [-1, 5])
    (value,) = run(pm.layers.batch_norm(x), x=X[:, 0, 0, :4].repeat(2, 1)[:, :5].copy())
    np.testing.assert_allclose(value.mean(0), 0, atol=1e-5)


def test_layer_norm():
    x = pm.layers.data("x", [-1, 3, 4])
    array = np.random.default_rng(1).normal(2.0, 3.0, size=(2, 3, 4)).astype("float32")
    outs = [
        pm.layers.layer_norm(x, act="relu"),
        pm.layers.layer_norm(x, begin_norm_axis=2, param_attr=pm.initializer.Constant(2.0), bias_attr=False),
    ]
    shapes = [(p.name, p.shape) for p in pm.default_main_program().all_parameters()]
    assert shapes == [("layer_norm_0.w_0", (12,)), ("layer_norm_0.b_0", (12,)), ("layer_norm_1.w_0", (4,))]
    values = run(*outs, x=array)
    for value, axes, finish in zip(values, [(1, 2), (2,)], [lambda y: np.maximum(y, 0), lambda y: 2 * y]):
        mean, variance = array.mean(axes, keepdims=True), array.var(axes, keepdims=True)
        np.testing.assert_allclose(value, finish((array - mean) / np.sqrt(variance + 1e-5)), rtol=1e-4, atol=1e-5)
    assert pm.layers.layer_norm(x, scale=False, shift=False).shape == (-1, 3, 4)
    assert len(pm.default_main_program().all_parameters()) == 3
    with pytest.raises(pm.ShapeError, match="layer_norm: dimension 1 of 'y'"):
        pm.layers.layer_norm(pm.layers.data("y", [2, -1]))


@pytest.mark.parametrize(
    "names",
    [
        {"moving_mean_name": "a", "moving_variance_name": "a"},
        {"param_attr": "a", "bias_attr": "a"},
        {"param_attr": "a", "moving_mean_name": "a"},
    ],
)
def test_batch_norm_refuses_one_variable_for_two_purposes(names):
    x = pm.layers.data("x", [-1, 3, 4, 4])
    with pytest.raises(pm.ProgramError, match="batch_norm: scale, bias, moving mean and moving variance are .*'a'.*'a'"):
        pm.layers.batch_norm(x, **names)
    assert not pm.default_main_program().all_parameters() and not pm.default_startup_program().global_block().ops


def test_l2_normalize():
    array = np.array([[3.0, 4.0], [0.0, 2.0]], "float32")
    (value,) = run(pm.layers.l2_normalize(pm.layers.data("x", [-1, 2]), axis=1), x=array)
    np.testing.assert_allclose(value, array / np.linalg.norm(array, axis=1, keepdims=True), rtol=1e-5)


def test_group_norm_and_instance_norm():
    x = pm.layers.data("x", [-1, 6, 4, 4])
    noise, image = pm.initializer.Normal(), np.concatenate([X, X * 2], axis=1)
    outs = [
        pm.layers.group_norm(x, 2, param_attr=noise, bias_attr=noise, act="relu"),
        pm.layers.instance_norm(x, param_attr=noise, bias_attr=noise),
        pm.layers.group_norm(pm.layers.transpose(x, [0, 2, 3, 1]), 3, data_layout="NHWC", param_attr=False, bias_attr=False),
    ]
    grouped, single, last = run(*outs, x=image)
    assert [p.name for p in pm.default_main_program().all_parameters()] == [
        f"{layer}_0.{name}_0" for layer in ("group_norm", "instance_norm") for name in "wb"
    ]

    def expected(groups, layer=None):
        parts = image.reshape(8, groups, -1)
        normal = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)
        scale, bias = 1, 0
        if layer:
            scale, bias = (pm.global_scope().get(f"{layer}_0.{name}_0")[:, None, None] for name in "wb")
        return normal.reshape(image.shape) * scale + bias

    np.testing.assert_allclose(grouped, np.maximum(expected(2, "group_norm"), 0), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(single, expected(6, "instance_norm"), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(last.transpose(0, 3, 1, 2), expected(3), rtol=1e-3, atol=1e-4)
    with pytest.raises(pm.Error, match="group_norm"):
        pm.layers.group_norm(x, 4)
    with pytest.raises(pm.ShapeError, match="instance_norm: dimension 1 of 'y'"):
        pm.layers.instance_norm(pm.layers.data("y", [-1, -1, 4]))


def test_lrn():
    (value,) = run(pm.layers.lrn(pm.layers.data("x", [-1, 3, 4, 4]), n=3, k=2.0, alpha=0.1, beta=0.5), x=X)
    squares = np.pad(X**2, [(0, 0), (1, 1), (0, 0), (0, 0)])
    total = squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]
    np.testing.assert_allclose(value, X / np.sqrt(2 + 0.1 * total), rtol=1e-5)
