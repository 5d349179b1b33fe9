# Calls of pm_run, and saved models with arrays to feed them.
import subprocess
import sys
from pathlib import Path

import numpy as np

import paddle_mini as pm
from paddle_mini.averaging import Window
from small_model import SmallModel, data

PM_RUN = Path(sys.executable).parent / "pm_run"


def pm_run(*words, **environment):
    return subprocess.run([PM_RUN, *map(str, words)], capture_output=True, text=True, timeout=20, env=environment or None)


def done(*words):
    result = pm_run(*words)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def refused(*words, status=1, lines=12, **environment):
    result = pm_run(*words, **environment)
    assert result.returncode == status, result
    assert result.stderr.startswith("pm_run: ") and len(result.stderr.splitlines()) <= lines and result.stdout == ""
    return result.stderr


def saved_models(path):
    """A training program and an inference model with arrays to feed them; `model` is their origin."""
    model = SmallModel(pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.05), Window(2)).minimize)
    pm.io.save_program(path / "train", model.main, model.scope)
    pm.io.save_inference_model(path / "infer", [model.x], [model.logits], model.exe, scope=model.scope)
    (path / "startup.pdmodel").write_bytes(model.startup.to_bytes())
    for name, array in zip(("x", "label"), data()):
        np.save(path / f"{name}.npy", array)
    return path, model


def training(path):
    return [
        path / "train.pdmodel",
        "--params",
        path / "train.pdiparams",
        "--feed",
        f"x={path / 'x.npy'}",
        "--feed",
        f"label={path / 'label.npy'}",
    ]


def inference(path):
    return [path / "infer.pdmodel", "--params", path / "infer.pdiparams", "--feed", f"x={path / 'x.npy'}"]
