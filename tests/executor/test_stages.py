"""Each stage between infer and plan returns a table that can be printed; printing one does not change it."""

import pathlib
import re

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Uniform

ROOT = pathlib.Path(__file__).resolve().parents[2]


def stages():
    """Their names in order, which the error for another name lists."""
    with pytest.raises(pm.ProgramError, match="'pack' is not a stage; there are infer, .* and plan") as error:
        pm.Executor().plan_text(pm.Program(), stage="pack")
    names = str(error.value).splitlines()[0].split("there are ")[1]
    return names.replace(" and ", ", ").split(", ")


STAGES = stages()


@pytest.fixture
def program():
    """One parameter with sgd and an average, and an output in float16, which has no kernel of its own."""
    with pm.program_guard(pm.Program(), pm.Program()):
        x = pm.layers.data("x", [-1, 4])
        loss = pm.layers.mean(pm.layers.fc(x, 3, bias_attr=False, param_attr="w"))
        half = pm.layers.exp(pm.layers.cast(loss, "float16"))
        pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), Uniform()).minimize(loss)
        yield pm.default_main_program(), pm.default_startup_program(), half


def tables(place, program, startup, fetch):
    exe, scope = pm.Executor(place), pm.Scope()
    exe.run(startup, scope=scope)
    before = {name: scope.get(name).tobytes() for name in scope.names()}
    found = {stage: exe.plan_text(program, {"x": np.ones((2, 4), "float32")}, [fetch], scope, stage=stage) for stage in STAGES}
    assert {name: scope.get(name).tobytes() for name in scope.names()} == before
    return found


def operators(table):
    return [line.split()[1].split("(")[0] for line in table.splitlines() if line.startswith("#")]


def test_each_stage_adds_what_it_decides(program):
    found = tables(pm.CPUPlace(), *program)
    assert "v0 x [2, 4] float32 fed" in found["infer"] and "w [4, 3] float32 scope" in found["infer"]
    assert operators(found["infer"]) == [op.type for op in program[0].global_block().ops]
    before, after = operators(found["infer"]), operators(found["widen"])
    at = before.index("exp")
    assert after[at : at + 3] == ["cast", "exp", "cast"] and len(after) == len(before) + 2
    assert found["place"] == found["widen"] == found["transfer"], "on the CPU nothing is to be said"
    fused = [line for line in found["fuse"].splitlines() if "tile by tile with the operator before it" in line]
    assert len(fused) == 1 and "parameter_average(" in fused[0]
    assert sorted(operators(found["fuse"])) == sorted(after)
    assert "in parts with it: parameter_average" in found["plan"]


def test_stages_say_where_operators_and_variables_are(program):
    found = tables(pm.EmulatedPlace(0), *program)
    operators_of = {stage: [line for line in found[stage].splitlines() if line.startswith("#")] for stage in STAGES}
    assert not any(" on emulated:0" in line for line in operators_of["widen"])
    assert all(" on emulated:0" in line for line in operators_of["place"])
    assert "memcpy_h2d" not in found["place"] and "memcpy_h2d" in found["transfer"]
    assert any(line.endswith("w [4, 3] float32 scope on emulated:0") for line in found["transfer"].splitlines())


def test_the_documents_name_every_stage():
    """design.md between verify and run, architecture.md in its table and in its diagram."""
    design, architecture = ((ROOT / "docs" / name).read_text() for name in ("design.md", "architecture.md"))
    named = {
        "the table of design.md": re.findall(r"^\| `(\w+)` \|", design, re.M)[1:-1],
        "the table of architecture.md": re.findall(r"^\| (\w+) \| `cpp/executor/", architecture, re.M)[1:-1],
        "the diagram of architecture.md": [*re.findall(r"^    (\w+) -->\|\"Segment", architecture, re.M), "plan"],
    }
    for place, names in named.items():
        assert names == STAGES, f"{place} has {names}, the stages are {STAGES}"


def test_the_log_has_the_tables_that_are_asked_for(program, monkeypatch, capfd):
    monkeypatch.setenv("PM_LOG", "fuse,infer")
    pm.Executor().run(program[1], scope=pm.Scope())
    told = capfd.readouterr().err
    assert "fuse:\nv0 " in told and "place:" not in told and "steps, " not in told


def test_an_unknown_stage_in_the_log_is_refused(monkeypatch):
    monkeypatch.setenv("PM_LOG", "infer,fues")
    with pytest.raises(
        pm.ProgramError, match="PM_LOG=infer,fues: 'fues' is not a stage; there are infer, masters, widen, .*, plan, run, runs"
    ):
        pm.Executor()
