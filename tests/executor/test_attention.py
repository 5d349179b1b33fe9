"""attention: products, softmax and masks become one operator in programs that write no variable of the scope."""

import numpy as np
import pytest

import paddle_mini as pm

N, HEADS, QUERIES, KEYS, WIDTH = 2, 3, 40, 50, 16
DRAW = np.random.RandomState(0)
FEED = {
    "q": DRAW.randn(N, HEADS, QUERIES, WIDTH).astype("float32"),
    "k": DRAW.randn(N, HEADS, KEYS, WIDTH).astype("float32"),
    "v": DRAW.randn(N, HEADS, KEYS, 24).astype("float32"),
    "mask": np.where(DRAW.rand(N, 1, 1, KEYS) < 0.3, -1e9, 0).astype("float32"),
    "bias": DRAW.randn(QUERIES, KEYS).astype("float32"),
}


class Model:
    def __init__(self, build, feed=FEED):
        self.main, self.scope, self.feed = pm.Program(), pm.Scope(), feed
        with pm.program_guard(self.main, pm.Program()), pm.unique_name.guard():
            data = {name: pm.layers.data(name, list(value.shape), str(value.dtype)) for name, value in feed.items()}
            self.out = build(**data)

    def run(self, fetch=None, feed=None):
        return pm.Executor().run(self.main, feed or self.feed, fetch or [self.out], self.scope)

    def operators(self, fetch=None):
        table = pm.Executor().plan_text(self.main, self.feed, fetch or [self.out], self.scope, stage="attention")
        return [line.split()[1].split("(")[0] for line in table.splitlines() if line.startswith("#")]

    def as_it_is(self, monkeypatch, **arguments):
        with monkeypatch.context() as patch:
            patch.setenv("PM_PASSES", "identities,constants,fold")
            assert "attention" not in self.operators()
            return self.run(**arguments)

    def results_of(self, op_type):
        return [op.output("Out")[0] for op in self.main.global_block().ops if op.type == op_type]


def weighted(scores, v, change=lambda x: x):
    return pm.layers.matmul(change(pm.layers.softmax(scores)), v)


def plain(q, k, v, mask, bias):
    return weighted(pm.layers.matmul(q, k, transpose_y=True, alpha=0.25), v)


def scaled_then_masked(q, k, v, mask, bias):
    scores = pm.layers.scale(pm.layers.matmul(q, k, transpose_y=True), scale=0.25)
    return weighted(pm.layers.elementwise_add(pm.layers.elementwise_add(scores, mask), bias), v)


def of_queries_with_a_factor(q, k, v, mask, bias):  # as PaddlePaddle's MultiHeadAttention
    scores = pm.layers.matmul(pm.layers.scale(q, scale=0.25), k, transpose_y=True)
    return weighted(pm.layers.elementwise_add(scores, mask), v)


def of_transposed_keys(q, k, v, mask, bias):
    return weighted(pm.layers.matmul(q, pm.layers.transpose(k, [0, 1, 3, 2])), v)


def with_dropout(implementation):
    def build(q, k, v, mask, bias):
        def dropped(x):
            return pm.layers.dropout(x, 0.5, is_test=True, dropout_implementation=implementation)

        return weighted(pm.layers.matmul(q, k, transpose_y=True), v, dropped)

    return build


def by_the_layer(q, k, v, mask, bias):
    return pm.layers.dot_product_attention(q, k, v, attn_mask=mask)


def causal(q, k, v, mask, bias):
    k, v = (pm.layers.slice(x, [2], [0], [QUERIES]) for x in (k, v))
    return pm.layers.dot_product_attention(q, k, v, causal=True)


FUSED = {
    "plain": (plain, ["attention"]),
    "scale, then two masks": (scaled_then_masked, ["attention"]),
    "queries with a factor": (of_queries_with_a_factor, ["scale", "attention"]),
    "transposed keys": (of_transposed_keys, ["transpose2", "attention"]),
    "dropout": (with_dropout("upscale_in_train"), ["attention"]),
    "dropout that scales": (with_dropout("downgrade_in_infer"), ["attention"]),
    "the layer function": (by_the_layer, ["attention"]),
    "causal": (causal, ["fill_any_like", "tril_triu", "slice", "slice", "attention"]),
}


@pytest.mark.parametrize("name", FUSED)
def test_attention_is_one_operator(name, monkeypatch):
    build, operators = FUSED[name]
    model = Model(build)
    assert model.operators() == operators
    [found], [expected] = model.run(), model.as_it_is(monkeypatch)
    [exact] = Model(build, {name: value.astype("float64") for name, value in FEED.items()}).as_it_is(monkeypatch)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-6 * np.abs(exact).max())


def test_float64(monkeypatch):
    model = Model(scaled_then_masked, {name: value.astype("float64") for name, value in FEED.items()})
    assert model.operators() == ["attention"]
    np.testing.assert_allclose(model.run()[0], model.as_it_is(monkeypatch)[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("op_type", ["matmul_v2", "scale", "elementwise_add", "softmax"])
def test_a_fetched_result_keeps_the_operators(op_type, monkeypatch):
    model = Model(scaled_then_masked)
    inner = model.results_of(op_type)[0]
    assert "attention" not in model.operators([model.out, inner])
    found, expected = model.run([model.out, inner]), model.as_it_is(monkeypatch, fetch=[model.out, inner])
    assert [x.tobytes() for x in found] == [x.tobytes() for x in expected]


def with_a_mask_of_more_axes(q, k, v, mask, bias):
    scores = pm.layers.matmul(
        pm.layers.slice(q, [0, 1], [0, 0], [1, 1]), pm.layers.slice(k, [0, 1], [0, 0], [1, 1]), transpose_y=True
    )
    return weighted(
        pm.layers.elementwise_add(scores, pm.layers.expand(mask, [1, 1, QUERIES, 1])), pm.layers.slice(v, [1], [0], [1])
    )


LEFT_ALONE = {
    "another axis": lambda q, k, v, mask, bias: pm.layers.matmul(
        pm.layers.softmax(pm.layers.matmul(q, k, transpose_y=True), axis=2), v
    ),
    "few queries": lambda q, k, v, mask, bias: plain(pm.layers.slice(q, [2], [0], [31]), k, v, mask, bias),
    "keys of all heads": lambda q, k, v, mask, bias: weighted(
        pm.layers.matmul(q, pm.layers.slice(k, [1], [0], [1]), transpose_y=True), v
    ),
    "scores that grow by a mask": with_a_mask_of_more_axes,
    "masks before the factor": lambda q, k, v, mask, bias: weighted(
        pm.layers.scale(pm.layers.elementwise_add(pm.layers.matmul(q, k, transpose_y=True), mask), scale=0.5), v
    ),
    "scores with a summand": lambda q, k, v, mask, bias: weighted(
        pm.layers.scale(pm.layers.matmul(q, k, transpose_y=True), scale=0.5, bias=1.0), v
    ),
    "scores with two readers": lambda q, k, v, mask, bias: pm.layers.elementwise_add(
        weighted(scores := pm.layers.matmul(q, k, transpose_y=True), v), pm.layers.reduce_mean(scores)
    ),
    "weights by column": lambda q, k, v, mask, bias: pm.layers.matmul(
        pm.layers.softmax(pm.layers.matmul(q, k, transpose_y=True)), pm.layers.slice(v, [2], [0], [QUERIES]), transpose_x=True
    ),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_other_operators_stay(name, monkeypatch):
    model = Model(LEFT_ALONE[name])
    assert "attention" not in model.operators() and "softmax" in model.operators()
    assert model.run()[0].tobytes() == model.as_it_is(monkeypatch)[0].tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", FEED)
def test_infinite_values_and_nan_pass_as_they_did(name, value, monkeypatch):
    feed = {key: x.copy() for key, x in FEED.items()}
    feed[name].flat[3] = value
    model = Model(scaled_then_masked)
    [found], [expected] = model.run(feed=feed), model.as_it_is(monkeypatch, feed=feed)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(FEED["v"]).max())


def test_a_row_in_which_all_keys_are_hidden(monkeypatch):
    feed = {**FEED, "mask": np.full((N, 1, 1, KEYS), -np.inf, "float32")}
    model = Model(scaled_then_masked)
    assert np.isnan(model.run(feed=feed)[0]).all() and np.isnan(model.as_it_is(monkeypatch, feed=feed)[0]).all()


def test_many_keys_need_no_matrix_of_scores():
    length = 2048
    shape = (1, 1, length, 8)
    feed = {name: np.ones(shape, "float32") for name in "qkv"}
    model = Model(lambda q, k, v: pm.layers.dot_product_attention(q, k, v), feed)
    plan = pm.Executor().plan_text(model.main, feed, [model.out], model.scope)
    [arena] = [int(line.split("arena of ")[1].split()[0]) for line in plan.splitlines() if "arena of " in line]
    assert arena < length * length * 4 / 4
    np.testing.assert_allclose(model.run()[0], 1, rtol=1e-5)


def test_training_keeps_its_operators():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup), pm.unique_name.guard():
        x = pm.layers.data("x", [1, 40, 8])
        loss = pm.layers.mean(pm.layers.multi_head_attention(x, num_heads=2))
        pm.optimizer.SGD(0.1).minimize(loss)
    exe = pm.Executor()
    exe.run(startup, scope=scope)
    table = exe.plan_text(main, {"x": np.ones((1, 40, 8), "float32")}, [loss], scope, stage="attention")
    assert "softmax(" in table and "attention(" not in table


def test_a_saved_language_model(tmp_path, monkeypatch):
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup), pm.unique_name.guard():
        ids = pm.layers.data("ids", [2, 40], "int64")
        x = pm.layers.embedding(ids, [50, 16])
        for _ in range(2):
            x = pm.layers.transformer_encoder_layer(
                x, 2, 32, 0.1, causal=True, attn_mask=pm.layers.padding_mask(ids), normalize_before=True
            )
    exe = pm.Executor()
    exe.run(startup, scope=scope)
    pm.io.save_inference_model(tmp_path / "model", [ids], [x], exe, main, scope)
    words = np.random.RandomState(1).randint(0, 50, (2, 40))
    [found] = pm.Predictor(tmp_path / "model")(words)
    monkeypatch.setenv("PM_PASSES", "")
    [expected] = pm.Predictor(tmp_path / "model")(words)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
