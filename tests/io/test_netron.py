"""Netron, a viewer of models, opens our files: every operator, shape and stored parameter is present."""

import importlib.util
import json
import pathlib
import shutil
import subprocess

import pytest

import paddle_mini as pm
from small_model import SmallModel

# Netron's classes are JavaScript.
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
SCRIPT = pathlib.Path(__file__).parent / "netron_reads.mjs"


@pytest.fixture(scope="module")
def netron(tmp_path_factory):
    """Reads a file as Netron does; an error is a CalledProcessError with Netron's message."""
    folder = tmp_path_factory.mktemp("netron") / "netron"
    shutil.copytree(importlib.util.find_spec("netron").submodule_search_locations[0], folder)
    (folder / "package.json").write_text('{"type": "module"}')

    def read(path):
        done = subprocess.run(
            ["node", str(SCRIPT), str(folder), str(path)], check=True, capture_output=True, text=True, timeout=60
        )
        return json.loads(done.stdout)

    return read


def named(slots):
    return {slot["name"]: [value["name"] for value in slot["values"]] for slot in slots}


def check(graph, program):
    ops = [op for op in program.global_block().ops if op.type not in ("feed", "fetch")]
    assert [node["type"] for node in graph["nodes"]] == [op.type for op in ops]
    for node, op in zip(graph["nodes"], ops):
        assert named(node["inputs"]) == {port: names for port, names in op.inputs.items() if names}
        assert named(node["outputs"]) == {port: names for port, names in op.outputs.items() if names}
        for value in (value for slot in node["inputs"] + node["outputs"] for value in slot["values"]):
            var = program.global_block().var(value["name"])
            shape = ",".join("?" if dim < 0 else str(dim) for dim in var.shape)
            assert value["type"] == (f"{var.dtype}[{shape}]" if var.shape else var.dtype), value["name"]


@pytest.mark.parametrize("names", [{}, {"model_filename": "__model__"}], ids=["prefix", "folder"])
def test_inference_models(netron, tmp_path, names):
    model = SmallModel()
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], scope=model.scope, **names)
    graph = netron(tmp_path / "m/__model__" if names else tmp_path / "m.pdmodel")
    assert graph["format"] == "PaddlePaddle v2.6.2"
    assert [value["name"] for slot in graph["inputs"] for value in slot["values"]] == ["x"]
    assert [value["name"] for slot in graph["outputs"] for value in slot["values"]] == [model.logits.name]
    check(graph, pm.io.load_inference_model(tmp_path / "m", scope=pm.Scope())[0])
    stored = {value["name"] for node in graph["nodes"] for slot in node["inputs"] for value in slot["values"] if value["stored"]}
    assert stored == set(model.parameters)


def test_a_training_program_with_operators_that_paddlepaddle_lacks(netron, tmp_path):
    model = SmallModel(pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.05), window_size=2).minimize)
    pm.io.save(model.main, tmp_path / "m", model.scope)
    graph = netron(tmp_path / "m.pdmodel")
    assert "parameter_average" in [node["type"] for node in graph["nodes"]]
    check(graph, model.main)


def test_a_file_that_is_cut_off_is_refused(netron, tmp_path):
    data = SmallModel().main.to_bytes()
    (tmp_path / "m.pdmodel").write_bytes(data[:-3])
    with pytest.raises(subprocess.CalledProcessError) as caught:
        netron(tmp_path / "m.pdmodel")
    assert "not paddle.ProgramDesc" in caught.value.stderr
