"""Files of each format: written here and loaded by PaddlePaddle 2.6.2, and the other way round, bit for bit."""

import numpy as np
import pytest

import paddle_mini as pm
from small_model import SmallModel, assert_same_bits, batch


@pytest.fixture
def model():
    """Trained for a step, so that accumulators are not zeros."""
    model = SmallModel(pm.optimizer.Adam(0.05).minimize)
    model.step()
    return model


@pytest.fixture
def asked(paddle, tmp_path, model):
    """Sends the worker the model, whose program and values are in tmp_path; returns the arrays in its `result`."""
    (tmp_path / "main.pb").write_bytes(model.main.to_bytes())
    np.savez(tmp_path / "init.npz", **model.everything())
    np.savez(tmp_path / "feeds.npz", x=batch(0)["x"])

    def ask(job, result=None, **arguments):
        paddle.ask(job, tmp_path, **arguments)
        if result is None:
            return None
        with np.load(tmp_path / result) as values:
            return {name: values[name] for name in values.files}

    return ask


@pytest.mark.parametrize("filename", [None, "all"])
def test_variables(asked, tmp_path, model, filename):
    pm.io.save_persistables(None, tmp_path / "ours", model.main, filename, model.scope)
    found = asked("load_vars", "loaded.npz", source=tmp_path / "ours", filename=filename)
    assert_same_bits(dict(sorted(found.items())), model.everything())
    asked("save_vars", to=tmp_path / "theirs", filename=filename)
    assert {path.name: path.read_bytes() for path in (tmp_path / "theirs").iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "ours").iterdir()
    }
    scope = pm.Scope()
    pm.io.load_persistables(None, tmp_path / "theirs", model.main, filename, scope)
    assert_same_bits({name: scope.get(name) for name in sorted(scope.names())}, model.everything())


def test_static_save_and_load(asked, tmp_path, model):
    pm.io.save(model.main, tmp_path / "ours", model.scope)
    found = asked("static_load", "loaded.npz", source=tmp_path / "ours")
    assert_same_bits(dict(sorted(found.items())), model.everything())
    asked("static_save", to=tmp_path / "theirs")
    program, scope = pm.io.read_program(tmp_path / "theirs"), pm.Scope()
    assert pm.io.load(program, tmp_path / "theirs", scope) == ([], [])
    assert_same_bits({name: scope.get(name) for name in sorted(scope.names())}, model.everything())
    assert [op.type for op in program.global_block().ops] == [op.type for op in model.main.global_block().ops]


def test_a_state_on_its_own(asked, tmp_path, model):
    state = {**model.everything(), "0-d": np.array(2.0), "flags": np.array([True, False]), "half": np.ones((2, 3), "float16")}
    pm.io.save_state(tmp_path / "ours.pdparams", state)
    assert_same_bits(asked("read_state", "loaded.npz", source=tmp_path / "ours.pdparams"), state)


def test_states_of_layers_and_of_their_optimizer(asked, tmp_path):
    structured = asked("layers_state", "structured.npz", to=tmp_path / "theirs")
    assert_same_bits(pm.io.load_state(tmp_path / "theirs.pdparams"), structured)
    with np.load(tmp_path / "named.npz") as named:
        assert_same_bits(pm.io.load_state(tmp_path / "theirs.pdparams", variable_names=True), dict(named))
    optimizer = pm.io.load_state(tmp_path / "theirs.pdopt")
    assert optimizer.pop("LR_Scheduler")["last_epoch"] == 0
    with np.load(tmp_path / "optimizer.npz") as expected:
        assert_same_bits({name: optimizer[name] for name in expected.files}, dict(expected))
    both = pm.io.load_state(tmp_path / "theirs.both.pdparams")
    assert both["epoch"] == 3
    assert_same_bits({name: both["model"][name] for name in structured}, structured)


FOLDERS = [{"model_filename": "__model__"}, {"model_filename": "__model__", "params_filename": "__params__"}]


@pytest.mark.parametrize("names", [{}, *FOLDERS], ids=["prefix", "folder", "folder-combined"])
def test_inference_models_written_here(asked, tmp_path, model, names):
    pm.io.save_inference_model(tmp_path / "ours", [model.x], [model.logits], scope=model.scope, **names)
    program, _, fetches = pm.io.load_inference_model(tmp_path / "ours", scope=(scope := pm.Scope()), **names)
    (expected,) = model.exe.run(program, {"x": batch(0)["x"]}, fetches, scope)
    (served,) = asked("load_inference_model", "results.npz", source=tmp_path / "ours", names=names).values()
    np.testing.assert_allclose(served, expected, rtol=1e-5, atol=1e-6)
    folder = tmp_path / "ours"
    files = (
        (f"{folder}.pdmodel", f"{folder}.pdiparams")
        if not names
        else (folder / "__model__", folder / "__params__")
        if "params_filename" in names
        else (folder, "")
    )
    (predicted,) = asked("predict", "results.npz", model=str(files[0]), params=str(files[1])).values()
    np.testing.assert_allclose(predicted, expected, rtol=1e-5, atol=1e-6)


def test_an_inference_model_written_there(asked, tmp_path, model):
    asked("save_inference_model", to=tmp_path / "theirs", feed=["x"], fetch=[model.logits.name])
    (predicted,) = asked(
        "predict", "results.npz", model=f"{tmp_path}/theirs.pdmodel", params=f"{tmp_path}/theirs.pdiparams"
    ).values()
    scope = pm.Scope()
    program, feeds, fetches = pm.io.load_inference_model(tmp_path / "theirs", scope=scope)
    assert feeds == ["x"]
    np.testing.assert_allclose(model.exe.run(program, {"x": batch(0)["x"]}, fetches, scope)[0], predicted, rtol=1e-5, atol=1e-6)


def test_a_convolution_served_by_the_predictor(paddle, tmp_path):
    """With the predictor's fusion of convolution and batch normalization."""
    image = pm.layers.data("image", [-1, 3, 8, 8])
    hidden = pm.layers.batch_norm(pm.layers.conv2d(image, 4, 3, padding=1, bias_attr=False), act="relu")
    out = pm.layers.fc(pm.layers.pool2d(hidden, 2, "max", 2), 5, act="softmax")
    exe, value = pm.Executor(), np.random.RandomState(0).randn(2, 3, 8, 8).astype("float32")
    exe.run(pm.default_startup_program())
    pm.io.save_inference_model(tmp_path / "m", [image], [out])
    np.savez(tmp_path / "feeds.npz", image=value)
    paddle.ask("predict", tmp_path, model=f"{tmp_path}/m.pdmodel", params=f"{tmp_path}/m.pdiparams")
    program, _, fetches = pm.io.load_inference_model(tmp_path / "m")
    with np.load(tmp_path / "results.npz") as predicted:
        np.testing.assert_allclose(exe.run(program, {"image": value}, fetches)[0], predicted["arr_0"], rtol=1e-5, atol=1e-6)
