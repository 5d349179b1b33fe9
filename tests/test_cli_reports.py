"""Subcommands that print JSON, convert parameters and measure runs; each imports only what it needs."""

import json
import subprocess
import sys

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.cli import SUBCOMMANDS, main


@pytest.fixture
def model(tmp_path):
    """The prefix of a saved model, y = x · w, and its feed."""
    x = pm.layers.data("x", [-1, 2])
    y = pm.layers.fc(x, 3, bias_attr=False)
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    pm.io.save_inference_model(tmp_path / "model", [x], [y])
    np.save(tmp_path / "x.npy", np.array([[1, np.inf]], "float32"))
    return tmp_path / "model", f"x={tmp_path / 'x.npy'}"


@pytest.fixture
def call(capsys):
    def call(*words, status=0):
        found = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert found == status, err
        return err if status else out

    return call


def test_run_prints_json(model, call):
    prefix, feed = model
    ((name, facts),) = json.loads(call("run", prefix, "--feed", feed, "--json", "--out", prefix.parent)).items()
    assert facts["shape"] == [1, 3] and facts["dtype"] == "float32" and facts["values"][0][0] in ("Infinity", "-Infinity")
    assert np.load(prefix.parent / f"{name}.npy").tolist() == [[float(value) for value in facts["values"][0]]]


def test_doctor_prints_json(call):
    facts = json.loads(call("doctor", "--json"))
    assert facts["paddle_mini"].startswith(pm.__version__) and "PM_DEBUG" in facts["environment"]


def test_verify_prints_json(model, call):
    path = model[0].with_suffix(".pdiparams")
    assert json.loads(call("verify", "--json", path))[0] | {"fact": ""} == {
        "path": str(path),
        "protected": True,
        "damage": "",
        "fact": "",
    }


def test_parameters_are_converted(model, call):
    prefix, _ = model
    state = pm.io.load_state(f"{prefix}.pdiparams")
    for source, target in ((".pdiparams", ".safetensors"), (".safetensors", ".pdparams")):
        assert call("convert", f"{prefix}{source}", f"{prefix}{target}") == f"1 arrays in {prefix}{target}\n"
        found = pm.io.load_state(f"{prefix}{target}")
        assert found.keys() == state.keys() and all((found[name] == state[name]).all() for name in state)
    assert "must end with .pdparams or .safetensors" in call("convert", f"{prefix}.pdparams", f"{prefix}.npz", status=1)


def test_onnx_models_are_converted(tmp_path, call):
    helper = pytest.importorskip("onnx").helper
    facts = [helper.make_tensor_value_info(name, 1, ["N", 2]) for name in "xy"]
    weight = helper.make_tensor("w", 1, [2], [2.0, 3.0])
    graph = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"])], "graph", facts[:1], facts[1:], [weight])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    source, target = tmp_path / "model.onnx", tmp_path / "new.pdmodel"
    source.write_bytes(made.SerializeToString())
    assert "feed x" in call("convert", source, target)
    program, _, fetches = pm.io.load_inference_model(tmp_path / "new")
    assert pm.Executor().run(program, {"x": np.ones((1, 2), "float32")}, fetches)[0].tolist() == [[2, 3]]
    assert "must end with .pdmodel" in call("convert", source, tmp_path / "new.safetensors", status=1)
    assert "feed x" in call("convert", target, tmp_path / "again.onnx")
    program, _, fetches = pm.onnx.load(tmp_path / "again.onnx")
    assert pm.Executor().run(program, {"x": np.ones((1, 2), "float32")}, fetches)[0].tolist() == [[2, 3]]
    assert "must end with .onnx" in call("convert", target, tmp_path / "new.safetensors", status=1)


def test_bench_measures_runs(model, call):
    prefix, feed = model
    facts = json.loads(call("bench", prefix, "--feed", feed, "--runs", 5, "--json"))
    assert facts["runs"] == 5 and 0 < facts["min ms"] <= facts["median ms"] <= facts["p99 ms"]
    out = call("bench", prefix, "--shape", "x=8,2", "--runs", 5, "--threads", 1, "--profile")
    assert out.startswith("5 runs: min ") and "mul" in out
    assert "'y' is not a variable" in call("bench", prefix, "--shape", "y=8,2", status=1)


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_each_command_has_help(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0 and capsys.readouterr().out.startswith(f"usage: paddle-mini {name}")


def test_help_imports_no_command():
    code = "import sys; from paddle_mini.cli import main\ntry: main(['--help'])\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = done.stderr.split()
    assert "paddle_mini.cli" in loaded and "paddle_mini.cluster" not in loaded
    assert not any(f"paddle_mini.cli.{name}" in loaded for name in SUBCOMMANDS)
    assert all(text.split(",")[0] in " ".join(done.stdout.split()) for text in SUBCOMMANDS.values())
