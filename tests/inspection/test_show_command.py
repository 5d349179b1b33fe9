"""paddle-mini show: --dot, --json and --netron."""

import json
import sys
import types

import pytest

import paddle_mini as pm
from paddle_mini.cli import main
from small_model import SmallModel


@pytest.fixture
def saved(tmp_path):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    pm.io.save_program(tmp_path / "model", model.main, model.scope)
    return tmp_path / "model.pdmodel", model.main


def test_dot_is_that_of_the_program(saved, capsys):
    path, program = saved
    assert main(["show", str(path), "--dot"]) == 0
    assert capsys.readouterr().out == program.to_dot()


def test_json_has_operators_variables_and_the_summary(saved, capsys):
    path, program = saved
    assert main(["show", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    (block,) = facts["blocks"]
    assert [op["type"] for op in block["operators"]] == [op.type for op in program.global_block().ops]
    assert {var["name"]: var["shape"] for var in block["variables"]}["fc_0.w_0"] == [6, 5]
    assert sum(row["parameters"] for row in facts["summary"]["rows"]) == 6 * 5 + 5 + 5 * 3 + 3


def test_json_of_attributes_that_json_does_not_have(tmp_path, capsys):
    x = pm.layers.data("x", shape=[-1, 2])
    pm.layers.scale(x, scale=float("inf"))
    (tmp_path / "a.pdmodel").write_bytes(pm.default_main_program().to_bytes())
    assert main(["show", str(tmp_path / "a"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert facts["blocks"][0]["operators"][0]["attrs"]["scale"] == "Infinity"


def test_netron_is_started(saved, monkeypatch):
    calls = []
    viewer = types.SimpleNamespace(start=lambda path: calls.append(path), wait=lambda: calls.append("wait"))
    monkeypatch.setitem(sys.modules, "netron", viewer)
    assert main(["show", str(saved[0]), "--netron"]) == 0
    assert calls == [str(saved[0]), "wait"]


def test_without_netron_it_says_what_to_install(saved, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "netron", None)
    assert main(["show", str(saved[0]), "--netron"]) == 1
    assert "pip install 'paddle_mini[netron]'" in capsys.readouterr().err
