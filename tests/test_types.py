"""Type checkers find mistakes in calls and know the types of results; editors complete names and show signatures."""

import inspect
import json
import pathlib
import re
import subprocess
import sys

import pytest

import paddle_mini as pm
from paddle_mini.optimizer.shared_arguments import Common

ROOT = pathlib.Path(__file__).resolve().parents[1]

# A comment gives a word of the message that mypy and pyright must have for its line, or "type".
SNIPPET = """
import numpy as np
import paddle_mini as pm
from typing import Any
from typing_extensions import assert_type

x = pm.layers.data("x", [-1, 8])
h = pm.layers.fc(x, 3)
pm.layers.relu(h, alfa=3)                             # wrong: alfa
pm.layers.elementwise_add(h)                          # wrong: y
pm.layers.leaky_relu(h, alpha="3")                    # wrong: type
pm.layers.relu([h])                                   # wrong: type
pm.layers.sequence_concat(h)                          # wrong: type
pm.layers.fc(h, "3")                                  # wrong: type
pm.layers.softmaxx(h)                                 # wrong: softmaxx
pm.optimizer.Adam(betta1=0.9)                         # wrong: betta1
pm.optimizer.Adam(0.1, regularization="l2")           # wrong: type
pm.optimizer.Momentum(0.1, grad_clip=5.0)             # wrong: type
assert_type(h * 2.0, pm.Variable)
assert_type(1.0 - h, pm.Variable)
assert_type(h @ x, pm.Variable)
assert_type(-h < h, pm.Variable)
assert_type(h[:, 0], pm.Variable)
assert_type(pm.layers.relu(h), pm.Variable)
h["a"]                                                # wrong: type
h + "a"                                               # wrong: type
exe = pm.Executor()
values = exe.run(feed={"x": np.ones((2, 8), "float32")}, fetch_list=h)
assert_type(values, list[np.ndarray[Any, Any]])
values[0].mean() + values[0].shape[0]
values[0].lod                                         # wrong: lod
exe.run(fetch_list=3)                                 # wrong: type
exe.run(scope=3)                                      # wrong: type
pm.optimizer.SGD(pm.lr.StepDecay(0.1, 3), parameter_list=[h, "w"], regularization=1e-4, name="sgd").minimize(h)
pm.optimizer.Adam(0.1, 0.9, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0))
"""


def expected():
    return {number: line.split("# wrong: ")[1] for number, line in enumerate(SNIPPET.split("\n"), 1) if "# wrong: " in line}


def check(found):
    """found: messages by line. Every wrong line has an error that names what is wrong, and no other line has one."""
    assert sorted(found) == sorted(expected()), found
    for number, word in expected().items():
        assert re.search(r"type|overload" if word == "type" else word, found[number]), (number, found[number])


def test_mypy_finds_mistakes(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed: make lint installs it")
    script = tmp_path / "script.py"
    script.write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", str(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    found = {}
    for path, number, message in re.findall(r"^(.*?):(\d+): error: (.*)$", done.stdout, re.M):
        if pathlib.Path(path).name == "script.py":
            found[int(number)] = found.get(int(number), "") + message
    assert not done.stderr, done.stderr
    check(found)


def test_pyright_finds_mistakes(tmp_path):
    pytest.importorskip("basedpyright", reason="basedpyright is not installed: make lint installs it")
    (tmp_path / "script.py").write_text(SNIPPET)
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT)], "reportUnusedExpression": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    found = {}
    for item in json.loads(done.stdout)["generalDiagnostics"]:
        if item["severity"] == "error":
            number = item["range"]["start"]["line"] + 1
            found[number] = found.get(number, "") + item["message"]
    check(found)


def test_editors_complete_layers_and_show_their_signatures(monkeypatch):
    """By jedi, in a process whose only finder of modules is Python's: jedi can't follow an editable installation."""
    jedi = pytest.importorskip("jedi", reason="jedi is not installed: make test installs it")
    from jedi.api.environment import InterpreterEnvironment

    monkeypatch.setattr(sys, "meta_path", [one for one in sys.meta_path if "editable" not in type(one).__module__])

    def script(code):
        code = f"import paddle_mini as pm\n{code}"
        return jedi.Script(code, path=ROOT / "script.py", project=jedi.Project(ROOT), environment=InterpreterEnvironment())

    assert [found.name for found in script("pm.layers.rel").complete()] == ["relu", "relu6"]
    (signature,) = script("pm.layers.elementwise_add(").get_signatures()
    assert (
        signature.to_string() == "elementwise_add(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable"
    )
    assert ">>> pm.layers.elementwise_add(x, y)" in signature.docstring()
    assert [found.name for found in script("pm.optimizer.Adam(regu").complete()] == ["regularization="]
    for value in ("pm.layers.relu(x)", "(pm.layers.fc(x, 3) * 2.0)", "pm.layers.fc(x, 3)[:, 0]"):
        assert "stop_gradient" in {found.name for found in script(f"{value}.stop_").complete()}, value


def test_the_arguments_that_all_optimizers_take_are_those_of_the_base_class():
    own = dict(inspect.signature(pm.optimizer.Optimizer.__init__).parameters)
    for name in ("self", "learning_rate"):
        own.pop(name)
    assert {name: parameter.annotation for name, parameter in own.items()} == {
        name: hint.__forward_arg__ for name, hint in Common.__annotations__.items()
    }
    for name in pm.optimizer.__all__:
        kind = getattr(pm.optimizer, name)
        if inspect.isclass(kind) and issubclass(kind, pm.optimizer.Optimizer):
            assert set(own) <= set(inspect.signature(kind).parameters), name
