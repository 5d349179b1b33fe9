"""Models with averaged parameters: the saved values are those that apply() shows, with a note of the average."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import averaged_model, train
from paddle_mini.averaging import Exponential, Latest, Uniform, Window
from paddle_mini.optimizer import ParameterAverage
from small_model import assert_same_bits, data

PM_RUN = Path(sys.executable).parent / "pm_run"
SCHEMES = [Uniform(), Window(4), Exponential(0.8), Latest(3)]


@pytest.fixture(params=SCHEMES, ids=repr)
def model(request):
    model = averaged_model(request.param)
    train(model, 11)
    return model


def outputs(model, prefix):
    """The parameters of a loaded model and its outputs."""
    program, feeds, fetches = pm.io.load_inference_model(prefix, scope=(scope := pm.Scope()))
    assert feeds == ["x"]
    values = {name: scope.get(name) for name in scope.names()}
    return program, values, model.exe.run(program, {"x": data(model.dtype)[0]}, fetches, scope)[0]


def shown(model):
    """The network's outputs in the training scope."""
    program = model.main.clone(for_test=True).prune([model.x], [model.logits])
    return model.exe.run(program, {"x": data()[0]}, [model.logits], model.scope)[0]


def test_the_model_is_what_apply_shows(model, tmp_path):
    before = model.everything()
    model.average.save(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope, raw=True)
    assert_same_bits(model.everything(), before)
    with model.average.apply(model.exe, model.scope):
        averaged, values = shown(model), model.values()
    program, found, computed = outputs(model, tmp_path / "m")
    assert_same_bits(found, values)
    assert computed.tobytes() == averaged.tobytes() != shown(model).tobytes()
    raw_program, found, computed = outputs(model, tmp_path / "m.raw")
    assert_same_bits(found, model.values())
    assert computed.tobytes() == shown(model).tobytes()
    assert {**program.provenance, "parameters": "raw"} == raw_program.provenance
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.pdiparams", "m.pdmodel", "m.raw.pdiparams", "m.raw.pdmodel"]


def test_it_runs_without_python(model, tmp_path):
    model.average.save(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    np.save(tmp_path / "x.npy", data()[0])
    done = subprocess.run(
        [
            PM_RUN,
            tmp_path / "m.pdmodel",
            "--params",
            tmp_path / "m.pdiparams",
            "--out",
            tmp_path,
            "--feed",
            f"x={tmp_path / 'x.npy'}",
        ],
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert (done.returncode, done.stderr) == (0, "")
    with model.average.apply(model.exe, model.scope):
        assert np.load(tmp_path / f"{model.logits.name}.npy").tobytes() == shown(model).tobytes()


def test_the_model_says_which_average_it_is(tmp_path):
    model = averaged_model([Exponential(0.8), Window(4)], every=2, start_step=3, dtype="float64")
    train(model, 14)
    model.average.save(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope, scheme=Window(4))
    found = outputs(model, tmp_path / "m")[0].provenance
    statistics = model.average.statistics(model.scope, Window(4))
    assert found == {
        "parameters": "average",
        "scheme": "Window(4)",
        "every": 2,
        "start_step": 3,
        "steps": 14,
        "updates": 5,
        "skipped": 0,
        "effective_length": statistics.effective_length,
        "mean_age": statistics.mean_age,
        "dtype": ["float64"],
        "averaged": ["fc_0.b_0", "fc_0.w_0", "fc_1.b_0", "fc_1.w_0"],
        "training_program": "sha256:" + hashlib.sha256(model.main.to_bytes()).hexdigest(),
    }
    assert model.main.provenance == {} and model.main.clone(for_test=True).provenance == {}
    model.average.save(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    assert outputs(model, tmp_path / "m")[0].provenance["scheme"] == "Exponential(0.8)"


def test_the_rest_of_the_file_is_the_ordinary_models(model, tmp_path):
    model.average.save(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    with model.average.apply(model.exe, model.scope):
        pm.io.save_inference_model(tmp_path / "plain", [model.x], [model.logits], model.exe, scope=model.scope)
    program = pm.io.read_program(tmp_path / "m")
    assert program.provenance
    program.provenance = {}
    assert (tmp_path / "plain.pdmodel").read_bytes().endswith(program.to_bytes())
    assert (tmp_path / "m.pdiparams").read_bytes() == (tmp_path / "plain.pdiparams").read_bytes()


def test_names_a_program_and_a_prefix_with_its_suffix(model, tmp_path):
    model.average.save(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    expected = (tmp_path / "m.pdmodel").read_bytes()
    names = ["x"], [model.logits.name]
    model.average.save(str(tmp_path / "n.pdmodel"), *names, model.exe, model.main, model.scope, raw=True)
    assert (tmp_path / "n.pdmodel").read_bytes() == expected
    assert (tmp_path / "n.raw.pdmodel").exists()


def test_a_program_that_was_made_apart(tmp_path):
    """Any program that reads the parameters, such as one written for serving."""
    model = averaged_model(Uniform())
    train(model, 9)
    with pm.program_guard(pm.Program(), pm.Program()):
        x = pm.layers.data("x", [-1, 6])
        odds = pm.layers.softmax(pm.layers.fc(pm.layers.fc(x, 5, act="tanh"), 3))
    model.average.save(tmp_path / "m", [x], [odds], model.exe, scope=model.scope)
    program, found, computed = outputs(model, tmp_path / "m")
    assert program.provenance["averaged"] == sorted(found)
    np.testing.assert_allclose(computed.sum(1), 1, rtol=1e-5)


def test_before_the_first_step_it_is_the_raw_values(tmp_path):
    model = averaged_model(Uniform())
    with pytest.warns(UserWarning, match="no step has been averaged yet"):
        model.average.save(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    program, found, _ = outputs(model, tmp_path / "m")
    assert_same_bits(found, model.values())
    assert (program.provenance["updates"], program.provenance["effective_length"]) == (0, 0.0)


def test_what_is_refused(tmp_path):
    average = ParameterAverage(pm.optimizer.SGD(0.1), Uniform())
    with pytest.raises(pm.ProgramError, match="call minimize"):
        average.save(tmp_path / "m", ["x"], ["y"], pm.Executor(), pm.Program())
    model = averaged_model(Uniform())
    train(model, 3)
    before = model.everything()
    save, logits = model.average.save, model.logits
    for arguments, words in (
        (([model.x], ["fc_1.tmp_1"], model.exe, None, model.scope), "give the program"),
        (([model.x], logits, model.exe, None, model.scope), "fetch_vars must be a list"),
        ((model.x, [logits], model.exe, None, model.scope), "feed_vars must be a list"),
        (([model.x], [], model.exe, None, model.scope), "fetch_vars is empty"),
        (([], [logits], model.exe, None, model.scope), "neither fed nor computed"),
        (([model.x], [logits], model.exe, None, model.scope, Window(4)), "is not averaged"),
        (([model.x], [logits], None, None, model.scope), "takes an Executor"),
        (([model.x], ["nothing"], model.exe, model.main, model.scope), "has no variable 'nothing'"),
    ):
        with pytest.raises(pm.ProgramError, match=words):
            save(tmp_path / "m", *arguments)
    with model.average.apply(model.exe, model.scope), pytest.raises(pm.OpError, match="applied already"):
        save(tmp_path / "m", [model.x], [logits], model.exe, scope=model.scope)
    (tmp_path / "file").write_text("")
    with pytest.raises(pm.Error, match="can't make the folder '.*file'"):
        save(tmp_path / "file" / "m", [model.x], [logits], model.exe, scope=model.scope)
    assert_same_bits(model.everything(), before)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
