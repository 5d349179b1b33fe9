"""Threads that share a scope or an executor: each call is right, or raises ScopeInUse before any change."""

import os
import pathlib
import shutil
import subprocess
import threading

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import averaged_model
from paddle_mini.averaging import Uniform
from thorough import thorough
from threads import repeated, together


def saved_model(folder, normalized):
    """A saved model, with the list of fetches that saved programs declare to outlive runs; the name of its input."""
    x = pm.layers.data("x", [-1, 3, 8, 8])
    h = pm.layers.conv2d(x, 4, 3)
    if normalized:
        h = pm.layers.batch_norm(h)
    y = pm.layers.fc(h, 5)
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    pm.io.save_inference_model(folder / "m", [x], [y], exe)


@pytest.mark.parametrize("normalized", [False, True], ids=["plain", "batch_norm"])
def test_calls_of_a_loaded_model_go_on_at_the_same_time(tmp_path, normalized):
    """While one call is inside the scope another one finishes, which shows that calls do not exclude each other."""
    saved_model(tmp_path, normalized)
    scope, executors = pm.Scope(), [pm.Executor(), pm.Executor()]
    with pm.scope_guard(scope):
        program, feeds, fetches = pm.io.load_inference_model(tmp_path / "m", executors[0])
    arrays = [np.random.RandomState(i).randn(4 + i, 3, 8, 8).astype("float32") for i in range(2)]
    wanted = [executors[0].run(program, {feeds[0]: array}, fetches, scope)[0].tobytes() for array in arrays]

    def call(i):
        (value,) = executors[i].run(program, {feeds[0]: arrays[i]}, fetches, scope)
        assert value.tobytes() == wanted[i]

    with scope.reading():  # like another call in progress; a call that changes the scope would wait for its end
        together(lambda: call(1))
    together(*(repeated(lambda i=i: call(i), 100) for i in range(2)))


def test_one_executor_in_many_threads_and_scopes(tmp_path):
    saved_model(tmp_path, True)
    exe, scopes = pm.Executor(), [pm.Scope() for _ in range(4)]
    with pm.scope_guard(scopes[0]):
        program, feeds, fetches = pm.io.load_inference_model(tmp_path / "m", exe)
    state = pm.io.get_state(program, scopes[0])
    for scope in scopes[1:]:
        pm.io.set_state(program, state, scope)
    array = np.random.RandomState(0).randn(2, 3, 8, 8).astype("float32")
    wanted = exe.run(program, {feeds[0]: array}, fetches, scopes[0])[0].tobytes()

    def call(scope):
        (value,) = exe.run(program, {feeds[0]: array}, fetches, scope)
        assert value.tobytes() == wanted

    together(
        *(repeated(lambda scope=scope: call(scope), 60) for scope in scopes),
        repeated(exe.random_state, 100),
        repeated(lambda: exe.run(program, {feeds[0]: array}, fetches, scopes[0]), 30),
    )


def test_what_is_saved_is_of_one_step(tmp_path):
    """Every step makes all variables equal: a saved state or checkpoint has equal values too, at any time."""
    with pm.program_guard(pm.Program(), pm.Program()):
        names = [f"v{i}" for i in range(8)]
        block = pm.default_main_program().global_block()
        for name in names:
            variable = block.create_var(name, shape=[4000], dtype="float32", persistable=True)
            pm.layers.assign(pm.layers.scale(variable, bias=1.0), output=variable)
        program = block.program
    scope, exe = pm.Scope(), pm.Executor()
    for name in names:
        scope.set(name, np.zeros(4000, "float32"))
    manager, done = pm.io.CheckpointManager(tmp_path), threading.Event()

    def train_on():
        while not done.is_set():
            exe.run(program, scope=scope)

    def save():
        try:
            for step in range(1, 11):
                values = {float(value) for array in pm.io.get_state(program, scope).values() for value in array}
                assert len(values) == 1, values
                manager.save(step, program, exe, scope)
                other = pm.Scope()
                manager.restore(program, exe, other)
                assert len({float(other.get(name)[-1]) for name in names}) == 1
        finally:
            done.set()

    together(train_on, save)


def test_a_run_inside_a_hold_is_refused():
    model = averaged_model(Uniform())
    for hold in (model.scope.reading(), model.scope.editing([])):
        with hold, pytest.raises(pm.ScopeInUse, match="already in this thread"):
            model.step(0)
    with model.scope.editing([]):
        model.scope.set("a", np.zeros(1, "float32"))
        assert "a" in model.scope and model.scope.get("a").tolist() == [0]
    with model.scope.reading(), pytest.raises(pm.ScopeInUse):
        model.scope.set("a", np.ones(1, "float32"))
    model.step(0)


@thorough
def test_threads_without_python(tmp_path):
    """The C++ executor's lock serializes the calls; a GIL does not exist here."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("there is no compiler for C++")
    root, library = pathlib.Path(__file__).parents[2], pathlib.Path(pm._core.__file__).parent
    tool = tmp_path / "threads"
    source = root / "tests/executor/threads_without_python.cc"
    flags = ["-std=c++17", "-O1", f"-I{root / 'cpp'}", f"-L{library}", f"-Wl,-rpath,{library}", "-lpaddle_mini", "-pthread"]
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # preloads a sanitizer, as in make tsan
    subprocess.run([compiler, source, "-o", tool, *flags], check=True, timeout=300, env=plain)
    training, reading = pm.Program(), pm.Program()
    for i in range(8):
        value = training.global_block().create_var(f"v{i}", shape=[1000], dtype="float32", persistable=True)
        with pm.program_guard(training, pm.Program()):
            pm.layers.assign(pm.layers.scale(value, bias=1.0), output=value)
    for name, out in (("v0", "a"), ("v7", "b")):
        value = reading.global_block().create_var(name, shape=[1000], dtype="float32", persistable=True)
        result = reading.global_block().create_var(out, shape=[1000], dtype="float32")
        with pm.program_guard(reading, pm.Program()):
            pm.layers.assign(value, output=result)
    (tmp_path / "training").write_bytes(training.to_bytes())
    (tmp_path / "reading").write_bytes(reading.to_bytes())
    done = subprocess.run([tool, tmp_path / "training", tmp_path / "reading"], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("0 wrong, 600 runs\n", "")
