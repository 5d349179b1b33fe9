"""paddle-mini verify: reports files as protected, unprotected or damaged."""

import re

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core
from paddle_mini.cli import main
from small_model import SmallModel


@pytest.fixture
def files(tmp_path):
    """A file of each kind, by name; the names of those without a checksum show it."""
    model = SmallModel()
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], scope=model.scope)
    pm.io.save_inference_model(tmp_path / "old", [model.x], [model.logits], scope=model.scope, model_filename="__model__")
    one_file = {"model_filename": "__model__", "params_filename": "weights"}
    pm.io.save_inference_model(tmp_path / "one", [model.x], [model.logits], scope=model.scope, **one_file)
    pm.io.CheckpointManager(tmp_path / "run").save(3, model.main, model.exe, model.scope)
    for suffix in ("pdparams", "safetensors", "other"):
        pm.io.save_state(tmp_path / f"s.{suffix}", {"w": np.ones(3)})
    (tmp_path / "renamed").write_bytes((tmp_path / "m.pdmodel").read_bytes())
    (tmp_path / "plain.pdmodel").write_bytes(model.main.to_bytes())
    pm.io.save_parameters(tmp_path / "plain.pdiparams", model.main, model.scope)
    (tmp_path / "plain.w").write_bytes(_core.tensor_bytes(np.ones(3), []))
    return tmp_path


PROTECTED = ["m.pdmodel", "m.pdiparams", "old", "old/__model__", "one", "run/checkpoint-000001-step-3"]
PROTECTED += ["s.pdparams", "s.safetensors", "s.other", "renamed"]
PLAIN = ["plain.pdmodel", "plain.pdiparams", "plain.w"]


def test_whole_files(files, capsys):
    assert main(["verify", *(str(files / name) for name in PROTECTED)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(PROTECTED) and all(re.search(r": whole: (CRC-32C|SHA-256)", line) for line in lines)


@pytest.mark.parametrize("name", PLAIN)
def test_files_without_a_checksum_are_told(files, capsys, name):
    assert main(["verify", str(files / name), str(files / "m.pdmodel")]) == 3
    assert "plain" in (line := capsys.readouterr().out.splitlines()[0]) and "no checksum" in line


@pytest.mark.parametrize("name", PROTECTED)
def test_damaged_files(files, capsys, name):
    path = files / name
    inside = {"old": "fc_0.w_0", "one": "weights", "run/checkpoint-000001-step-3": "variables.pdiparams"}
    file = path / inside[name] if name in inside else path
    data = bytearray(file.read_bytes())
    data[-1] ^= 4
    file.write_bytes(data)
    assert main(["verify", str(path), str(files / "plain.w")]) == 1
    line = capsys.readouterr().out.splitlines()[0]
    assert "whole" not in line and "no checksum" not in line and str(path) in line


def test_jobs_files(tmp_path, capsys):
    from paddle_mini.cluster.coordinator.coordinator_file import CoordinatorFiles

    files = CoordinatorFiles(str(tmp_path), "a job", 0)
    files.snapshot({"n": []})
    files.append({"n": [[0, 1]]})
    path = tmp_path / "coordinator.json"
    assert main(["verify", str(path)]) == 0
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    assert main(["verify", str(path)]) == 1
    assert capsys.readouterr().out.count("whole") == 1
    files.snapshot({"n": []})
    files.append({"n": [[0, 1]]})
    files.append({"n": [[0, 2]]})
    log = tmp_path / "coordinator.2.log"
    log.write_bytes(log.read_bytes().replace(b"[[0,1]]", b"[[0,3]]"))
    assert main(["verify", str(path)]) == 1 and str(log) in capsys.readouterr().out


def test_what_is_not_there_or_nothing_of_ours(tmp_path, capsys):
    assert main(["verify", str(tmp_path / "nothing"), str(tmp_path), "/dev/zero"]) == 1
    out = capsys.readouterr().out
    assert "No such file" in out and "neither a checkpoint nor a model" in out and "not a regular file" in out
