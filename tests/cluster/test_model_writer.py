"""model_writer: saves averages or the trained values, and training continues unchanged."""

import os

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.cluster.trainers.saving import model_writer, save_alone, values_of


def trained(average):
    x, label = pm.layers.data("x", [-1, 4]), pm.layers.data("label", [-1, 1], dtype="int64")
    logits = pm.layers.fc(pm.layers.batch_norm(pm.layers.fc(x, 8, act="relu")), 3)
    loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
    average.minimize(loss)
    exe, rng = pm.Executor(), np.random.default_rng(3)
    exe.run(pm.default_startup_program())
    for _ in range(5):
        exe.run(feed={"x": rng.normal(size=(16, 4)).astype("float32"), "label": rng.integers(0, 3, (16, 1))})
    return x, logits, exe


def test_averages_are_what_is_saved_and_training_goes_on_as_it_was(tmp_path):
    average = pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.1), pm.averaging.Uniform())
    x, logits, exe = trained(average)
    scope, names = pm.global_scope(), [var.name for var in pm.default_main_program().list_vars() if var.persistable]

    def held():
        return {name: np.array(scope.get(name)) for name in names}

    def averages():
        with average.apply(exe):
            return held()

    before = held()
    path = save_alone(tmp_path, model_writer(values_of(averages), [x], [logits]))
    after = held()
    for name in names:
        np.testing.assert_array_equal(before[name], after[name])
    feed = np.random.default_rng(4).normal(size=(5, 4)).astype("float32")
    with average.apply(exe):
        testing = pm.default_main_program().clone(for_test=True).prune([x], [logits])
        (wanted,) = exe.run(testing, {"x": feed}, [logits])
    with pm.scope_guard(pm.Scope()):
        program, feeds, fetches = pm.io.load_inference_model(os.path.join(path, "model"))
        (got,) = exe.run(program, {feeds[0]: feed}, fetches)
    np.testing.assert_array_equal(got, wanted)


def test_a_value_that_is_missing_is_named_and_nothing_is_left(tmp_path):
    x, logits, _ = trained(pm.optimizer.SGD(0.1))
    with pytest.raises(pm.OpError, match="'batch_norm_0.b_0' has no value"):
        save_alone(tmp_path, model_writer(values_of(lambda: {"fc_0.w_0": np.zeros([4, 8], "float32")}), [x], [logits]))
    assert os.listdir(tmp_path) == []
