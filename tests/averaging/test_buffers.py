"""Buffers of layers, such as batch normalization's statistics, while averages are in use."""

import numpy as np
import pytest

import paddle_mini as pm
from averages_by_definition import expected
from paddle_mini.averaging import Exponential, Latest, Uniform, Window
from paddle_mini.optimizer import ParameterAverage
from small_model import assert_same_bits, data

SCHEMES = [Uniform(), Window(3), Exponential(0.8), Latest(3)]
STATISTICS = ("batch_norm_0.w_1", "batch_norm_0.w_2")


class Normalized:
    """Two layers with batch normalization between; history: all persistable values after every step."""

    def __init__(self, scheme, optimizer=None, frozen=True, **arguments):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
        with pm.program_guard(self.main, self.startup):
            x, label = pm.layers.data("x", [-1, 6]), pm.layers.data("label", [-1, 1], dtype="int64")
            hidden = pm.layers.batch_norm(pm.layers.fc(x, 4, param_attr=pm.ParamAttr("first", trainable=not frozen)))
            self.logits = pm.layers.fc(hidden, 3)
            loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(self.logits, label))
            if scheme is None:
                (optimizer or pm.optimizer.SGD(0.1)).minimize(loss)
            else:
                self.average = ParameterAverage(optimizer or pm.optimizer.SGD(0.1), scheme, **arguments)
                self.average.minimize(loss)
        pm.seed(2)
        self.exe.run(self.startup, scope=self.scope)
        self.history = []

    def train(self, steps):
        x, label = data()
        for _ in range(steps):
            rows = np.random.RandomState(len(self.history)).permutation(len(x))[:8]
            self.exe.run(self.main, {"x": x[rows], "label": label[rows]}, scope=self.scope)
            self.history.append(self.values(STATISTICS))
        return self

    def values(self, names=None):
        return {name: self.scope.get(name) for name in (names or sorted(self.scope.names()))}

    def evaluated(self, program=None):
        x, label = data()
        testing = program or self.testing()
        return self.exe.run(testing, {"x": x, "label": label}, [self.logits.name], self.scope)[0]

    def testing(self):
        return self.main.clone(for_test=True).prune(["x", "label"], [self.logits.name])


def test_statistics_are_copied_where_nothing_else_is_said():
    """They and frozen parameters keep their values."""
    model = Normalized(SCHEMES).train(5)
    before = model.values([*STATISTICS, "first"])
    assert before["batch_norm_0.w_1"].any()
    for scheme in SCHEMES:
        with model.average.apply(model.exe, model.scope, scheme):
            assert_same_bits(model.values([*STATISTICS, "first"]), before)
    assert not any("batch_norm_0.w_1_" in name or name.startswith("first_") for name in model.scope.names())


@pytest.mark.parametrize("arguments", [{}, {"every": 2, "start_step": 1}], ids=str)
def test_statistics_are_averaged_where_it_is_said(arguments):
    """Applied with the parameters' weights; the raw ones are restored, and training continues with them."""
    model, plain = Normalized(SCHEMES, buffers="average", **arguments).train(9), Normalized(None).train(9)
    before = model.values()
    for scheme in SCHEMES:
        with model.average.apply(model.exe, model.scope, scheme):
            found = model.values(STATISTICS)
        for name in STATISTICS:
            wanted = expected(scheme, [step[name] for step in model.history], **arguments)
            np.testing.assert_allclose(found[name], wanted, rtol=1e-5, atol=1e-6, err_msg=f"{scheme} {name}")
            assert found[name].tobytes() != before[name].tobytes()
        assert_same_bits(model.values(), before)
    model.train(3), plain.train(3)
    assert_same_bits(model.values(plain.values()), plain.values())


@pytest.mark.parametrize("buffers", ["copy", "average"])
def test_programs_read_buffers_as_apply_gives_them(buffers, monkeypatch):
    # The folded batch_norm rounds otherwise: only operators as they are written have the same bits.
    monkeypatch.setenv("PM_PASSES", "fuse")
    model = Normalized(SCHEMES, buffers=buffers).train(6)
    for scheme in SCHEMES:
        with model.average.apply(model.exe, model.scope, scheme):
            wanted = model.evaluated()
        assert model.evaluated(model.average.program(model.testing(), scheme)).tobytes() == wanted.tobytes()
    before = model.values()
    model.exe.run(model.average.apply_program(keep_raw=True), scope=model.scope)
    assert (model.scope.get(STATISTICS[0]).tobytes() != before[STATISTICS[0]].tobytes()) == (buffers == "average")
    model.exe.run(model.average.restore_program(), scope=model.scope)
    assert_same_bits(model.values(before), before)


def test_what_training_sees_has_the_same_bits_with_every_choice():
    """A1, with batch normalization."""
    plain = Normalized(None, pm.optimizer.Adam(0.05)).train(6)
    for buffers in ("copy", "average"):
        model = Normalized(SCHEMES, pm.optimizer.Adam(0.05), buffers=buffers)
        for _ in range(6):
            model.train(1)
            if len(model.history) > 2:
                with model.average.apply(model.exe, model.scope):
                    model.evaluated()
        assert_same_bits(model.values(plain.values()), plain.values())


def test_averaged_buffers_go_on_from_a_file(tmp_path):
    whole, stopped = (Normalized([Window(2), Uniform()], buffers="average").train(5) for _ in range(2))
    pm.io.save_program(tmp_path / "half", stopped.main, stopped.scope)
    stopped.scope = pm.Scope()
    stopped.main = pm.io.load_program(tmp_path / "half", stopped.scope)
    for model in (whole, stopped):
        model.train(3)
    assert_same_bits(stopped.values(), whole.values())


def test_a_model_without_buffers_has_none_to_average():
    models = []
    for buffers in ("copy", "average"):
        main, startup = pm.Program(), pm.Program()
        with pm.program_guard(main, startup):
            x = pm.layers.data("x", [-1, 3])
            loss = pm.layers.mean(pm.layers.fc(x, 2))
            ParameterAverage(pm.optimizer.Adam(0.1), Uniform(), buffers=buffers).minimize(loss)
        models.append(sorted(name for name, var in main.global_block().vars.items() if var.persistable))
    assert models[0] == models[1]
