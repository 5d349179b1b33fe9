# Attention and the blocks of Transformers, against NumPy.
import math

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import layers as L
from programs import op_types, run

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(2, 5, 8)).astype("float32")
MEMORY = RANDOM.normal(size=(2, 3, 6)).astype("float32")
NOISE = pm.initializer.Normal(0.0, 0.5)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attention(q, k, v, mask=0.0):
    return softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1]) + mask) @ v


def heads(x, count):
    return x.reshape(*x.shape[:2], count, -1).transpose(0, 2, 1, 3)


def parameters():
    return {p.name: pm.global_scope().get(p.name) for p in pm.default_main_program().all_parameters()}


def sequences(name="x", features=8):
    return L.data(name, [-1, -1, features])


CAUSAL = np.triu(np.full((5, 5), -1e9), 1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(5, 8), (2, 5, 8), (2, 4, 5, 8)])
def test_dot_product_attention(shape, causal):
    q, k, v = RANDOM.normal(size=(3, *shape)).astype("float32")
    out = L.dot_product_attention(*(L.data(name, shape) for name in "qkv"), causal=causal)
    (value,) = run(out, q=q, k=k, v=v)
    assert out.shape == shape
    np.testing.assert_allclose(value, attention(q, k, v, CAUSAL if causal else 0.0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("count, causal", [(1, False), (4, False), (2, True)])
def test_attention_of_sequences_to_themselves(count, causal):
    out = L.multi_head_attention(sequences(), num_heads=count, causal=causal, bias_attr=NOISE)
    (value,) = run(out, x=X)
    weight, bias, w_out, b_out = parameters().values()
    assert list(parameters()) == [f"multi_head_attention_0.{name}_0" for name in ("qkv.w", "qkv.b", "out.w", "out.b")]
    q, k, v = (heads(part, count) for part in np.split(X @ weight + bias, 3, axis=-1))
    seen = attention(q, k, v, CAUSAL if causal else 0.0).transpose(0, 2, 1, 3).reshape(X.shape)
    np.testing.assert_allclose(value, seen @ w_out + b_out, rtol=1e-4, atol=1e-5)
    assert op_types().count("mul") == 2
    assert np.abs(weight).max() <= math.sqrt(6 / 16) and np.abs(weight).max() > 0.9 * math.sqrt(6 / 16)


def test_attention_to_memory_with_a_mask():
    ids = np.array([[4, 2, 0], [1, 0, 0]])
    out = L.multi_head_attention(
        sequences(),
        sequences("memory", 6),
        num_heads=2,
        d_model=4,
        bias_attr=False,
        attn_mask=L.padding_mask(L.data("ids", [-1, -1], "int64")),
    )
    (value,) = run(out, x=X, memory=MEMORY, ids=ids)
    w_q, w_kv, w_out = parameters().values()
    assert list(parameters())[1] == "multi_head_attention_0.kv.w_0" and w_kv.shape == (6, 8)
    k, v = (heads(part, 2) for part in np.split(MEMORY @ w_kv, 2, axis=-1))
    mask = np.where(ids == 0, -1e9, 0)[:, None, None]
    seen = attention(heads(X @ w_q, 2), k, v, mask).transpose(0, 2, 1, 3).reshape(2, 5, 4)
    np.testing.assert_allclose(value, seen @ w_out, rtol=1e-4, atol=1e-5)
    changed = MEMORY.copy()
    changed[0, 2], changed[1, 1:] = 100, -100
    exe = pm.Executor()
    np.testing.assert_array_equal(exe.run(feed={"x": X, "memory": changed, "ids": ids}, fetch_list=[out])[0], value)


def test_a_causal_block_does_not_see_what_comes():
    x = sequences()
    for normalize_before in (True, False):
        x = L.transformer_encoder_layer(x, 2, 16, dropout_rate=0.0, causal=True, normalize_before=normalize_before)
    (before,) = run(x, x=X)
    changed = X.copy()
    changed[:, 3:] += 1
    (after,) = pm.Executor().run(feed={"x": changed}, fetch_list=[x])
    np.testing.assert_allclose(before[:, :3], after[:, :3], rtol=1e-5, atol=1e-6)
    assert np.abs(before[:, 3:] - after[:, 3:]).max() > 0.1


def normalized(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize("normalize_before", [False, True])
def test_encoder_layer(normalize_before):
    out = L.transformer_encoder_layer(sequences(), 2, 16, dropout_rate=0.0, normalize_before=normalize_before)
    (value,) = run(out, x=X)
    qkv, w_out, w_1, w_2 = (array for name, array in parameters().items() if ".w_" in name and "norm" not in name)

    def attend(x):
        q, k, v = (heads(part, 2) for part in np.split(x @ qkv, 3, axis=-1))
        return attention(q, k, v).transpose(0, 2, 1, 3).reshape(x.shape) @ w_out

    expected = X
    for sublayer in (attend, lambda x: np.maximum(x @ w_1, 0) @ w_2):
        if normalize_before:
            expected = expected + sublayer(normalized(expected))
        else:
            expected = normalized(expected + sublayer(expected))
    np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5)


def test_decoder_layer_sees_memory_and_the_past():
    out = L.transformer_decoder_layer(sequences(), sequences("memory", 6), 2, 16, dropout_rate=0.0)
    (value,) = run(out, x=X, memory=MEMORY)
    assert out.shape == (-1, -1, 8) and value.shape == X.shape
    names = {name.split(".")[1] for name in parameters()}
    assert names == {"self_attention", "memory_attention", "feed_forward", "norm"}
    exe, changed = pm.Executor(), X.copy()
    changed[:, 4] += 1
    (later,) = exe.run(feed={"x": changed, "memory": MEMORY}, fetch_list=[out])
    np.testing.assert_allclose(later[:, :4], value[:, :4], rtol=1e-5, atol=1e-6)
    (other,) = exe.run(feed={"x": X, "memory": MEMORY[:, ::-1] * X[:, :3, :6]}, fetch_list=[out])
    assert np.abs(other - value).max(axis=(0, 2)).min() > 1e-3


@pytest.mark.parametrize("shape", [(1, 1, 8), (0, 5, 8), (2, 0, 8), (2, 9, 8)])
def test_any_batch_and_length(shape):
    x = L.add_learned_positions(sequences(), 9)
    assert run(L.transformer_encoder_layer(x, 2, 16, causal=True), x=np.ones(shape, "float32"))[0].shape == shape


def test_dropout_is_off_in_a_test():
    out = L.transformer_encoder_layer(sequences(), 2, 16, dropout_rate=0.5, act_dropout_rate=0.0)
    assert op_types().count("dropout") == 3
    test = pm.default_main_program().clone(for_test=True)
    (first,) = run(out, x=X)
    exe = pm.Executor()
    second, third = (exe.run(test, feed={"x": X}, fetch_list=[out])[0] for _ in range(2))
    np.testing.assert_array_equal(second, third)
    assert np.abs(first - second).max() > 0.1


def test_positions():
    learned = L.add_learned_positions(sequences(), 7)
    waves = L.add_sinusoid_positions(sequences("y", 5), 7)
    short = RANDOM.normal(size=(3, 4, 5)).astype("float32")
    first, second = run(learned, waves, x=X, y=short)
    table, _ = parameters().values()
    np.testing.assert_allclose(first, X + table[:5], rtol=1e-6)
    angles = np.arange(4)[:, None] / 10000 ** (np.array([0, 0, 2, 2, 4]) / 5)
    expected = np.where(np.arange(5) % 2 == 0, np.sin(angles), np.cos(angles))
    np.testing.assert_allclose(second, short + expected, rtol=1e-5, atol=1e-6)
    trained, untrained = pm.default_main_program().all_parameters()
    assert trained.trainable and not untrained.trainable
    with pytest.raises(pm.OpError, match="7"):
        pm.Executor().run(feed={"x": np.zeros((1, 8, 8), "float32"), "y": short}, fetch_list=[learned])


@pytest.mark.parametrize(
    "mistake, words",
    [
        (lambda x: L.multi_head_attention(x, num_heads=3), "num_heads 3 does not divide d_model 8"),
        (lambda x: L.multi_head_attention(x, num_heads=0), "num_heads is 0"),
        (lambda x: L.multi_head_attention(L.reduce_sum(x, 1)), r"must be \[batch, length, features\]"),
        (lambda x: L.multi_head_attention(x, param_attr="w"), "the name 'w' cannot be for several parameters"),
        (lambda x: L.multi_head_attention(x, 3), "the input is 3"),
        (lambda x: L.padding_mask(3), "padding_mask: the input is 3"),
        (lambda x: L.multi_head_attention(x, param_attr=3), "3 does not describe a parameter"),
        (lambda x: L.transformer_encoder_layer(x, 2, 0), "fc: size is 0"),
        (lambda x: L.feed_forward(3, 4), "feed_forward: the input is 3"),
        (lambda x: L.add_learned_positions(L.data("long", [-1, 9, 8]), 8), "longer than max_length 8"),
        (lambda x: L.add_learned_positions(x, 0), "max_length is 0"),
        (lambda x: L.add_sinusoid_positions(x, 2.5), "max_length is 2.5"),
        (lambda x: L.dot_product_attention(x, x, x, attn_mask=3), "Y is 3"),
    ],
)
def test_refusals(mistake, words):
    with pytest.raises(pm.Error, match=words) as caught:
        mistake(sequences())
    assert "test_attention.py:" in str(caught.value)
