"""The example of wide and deep learns the same alone and as a job; its saved model runs without the job."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import paddle_mini as pm

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "examples/cluster/clicks.py"
LAUNCH = ["-m", "paddle_mini", "launch", "--trainers", "2", "--servers", "2", "--mode", "sync"]


def made_chunk(seed):
    spec = importlib.util.spec_from_file_location("clicks", SCRIPT)
    clicks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(clicks)
    return clicks.chunk(seed)


@pytest.mark.parametrize("command", [[], LAUNCH], ids=["alone", "job"])
def test_it_learns(tmp_path, command):
    done = subprocess.run(
        [sys.executable, *command, SCRIPT, "--chunks", "12", "--out", tmp_path], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    loss, folder = re.search(r"log loss (\S+) on rows .* the model is in (.*)", done.stdout).groups()
    rows = made_chunk(50)
    share = rows["click"].mean()
    without = -share * np.log(share) - (1 - share) * np.log(1 - share)  # for the same probability for all rows
    assert float(loss) < without - 0.03
    program, _, outputs = pm.io.load_inference_model(pathlib.Path(folder) / "model")
    (probability,) = pm.Executor().run(program, {"ids": rows["ids"]}, outputs)
    assert probability[rows["click"] == 1].mean() > probability[rows["click"] == 0].mean() + 0.05
