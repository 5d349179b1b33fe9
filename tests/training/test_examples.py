"""The example of fit: its length, its accuracy, and what it saves."""

import importlib.util
import pathlib

import numpy as np

import paddle_mini as pm

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/fit_digits.py"


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_is_short():
    assert loaded(ROOT / "docs/make_comparison.py").lines_of_code(EXAMPLE.read_text()) <= 25


def test_the_example_trains_saves_and_continues(tmp_path):
    module = loaded(EXAMPLE)
    pm.seed(1)
    history = module.main(tmp_path, epochs=7, train=1500)
    assert history.last["averaged_val_accuracy"] > 0.9
    with pm.scope_guard(pm.Scope()) as scope, pm.program_guard(pm.Program(), pm.Program()):
        exe = pm.Executor()
        program, _, fetches = pm.io.load_inference_model(tmp_path / "digits", exe, scope=scope)
        images, labels = zip(*pm.data.mnist.synthetic(train=1500).test[:100])
        (predicted,) = exe.run(program, {"image": np.stack(images)}, fetches, scope=scope)
        assert (predicted.argmax(1) == np.array(labels)).mean() > 0.9
    with pm.scope_guard(pm.Scope()), pm.program_guard(pm.Program(), pm.Program()):
        assert module.main(tmp_path, epochs=7, train=1500).rows == history.rows
