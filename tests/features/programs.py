# Features of installing, building and inspecting programs.
from __future__ import annotations

import ast
import contextlib
import importlib.metadata
import io
import json
import shutil
import socket
import urllib.request
from pathlib import Path
from unittest import mock

import numpy as np

import families.unary
import harness
import paddle_mini as pm
from features.rows import Missing, feature, python
from own_operators.children import CUBE, printed
from small_model import SmallModel


@feature(1, "installs with NumPy and protobuf only")
def installing(folder):
    required = [one for one in importlib.metadata.requires("paddle_mini") if "extra ==" not in one]
    assert sorted(one.split(">")[0] for one in required) == ["numpy", "protobuf"]
    code = "import sys, paddle_mini; print(*{name.split('.')[0] for name in sys.modules})"
    assert not {"matplotlib", "rich", "tqdm", "tensorboardX", "torch", "scipy", "ray"} & set(python(code, folder).stdout.split())
    assert {"cuda13", "netron", "progress", "ray", "tensorboard"} <= set(
        importlib.metadata.metadata("paddle_mini").get_all("Provides-Extra")
    )


@feature(2, "types: py.typed, and a stub with the arguments of every layer function")
def types(folder):
    package = Path(pm.__file__).parent
    tree = ast.parse((package / "layers/ops.pyi").read_text())
    stub = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert (package / "py.typed").exists()
    from paddle_mini.layers import ops

    made = [name for name in ops.__all__ if callable(getattr(ops, name)) and getattr(pm.layers, name, None) is getattr(ops, name)]
    assert len(made) > 100 and all(stub[name].returns is not None for name in made if name in stub)
    assert "alpha" in [one.arg for one in stub["leaky_relu"].args.args + stub["leaky_relu"].args.kwonlyargs]


@feature(3, "print, summary and diff of programs")
def printing(folder):
    model = SmallModel(pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), window_size=9).minimize)
    assert all(op.type in str(model.main) for op in model.main.global_block().ops)
    summary = pm.summary(model.main, batch=4)
    assert summary.parameter_bytes and summary.average_bytes and summary.optimizer_bytes and summary.flops
    assert pm.diff(model.main, model.main) == "" and "- " in pm.diff(model.main, model.main.clone(for_test=True))
    assert pm.Program.from_bytes(model.main.to_bytes()).to_bytes() == model.main.to_bytes()


@feature(4, "pictures: Graphviz, Netron")
def pictures(folder):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    assert model.main.to_dot(folder / "program.dot").startswith("digraph")
    if shutil.which("dot"):
        assert "<svg" in python("import subprocess; print(subprocess.getoutput('dot -Tsvg program.dot'))", folder).stdout
    import netron

    pm.io.save_inference_model(folder / "model", [model.x], [model.logits], scope=model.scope)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = free.getsockname()
    with contextlib.redirect_stdout(io.StringIO()):
        netron.start(str(folder / "model.pdmodel"), address, browse=False)
    try:
        with urllib.request.urlopen(f"http://{address[0]}:{address[1]}/data/model.pdmodel") as reply:
            assert reply.read() == (folder / "model.pdmodel").read_bytes()
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            netron.stop(address)


@feature(8, "profile by operator and line, and a trace for Perfetto")
def profiling(folder):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    with pm.profile() as found:
        model.step(0)
    assert {"mul", "sgd"} <= {row.operator for row in found.rows} and "small_model.py" in found.table()
    found.save_trace(folder / "trace.json")
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    assert any(event["ph"] == "X" and event["dur"] >= 0 for event in events)


@feature(9, "errors of at most 12 lines that end at the user's line")
def errors(folder):
    script = (
        "import paddle_mini as pm\n"
        "x = pm.layers.data('x', [-1, 4])\n"
        "y = pm.layers.elementwise_add(x, pm.layers.data('y', [-1, 3]))\n"
    )
    (folder / "train.py").write_text(script)
    done = python("import runpy; runpy.run_path('train.py')", folder)
    lines = done.stderr.splitlines()
    message = lines[next(i for i, line in enumerate(lines) if "ShapeError" in line) :]
    assert len(message) <= 12 and "[-1, 4]" in message[0] and message[-1].strip().startswith("added at train.py:3")


@feature(10, "feeds: arrays of NumPy, and objects with __dlpack__")
def arrays(folder):
    class Tensor:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    y = pm.layers.scale(pm.layers.data("x", [-1, 2]), scale=2.0)
    ones = np.ones((1, 2), "float32")
    assert pm.Executor().run(feed={"x": ones}, fetch_list=[y])[0].tolist() == [[2, 2]]
    try:
        (value,) = pm.Executor().run(feed={"x": Tensor(ones)}, fetch_list=[y])
    except (pm.Error, TypeError) as error:
        raise Missing("objects that have only __dlpack__ are not fed") from error
    assert value.tolist() == [[2, 2]]


@feature(13, "ONNX: export and import")
def onnx(folder):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    pm.onnx.export(model.logits.block.program, folder / "model.onnx", [model.x], [model.logits], model.scope)
    scope, inputs = pm.Scope(), np.ones((2, 6), "float32")
    program, feeds, fetches = pm.onnx.load(folder / "model.onnx", scope)
    test = model.logits.block.program.clone(for_test=True).prune([model.x], [model.logits])
    (must,) = pm.Executor().run(test, {model.x.name: inputs}, [model.logits], scope=model.scope)
    assert (pm.Executor().run(program, {feeds[0]: inputs}, fetches, scope=scope)[0] == must).all()


@feature(22, "operators from a user's C++ file")
def own_operators(folder):
    (folder / "cube.cc").write_text(CUBE)
    code = "x = np.full(1, 2, 'float32')\ny = pm.load_op('cube.cc')(pm.layers.data('x', [1]))\n"
    code += "print(pm.Executor().run(feed={'x': x}, fetch_list=[y])[0])"
    assert printed(code, folder) == ["[8.]"]


@feature(23, "tests of an operator from its reference: values, gradients, shapes, dtypes, refusals")
def operator_tests(folder):
    with mock.patch.dict(harness.FACTS, clear=True):
        right = families.unary.unary_tests("softsign", lambda x: x / (1 + np.abs(x)), domain=(-1, 1))
        wrong = families.unary.unary_tests("softsign", lambda x: x / (2 + np.abs(x)), domain=(-1, 1))
    failed = []
    for test in (right, wrong):
        questions = [question for case in test.pytestmark[0].args[1] for question in case.values[0]]
        failed.append(sum(not holds(question) for question in questions))
        assert len(questions) >= 20
    assert failed[0] == 0 < failed[1]


def holds(question):
    try:
        question()
    except AssertionError:
        return False
    return True
