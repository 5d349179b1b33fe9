"""Parts of networks: their layers and arguments, and some results against NumPy."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import layers, nets
from programs import op_types, run

RANDOM = np.random.default_rng(0)
IMAGE = RANDOM.normal(size=(2, 3, 12, 12)).astype("float32")
X = RANDOM.normal(size=(2, 5, 8)).astype("float32")


def image():
    return layers.data("image", [-1, 3, 12, 12])


def test_simple_img_conv_pool():
    out = nets.simple_img_conv_pool(image(), 4, 5, 2, 2, pool_type="avg", conv_padding=2, act="relu")
    assert op_types() == ["conv2d", "elementwise_add", "relu", "pool2d"] and out.shape == (-1, 4, 6, 6)
    again = layers.conv2d(image(), 4, 5, padding=2, act="relu", param_attr="conv2d_0.w_0", bias_attr="conv2d_0.b_0")
    value, hidden = run(out, again, image=IMAGE)
    np.testing.assert_allclose(value, hidden.reshape(2, 4, 6, 2, 6, 2).mean((3, 5)), rtol=1e-5, atol=1e-6)


def test_img_conv_group():
    out = nets.img_conv_group(
        image(),
        [4, 6],
        2,
        conv_padding=[0, 1],
        conv_filter_size=[5, 3],
        conv_act="relu",
        conv_with_batchnorm=[True, False],
        conv_batchnorm_drop_rate=[0.5, 0.5],
        pool_stride=2,
    )
    assert op_types() == [
        "conv2d",
        "elementwise_add",
        "batch_norm",
        "relu",
        "dropout",
        "conv2d",
        "elementwise_add",
        "relu",
        "pool2d",
    ]
    assert out.shape == (-1, 6, 4, 4) and run(out, image=IMAGE)[0].shape == (2, 6, 4, 4)
    weights = [p.shape for p in pm.default_main_program().all_parameters() if len(p.shape) == 4]
    assert weights == [(4, 3, 5, 5), (6, 4, 3, 3)]


def test_glu():
    (value,) = run(nets.glu(layers.data("x", [-1, 5, 8])), x=X)
    np.testing.assert_allclose(value, X[..., :4] / (1 + np.exp(-X[..., 4:])), rtol=1e-5)
    assert nets.glu(layers.data("image", [-1, 4, 2, 2]), dim=1).shape == (-1, 2, 2, 2)


@pytest.mark.parametrize("heads", [1, 2])
def test_scaled_dot_product_attention(heads):
    x = layers.data("x", [-1, 5, 8])
    out = nets.scaled_dot_product_attention(x, x, layers.slice(x, [2], [0], [4]), num_heads=heads)
    assert out.shape == (-1, 5, 4)
    (value,) = run(out, x=X)
    q = k = X
    v = X[..., :4]
    if heads > 1:
        weights = [pm.global_scope().get(p.name) for p in pm.default_main_program().all_parameters() if ".w_" in p.name]
        q, k, v = (part @ weight for part, weight in zip((q, k, v), weights))
    parts = []
    for query, key, part in zip(*(np.split(each, heads, -1) for each in (q, k, v))):
        powers = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1]))
        parts.append(powers / powers.sum(-1, keepdims=True) @ part)
    np.testing.assert_allclose(value, np.concatenate(parts, -1), rtol=1e-4, atol=1e-5)


def test_sequence_conv_pool():
    words = RANDOM.normal(size=(7, 3)).astype("float32")
    out = nets.sequence_conv_pool(layers.data("words", [-1, 3], lod_level=1), 4, 3, act="tanh", pool_type="sum")
    assert op_types() == ["sequence_conv", "elementwise_add", "tanh", "sequence_pool"]
    (value,) = run(out, words=pm.LoDTensor(words, [[0, 3, 7]]))
    weight = pm.global_scope().get(pm.default_main_program().all_parameters()[0].name)
    for row, (start, end) in enumerate([(0, 3), (3, 7)]):
        padded = np.pad(words[start:end], [(1, 1), (0, 0)])
        windows = np.concatenate([padded[:-2], padded[1:-1], padded[2:]], axis=1)
        np.testing.assert_allclose(np.asarray(value)[row], np.tanh(windows @ weight).sum(0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "mistake, words",
    [
        (lambda: nets.img_conv_group(image(), 4, 2), "conv_num_filter is 4"),
        (lambda: nets.img_conv_group(image(), [], 2), "conv_num_filter is"),
        (lambda: nets.img_conv_group(image(), [4, 4], 2, conv_padding=[1]), "conv_padding has 1 values for 2"),
        (lambda: nets.glu(layers.data("x", [-1, 5]), dim=1), "split"),
        (lambda: nets.scaled_dot_product_attention(*[layers.data("x", [-1, 5, 8])] * 3, num_heads=3), "3 heads"),
        (lambda: nets.scaled_dot_product_attention(*[layers.data("x", [-1, 8])] * 3), "batch, length, features"),
    ],
)
def test_refusals(mistake, words):
    with pytest.raises(pm.Error, match=words) as caught:
        mistake()
    assert "test_nets.py:" in str(caught.value)
