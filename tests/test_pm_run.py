"""pm_run: the bits of Python's runs, for inference and training; SIGINT ends a run after a step."""

import subprocess

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Exponential, Uniform, Window
from pm_run_calls import PM_RUN, done, inference, saved_models, training
from small_model import CLASSES, INPUTS, ROWS, SmallModel, assert_same_bits, batch, data


@pytest.fixture
def folder(tmp_path):
    return saved_models(tmp_path)


def test_inference_gives_pythons_bits(folder):
    path, model = folder
    x = data()[0]
    program = model.main.clone(for_test=True).prune([model.x], [model.logits])
    (expected,) = model.exe.run(program, {"x": x}, [model.logits], model.scope)
    printed = done(*inference(path), "--out", path)
    assert np.load(path / f"{model.logits.name}.npy").tobytes() == expected.tobytes()
    assert printed.startswith(f"step 1  {model.logits.name} [{ROWS}, {CLASSES}] {expected[0, 0]:.7g} ")
    assert done(*inference(path), "--quiet") == ""
    hidden = done(*inference(path), "--fetch", "fc_0.tmp_2,x")
    assert f"fc_0.tmp_2 [{ROWS}, 5]" in hidden and f"x [{ROWS}, {INPUTS}]" in hidden


@pytest.mark.parametrize("scheme", [None, Window(3), Uniform(), Exponential(0.8)], ids=repr)
@pytest.mark.parametrize(
    "optimizer",
    [lambda: pm.optimizer.SGD(0.2), lambda: pm.optimizer.Momentum(0.1, 0.9), lambda: pm.optimizer.Adam(0.05)],
    ids=["sgd", "momentum", "adam"],
)
def test_training_gives_pythons_bits(tmp_path, optimizer, scheme):
    wrap = (lambda inner: inner) if scheme is None else (lambda inner: pm.optimizer.ParameterAverage(inner, scheme))
    model, steps = SmallModel(wrap(optimizer()).minimize), 7
    pm.io.save_program(tmp_path / "train", model.main, model.scope)
    for name, array in zip(("x", "label"), data()):
        np.save(tmp_path / f"{name}.npy", array)
    losses = [model.step(number) for number in range(steps)]
    printed = done(
        *training(tmp_path),
        "--steps",
        steps,
        "--batch",
        8,
        "--fetch",
        model.loss.name,
        "--out",
        tmp_path,
        "--save-params",
        tmp_path / "after.pdiparams",
    )
    assert printed.splitlines() == [f"step {i + 1}  {model.loss.name} {loss:.7g}" for i, loss in enumerate(losses)]
    assert np.load(tmp_path / f"{model.loss.name}.npy").tobytes() == losses[-1].tobytes()
    loaded = pm.Scope()
    pm.io.load_parameters(tmp_path / "after.pdiparams", model.main, loaded)
    assert_same_bits({name: loaded.get(name) for name in sorted(loaded.names())}, model.everything())


def test_initial_values_from_a_startup_program(folder):
    path, model = folder
    pm.seed(11)
    scope = pm.Scope()
    model.exe.run(model.startup, scope=scope)
    (loss,) = model.exe.run(model.main, batch(0, size=ROWS), [model.loss], scope)
    words = [
        path / "train.pdmodel",
        "--startup",
        path / "startup.pdmodel",
        *training(path)[3:],
        "--seed",
        11,
        "--fetch",
        model.loss.name,
    ]
    assert done(*words) == f"step 1  {model.loss.name} {loss:.7g}\n"


def test_only_what_another_program_declares_is_saved(folder):
    path, model = folder
    done(
        *training(path),
        "--steps",
        3,
        "--batch",
        8,
        "--save-params",
        path / "infer.pdiparams",
        "--save-for",
        path / "infer.pdmodel",
    )
    for number in range(3):
        model.step(number)
    loaded = pm.Scope()
    pm.io.load_inference_model(path / "infer", scope=loaded)
    assert_same_bits({name: loaded.get(name) for name in loaded.names()}, model.values())


def test_batches_begin_again_at_the_end(folder):
    """24 rows: two batches of 10 and a remainder that is dropped."""
    path, _ = folder
    lines = done(*inference(path), "--steps", 4, "--batch", 10).splitlines()
    values = [line.split(" ", 2)[2] for line in lines]
    assert values[0] == values[2] != values[1] == values[3] and "[10, 3]" in values[0]


DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@pytest.mark.parametrize("shape", [(), (0,), (4, 0, 3), (1,), (2, 3, 4)], ids=str)
def test_npy_files_go_in_and_out(tmp_path, shape):
    """All dtypes in one run: the fed values are fetched."""
    arrays = {dtype: np.asarray(np.random.RandomState(0).randint(0, 2, shape).astype(dtype)) for dtype in DTYPES}
    program, words = pm.Program(), []
    for dtype, array in arrays.items():
        program.global_block().create_var(dtype, shape=shape, dtype=dtype, need_check_feed=True)
        np.save(tmp_path / f"{dtype}.npy", array)
        words += ["--feed", f"{dtype}={tmp_path / dtype}.npy"]
    (tmp_path / "m.pdmodel").write_bytes(program.to_bytes())
    (tmp_path / "out").mkdir()
    done(tmp_path / "m.pdmodel", *words, "--fetch", ",".join(DTYPES), "--out", tmp_path / "out")
    assert_same_bits({dtype: np.load(tmp_path / "out" / f"{dtype}.npy") for dtype in DTYPES}, arrays)


def test_a_longer_npy_header_is_read(folder):
    path, _ = folder
    before = done(*inference(path))
    with open(path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, data()[0], version=(3, 0))
    assert done(*inference(path)) == before


def test_stopping_leaves_a_whole_step(folder):
    """SIGINT: status 130, and the file holds the state after some whole step."""
    path, model = folder
    words = [
        *training(path),
        "--batch",
        "8",
        "--steps",
        str(10**12),
        "--fetch",
        model.loss.name,
        "--save-params",
        path / "stopped.pdiparams",
    ]
    process = subprocess.Popen([PM_RUN, *map(str, words)], stdout=subprocess.PIPE, text=True)
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(2)
    with process.stdout:
        lines = 20 + len(process.stdout.readlines())
    assert process.wait(timeout=10) == 130
    loaded = pm.Scope()
    pm.io.load_parameters(path / "stopped.pdiparams", model.main, loaded)
    steps = next(loaded.get(name)[3] for name in loaded.names() if "counters" in name)
    assert steps in (lines, lines + 1)
    for number in range(steps):
        model.step(number)
    assert_same_bits({name: loaded.get(name) for name in sorted(loaded.names())}, model.everything())
