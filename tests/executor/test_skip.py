"""skip: operators whose output has the bytes of their input are left out; all values stay the same to the bit."""

import numpy as np
import pytest

import paddle_mini as pm

X = np.random.RandomState(0).randn(3, 4).astype("float32")
X[0, :3] = -0.0, np.nan, np.inf
L = pm.layers


def dropout(x, **given):
    return L.dropout(x, 0.4, is_test=True, **{"dropout_implementation": "upscale_in_train", **given})


class Program:
    def __init__(self, build):
        self.main, self.startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(self.main, self.startup), pm.unique_name.guard():
            found = build(L.data("x", [-1, 4]))
        self.outs = list(found) if isinstance(found, tuple) else [found]
        pm.Executor().run(self.startup, scope=self.scope)

    def run(self):
        return pm.Executor().run(self.main, {"x": X}, self.outs, self.scope)

    def operators(self):
        lines = pm.Executor().plan_text(self.main, {"x": X}, self.outs, self.scope, stage="skip").splitlines()
        return [line.split()[1].split("(")[0] for line in lines if line.startswith("#")]


def inside(operator):
    return lambda x: L.relu(operator(L.scale(x, scale=2.0)))


def of_a_parameter(x):
    weight = L.create_parameter([4, 4], "float32", name="weight")
    return L.matmul(x, L.assign(weight))


def fetched_too(x):
    y = L.scale(x, scale=2.0)
    z = dropout(y)
    return y, z, L.relu(z)


SKIPPED = {
    "dropout": (inside(dropout), ["scale", "relu"]),
    "dropout of nothing": (inside(lambda x: L.dropout(x, 0.0, is_test=True)), ["scale", "relu"]),
    "assign": (inside(L.assign), ["scale", "relu"]),
    "cast": (inside(lambda x: L.cast(x, "float32")), ["scale", "relu"]),
    "several": (inside(lambda x: dropout(L.assign(L.cast(x, "float32")))), ["scale", "relu"]),
    "first": (lambda x: L.relu(dropout(x)), ["relu"]),
    "parameter": (of_a_parameter, ["matmul_v2"]),
    "fetched": (fetched_too, ["scale", "relu"]),
    "both operands": (lambda x: L.elementwise_add(x, dropout(x)), ["elementwise_add"]),
}


@pytest.mark.parametrize("name", SKIPPED)
def test_operators_without_effect_are_left_out(monkeypatch, name):
    build, operators = SKIPPED[name]
    program = Program(build)
    assert program.operators() == operators
    found = program.run()
    monkeypatch.setenv("PM_PASSES", "none")
    assert len(program.operators()) > len(operators)
    assert [value.tobytes() for value in found] == [value.tobytes() for value in program.run()]


def written_later(x):
    y = L.scale(x, scale=2.0)
    z = L.assign(y)
    L.assign(L.relu(y), output=y)
    return L.elementwise_add(z, y)


KEPT = {
    "scaled down": (inside(lambda x: dropout(x, dropout_implementation="downgrade_in_infer")), "dropout"),
    "training": (inside(lambda x: L.dropout(x, 0.4, seed=1)), "dropout"),
    "another type": (inside(lambda x: L.cast(x, "float64")), "cast"),
    "written later": (written_later, "assign"),
    "fetched feed": (dropout, "dropout"),
}


@pytest.mark.parametrize("name", KEPT)
def test_operators_with_an_effect_stay(monkeypatch, name):
    build, operator = KEPT[name]
    program = Program(build)
    assert operator in program.operators()
    found = program.run()
    monkeypatch.setenv("PM_PASSES", "none")
    assert [value.tobytes() for value in found] == [value.tobytes() for value in program.run()]


def test_a_copy_of_a_parameter_keeps_the_value_before_its_update():
    def build(x):
        weight = L.create_parameter([4, 1], "float32", name="weight")
        before = L.assign(weight)
        loss = L.mean(L.square(L.matmul(L.scale(x, scale=0.0), weight) - 1.0) + 0.5 * L.reduce_sum(weight))
        pm.optimizer.SGD(1.0).minimize(loss)
        return L.scale(before, scale=1.0), weight

    program = Program(build)
    x, was = np.nan_to_num(X, posinf=0), program.scope.get("weight")
    before, after = pm.Executor().run(program.main, {"x": x}, program.outs, program.scope)
    assert (before == was).all() and (after != was).all()


def test_an_error_names_the_variable_of_the_program():
    def build(x):
        return L.embedding(L.cast(L.cast(x, "int64"), "int64"), [3, 2])

    program = Program(build)
    with pytest.raises(pm.OpError, match="cast_1.tmp_0"):
        pm.Executor().run(program.main, {"x": np.full((1, 4), 7, "float32")}, program.outs, program.scope)
