"""Models of PyTorch: read here with the same results, and trained further with averages of their parameters; the recipe in
docs/onnx.md."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import paddle_mini as pm

MODELS = ["resnet18", "bert", "gpt", "lstm", "detector", "encoder"]
EXPORTERS = ["torchscript", "dynamo"]


@pytest.fixture(scope="module")
def written(torch_python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("torch")
    script = pathlib.Path(__file__).parent / "torch_models.py"
    done = subprocess.run([str(torch_python), "-W", "ignore", str(script), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def loaded(folder, name, exporter):
    """The program, its fetches, its scope, and the inputs and the output that PyTorch has computed."""
    scope = pm.Scope()
    program, feeds, fetches = pm.onnx.load(folder / f"{name}_{exporter}.onnx", scope)
    with np.load(folder / f"{name}_{exporter}.npz") as values:
        return program, fetches, scope, {feed: values[feed] for feed in feeds}, values["y"]


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", MODELS)
def test_results_are_those_of_pytorch(written, name, exporter):
    program, fetches, scope, inputs, must = loaded(written, name, exporter)
    (found,) = pm.Executor().run(program, inputs, fetches, scope=scope)
    np.testing.assert_allclose(found, must, rtol=0, atol=1e-5 * max(1, np.abs(must).max()))


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_trained_further(written, name, exporter):
    program, (y,), scope, inputs, must = loaded(written, name, exporter)
    startup = pm.Program()
    with pm.program_guard(program, startup):
        classes = y.shape[-1]
        label = pm.layers.data("label", [-1, 1], dtype="int64")
        logits = pm.layers.reshape(y, [-1, classes])
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
        average = pm.optimizer.ParameterAverage(pm.optimizer.Adam(1e-3), window_size=10)
        average.minimize(loss)
    executor = pm.Executor()
    executor.run(startup, scope=scope)
    statistics = {
        op.input(port)[0] for op in program.global_block().ops if op.type == "batch_norm" for port in ("Mean", "Variance")
    }
    trained = [var.name for var in program.all_parameters() if var.trainable]
    assert trained and not statistics & set(trained)
    before = {name: scope.get(name).copy() for name in [*trained, *statistics]}
    feed = {**inputs, "label": np.arange(must.size // classes).reshape(-1, 1) % classes}
    losses = [float(executor.run(program, feed, [loss], scope=scope)[0]) for _ in range(10)]
    assert losses[-1] < losses[0]
    changed = {name for name, value in before.items() if (scope.get(name) != value).any()}
    assert not changed & statistics and len(changed) > 0.9 * len(trained)
    last = {name: scope.get(name).copy() for name in changed}
    with average.apply(executor, scope=scope):
        assert any((scope.get(name) != value).any() for name, value in last.items())
    assert all((scope.get(name) == value).all() for name, value in last.items())


def test_the_recipe_of_the_docs_runs(torch_python, tmp_path):
    """Its two programs, as a reader copies them: one in PyTorch's environment, one here; the loss falls, and the saved average
    gives the same results as the exported one."""
    page = (pathlib.Path(__file__).parents[2] / "docs/onnx.md").read_text()
    section = page.split("## Models of PyTorch")[1].split("\n## ")[0]
    programs = re.findall(r"^```python\n(.*?)^```$", section, re.S | re.M)
    assert len(programs) == 2
    for python, program in zip((torch_python, sys.executable), programs):
        done = subprocess.run([str(python), "-W", "ignore", "-c", program], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    losses = [float(line.split()[1]) for line in done.stdout.splitlines()]
    assert len(losses) == 4 and losses[-1] < 0.2 * losses[0]
    rows, scope = np.ones((3, 6), "float32"), pm.Scope()
    program, (x,), fetches = pm.onnx.load(tmp_path / "trained.onnx", scope)
    (found,) = pm.Executor().run(program, {x: rows}, fetches, scope=scope)
    np.testing.assert_allclose(found, pm.Predictor(tmp_path / "trained")(rows)[0], rtol=0, atol=1e-5)
