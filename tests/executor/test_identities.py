"""identities: operators that change nothing are left out of programs that write no variable of the scope."""

import numpy as np
import pytest

import paddle_mini as pm

X = np.random.RandomState(0).randn(3, 4, 5).astype("float32")


def operators(table):
    return [line.split()[1].split("(")[0] for line in table.splitlines() if line.startswith("#")]


def appended(x, op_type, attrs=None, dtype="float32", shape=(3, 4, 5), outputs=("Out",), inputs="X"):
    block = pm.default_main_program().global_block()
    made = [block.create_var(pm.unique_name.generate(op_type), shape=list(shape), dtype=dtype) for _ in outputs]
    block.append_op(op_type, {inputs: x}, dict(zip(outputs, made)), attrs or {})
    return made[0]


def cast(x, dtype):
    return pm.layers.cast(x, dtype)


def dropout(x, probability=0.25, how="upscale_in_train"):
    return pm.layers.dropout(x, probability, is_test=True, dropout_implementation=how)


def in_shape(x, shape):
    return pm.layers.reshape(x, shape)


# Between two exps: what changes nothing, and the operators that stay.
LEFT_OUT = {
    "assign": (pm.layers.assign, []),
    "scale by 1": (lambda x: pm.layers.scale(x, scale=1.0), []),
    "cast to the same type": (lambda x: cast(x, "float32"), []),
    "dropout": (dropout, []),
    "dropout of nothing": (lambda x: dropout(x, 0.0, "downgrade_in_infer"), []),
    "concat of one": (lambda x: pm.layers.concat([x], axis=1), []),
    "split into one": (lambda x: pm.layers.split(x, 1, dim=1)[0], []),
    "a wider type and back": (lambda x: cast(cast(x, "float64"), "float32"), []),
    "a shape and back": (lambda x: in_shape(in_shape(x, [4, 15]), [3, 4, 5]), []),
    "two shapes and back": (lambda x: in_shape(in_shape(in_shape(x, [4, 15]), [60]), [3, 4, 5]), []),
    "an axis more and back": (lambda x: pm.layers.squeeze(pm.layers.unsqueeze(x, [1]), [1]), []),
    "two transposes": (lambda x: pm.layers.transpose(pm.layers.transpose(x, [2, 0, 1]), [1, 2, 0]), []),
    "a transpose into the same order": (lambda x: pm.layers.transpose(x, [0, 1, 2]), []),
    "several": (lambda x: dropout(pm.layers.assign(cast(cast(dropout(x), "float64"), "float32"))), []),
}
CHANGED = {
    "scale": (lambda x: pm.layers.scale(x, scale=2.0), ["scale"]),
    "scale with bias": (lambda x: pm.layers.scale(x, bias=1.0), ["scale"]),
    "dropout that scales": (lambda x: dropout(x, how="downgrade_in_infer"), ["scale"]),
    "a narrower type and back": (lambda x: cast(cast(x, "float16"), "float32"), ["cast", "cast"]),
    "integers and back": (lambda x: cast(cast(x, "int64"), "float32"), ["cast", "cast"]),
    "another shape": (lambda x: in_shape(in_shape(x, [60]), [3, 20]), ["reshape2", "reshape2"]),
    "two equal transposes": (
        lambda x: pm.layers.transpose(pm.layers.transpose(x, [2, 0, 1]), [2, 0, 1]),
        ["transpose2", "transpose2"],
    ),
    "concat of two": (lambda x: pm.layers.concat([x, x], axis=1), ["concat"]),
}


class Model:
    def __init__(self, build, shape=(3, 4, 5), dtype="float32"):
        self.main, self.scope = pm.Program(), pm.Scope()
        with pm.program_guard(self.main, pm.Program()), pm.unique_name.guard():
            self.x = pm.layers.data("x", list(shape), dtype=dtype)
            self.out = build(self.x)
        self.feed = {"x": X.astype(dtype)}

    def run(self, fetch=None):
        return pm.Executor().run(self.main, self.feed, fetch or [self.out], self.scope)

    def operators(self, fetch=None):
        return operators(pm.Executor().plan_text(self.main, self.feed, fetch or [self.out], self.scope, stage="identities"))

    def as_it_is(self, monkeypatch, fetch=None):
        with monkeypatch.context() as patch:
            patch.setenv("PM_PASSES", "")
            return self.run(fetch)


def between(change):
    return lambda x: pm.layers.sqrt(change(pm.layers.exp(x)))


@pytest.mark.parametrize("name", {**LEFT_OUT, **CHANGED})
def test_operators_that_change_nothing_go(name, monkeypatch):
    change, left = {**LEFT_OUT, **CHANGED}[name]
    model = Model(between(change))
    assert model.operators() == ["exp", *left, "sqrt"]
    [found], [expected] = model.run(), model.as_it_is(monkeypatch)
    assert found.shape == expected.shape and found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_fetched_result_keeps_its_operators(name, monkeypatch):
    change, _ = LEFT_OUT[name]
    model = Model(lambda x: change(pm.layers.exp(x)))
    assert len(model.operators()) > 1
    assert model.run()[0].tobytes() == model.as_it_is(monkeypatch)[0].tobytes()


@pytest.mark.parametrize(
    "narrow, wide", [("float16", "float32"), ("bfloat16", "float64"), ("int16", "int32"), ("int32", "float64"), ("bool", "int64")]
)
def test_a_wider_type_and_back(narrow, wide):
    model = Model(lambda x: cast(cast(cast(cast(x, narrow), wide), narrow), "float64"), dtype="float32")
    assert model.operators() == ["cast", "cast"]


@pytest.mark.parametrize("wide, narrow", [("int64", "float64"), ("int32", "float32"), ("float32", "bfloat16"), ("uint8", "bool")])
def test_a_type_that_loses_something_and_back(wide, narrow):
    model = Model(lambda x: pm.layers.concat([cast(cast(x, narrow), wide)] * 2, axis=0), dtype=wide)
    assert model.operators().count("cast") == 2


def test_a_variable_that_is_written_later_keeps_its_copy(monkeypatch):
    def build(x):
        block = pm.default_main_program().global_block()
        first = pm.layers.exp(x)
        copy = pm.layers.assign(first)
        block.append_op("scale", {"X": first}, {"Out": first}, {"scale": 3.0})
        return pm.layers.elementwise_sub(copy, first)

    model = Model(build)
    assert "assign" in model.operators()
    [found], [expected] = model.run(), model.as_it_is(monkeypatch)
    assert found.tobytes() == expected.tobytes() and np.abs(found).min() > 0


def test_operators_without_readers_go():
    def build(x):
        pm.layers.relu(pm.layers.transpose(x, [2, 1, 0]))
        return pm.layers.exp(x)

    model = Model(build)
    assert model.operators() == ["exp"]
    unread = [op.output("Out")[0] for op in model.main.global_block().ops if op.type == "relu"]
    assert model.operators([model.out, *unread]) == ["transpose2", "relu", "exp"]


def test_operators_go_if_only_the_shapes_of_their_results_are_read():
    def build(x):
        part = pm.layers.exp(pm.layers.slice(x, [0], [0], [1]))
        return pm.layers.elementwise_add(x, pm.layers.full_like(part, 2.0))

    model = Model(build)
    assert model.operators() == ["fill_any_like", "elementwise_add"]
    np.testing.assert_array_equal(model.run()[0], X + 2)
    part = [op.output("Out")[0] for op in model.main.global_block().ops if op.type == "exp"]
    assert model.operators([model.out, *part]) == ["slice", "exp", "fill_any_like", "elementwise_add"]


def test_operators_that_check_data_or_have_effects_stay():
    def build(x):
        pm.layers.gather(x, pm.layers.fill_constant([1], "int64", 7))
        pm.layers.uniform_random([2])
        return pm.layers.exp(x)

    model = Model(build)
    found = model.operators()
    assert {"gather", "uniform_random"} <= set(found)
    with pytest.raises(pm.OpError, match="7"):
        model.run()


def test_a_program_without_fetches_runs_all_operators():
    model = Model(lambda x: pm.layers.relu(pm.layers.exp(x)))
    table = pm.Executor().plan_text(model.main, model.feed, [], model.scope, stage="identities")
    assert operators(table) == ["exp", "relu"]


def test_training_keeps_its_operators():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup), pm.unique_name.guard():
        x = pm.layers.assign(pm.layers.data("x", [3, 4]))
        loss = pm.layers.mean(pm.layers.fc(x, 2))
        pm.optimizer.SGD(0.1).minimize(loss)
    exe = pm.Executor()
    exe.run(startup, scope=scope)
    table = exe.plan_text(main, {"x": np.ones((3, 4), "float32")}, [loss], scope, stage="identities")
    assert operators(table) == [op.type for op in main.global_block().ops]


def test_inside_a_loop(monkeypatch):
    def build(x):
        i, most = pm.layers.fill_constant([1], "int64", 0), pm.layers.fill_constant([1], "int64", 3)
        total = pm.layers.assign(x)
        going_on = pm.layers.less_than(i, most)
        loop = pm.layers.While(going_on)
        with loop.block():
            doubled = dropout(pm.layers.assign(pm.layers.scale(total, scale=2.0)))
            pm.layers.assign(pm.layers.elementwise_add(doubled, x), total)
            pm.layers.increment(i)
            pm.layers.assign(pm.layers.less_than(i, most), going_on)
        return total

    model = Model(build)
    [found], [expected] = model.run(), model.as_it_is(monkeypatch)
    assert found.tobytes() == expected.tobytes()
    np.testing.assert_allclose(found, 15 * X, rtol=1e-6)
