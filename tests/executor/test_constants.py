"""constants: operators with constant inputs are computed once for each set of values of the scope."""

import numpy as np
import pytest

import paddle_mini as pm

X = np.random.RandomState(0).randn(3, 4).astype("float32")
DERIVED = "when values of the scope have changed"


class Model:
    """x * change(weight)."""

    def __init__(self, change, shape=(4, 4), fetch_change=False):
        self.main, self.startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(self.main, self.startup), pm.unique_name.guard():
            x = pm.layers.data("x", [-1, 4])
            weight = pm.layers.create_parameter(list(shape), "float32", name="weight")
            changed = change(weight, x)
            out = pm.layers.matmul(x, changed)
        self.fetch = [out, changed] if fetch_change else [out]
        pm.Executor().run(self.startup, scope=self.scope)
        self.scope.set("weight", np.random.RandomState(1).randn(*shape).astype("float32"))

    def run(self, exe=None, rows=3):
        return (exe or pm.Executor()).run(self.main, {"x": X[:rows]}, self.fetch, self.scope)

    def table(self, stage="constants"):
        return pm.Executor().plan_text(self.main, {"x": X}, self.fetch, self.scope, stage=stage)

    def as_it_is(self, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setenv("PM_PASSES", "")
            assert DERIVED not in self.table()
            return self.run()


def power(weight, x):
    return pm.layers.matmul(pm.layers.transpose(weight, [1, 0]), pm.layers.exp(weight))


def of_the_shape(weight, x):
    rows = pm.layers.cast(pm.layers.shape(x), "float32")
    return pm.layers.elementwise_mul(weight, pm.layers.reduce_sum(rows))


CONSTANT = {
    "of a parameter": (power, 3),
    "without inputs": (lambda weight, x: pm.layers.fill_constant([4, 2], "float32", 0.5), 1),
    "of the shape of data": (of_the_shape, 4),
    "half of it": (lambda weight, x: pm.layers.elementwise_add(pm.layers.exp(weight), pm.layers.reduce_mean(x)), 1),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_results_have_the_same_bits(name, monkeypatch):
    change, count = CONSTANT[name]
    model = Model(change)
    assert model.table().count(DERIVED) == count and model.table("plan").count(DERIVED) == count
    assert model.run()[0].tobytes() == model.as_it_is(monkeypatch)[0].tobytes()


@pytest.mark.parametrize("name", ["of a parameter", "half of it"])
def test_a_changed_parameter_is_seen_by_the_next_run(name, monkeypatch):
    model, exe = Model(CONSTANT[name][0]), pm.Executor()
    before = model.run(exe)[0]
    for factor in (2, -1, 0.5):
        model.scope.set("weight", model.scope.get("weight") * np.float32(factor))
        after = model.run(exe)[0]
        assert after.tobytes() != before.tobytes()
        assert after.tobytes() == model.as_it_is(monkeypatch)[0].tobytes()
        before = after


def test_plans_of_several_shapes(monkeypatch):
    model, exe = Model(of_the_shape), pm.Executor()
    for rows in (3, 1, 2, 3):
        found = model.run(exe, rows)[0]
        expected = X[:rows].astype("float64") @ (model.scope.get("weight").astype("float64") * (rows + 4))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_a_fetched_constant_is_computed_in_each_run(monkeypatch):
    model = Model(lambda weight, x: pm.layers.exp(weight), fetch_change=True)
    assert DERIVED not in model.table()
    for found, expected in zip(model.run(), model.as_it_is(monkeypatch)):
        assert found.tobytes() == expected.tobytes()


def test_random_numbers_are_drawn_in_each_run():
    model = Model(lambda weight, x: pm.layers.elementwise_add(pm.layers.uniform_random([4, 4]), pm.layers.exp(weight)))
    assert model.table().count(DERIVED) == 1
    exe = pm.Executor()
    assert model.run(exe)[0].tobytes() != model.run(exe)[0].tobytes()


def test_large_results_are_limited():
    """64 MB of results that are larger than their inputs; a transpose is not."""
    model = Model(lambda weight, x: pm.layers.reduce_sum(pm.layers.expand(weight, [1 << 10, 1 << 10]), [1], keep_dim=True)[:4])
    assert "expand" in model.table()
    expand = next(line for line in model.table().splitlines() if " expand" in line)
    assert DERIVED not in expand


def test_a_refusal_names_the_operator_in_each_run():
    def change(weight, x):
        zero = pm.layers.fill_constant([4, 4], "int64", 0)
        return pm.layers.cast(pm.layers.elementwise_div(zero, zero), "float32")

    model, exe = Model(change), pm.Executor()
    for _ in range(2):
        with pytest.raises(pm.OpError, match=r"(?s)elementwise_div.*test_constants\.py"):
            model.run(exe)


def test_training_computes_everything_in_each_step():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup), pm.unique_name.guard():
        x = pm.layers.data("x", [3, 4])
        loss = pm.layers.mean(pm.layers.fc(x, 2)) * pm.layers.fill_constant([1], "float32", 2.0)
        pm.optimizer.SGD(0.1).minimize(loss)
    exe = pm.Executor()
    exe.run(startup, scope=scope)
    assert DERIVED not in exe.plan_text(main, {"x": X}, [loss], scope)


def test_a_constant_is_computed_before_the_weights_that_are_folded_with_it(monkeypatch):
    """The folded bias reads the result of reshape, which follows the convolution."""
    images = np.random.RandomState(0).randn(2, 4, 7, 6).astype("float32")
    for seed in range(20):
        main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
        startup.random_seed = seed + 1
        with pm.program_guard(main, startup), pm.unique_name.guard():
            x = pm.layers.conv2d(pm.layers.data("x", [2, 4, 7, 6]), 6, 3, param_attr="filter", bias_attr=False)
            bias = pm.layers.reshape(pm.layers.create_parameter([6], "float32", name="bias"), [1, 6, 1, 1])
            out = pm.layers.batch_norm(pm.layers.elementwise_add(x, bias), is_test=True)
        pm.Executor().run(startup, scope=scope)
        scope.set("bias", np.arange(6, dtype="float32") + seed)
        found, must = [], []
        for results, passes in ((found, "constants,fold"), (must, "")):
            monkeypatch.setenv("PM_PASSES", passes)
            results += pm.Executor().run(main, {"x": images}, [out], scope)
        np.testing.assert_allclose(found[0], must[0], rtol=1e-5, atol=1e-5)
