"""The examples of embedding in C, C++, Go, Rust and ctypes give Python's results, built with pkg-config and with CMake."""

import re
import runpy
import shutil
import subprocess
import sys

import numpy as np
import pytest

import paddle_mini as pm
from c_builds import PACKAGE, ROOT, compile_c, environment, install, pkg_config
from optimizer_builds import run, tool
from thorough import thorough

EMBEDDING = ROOT / "examples/embedding"
STEPS = 120


@pytest.fixture(scope="module", params=[pytest.param("prefix", marks=thorough), "package"])
def prefix(request, tmp_path_factory):
    if request.param == "prefix":
        return install(tmp_path_factory.mktemp("prefix"))
    if not (PACKAGE / "include/paddle_mini.h").exists():
        pytest.skip(f"there is no {PACKAGE}: the package runs from its build directory")
    return PACKAGE


@pytest.fixture
def model(tmp_path):
    runpy.run_path(str(EMBEDDING / "make_model.py"))["main"](tmp_path / "model")
    return tmp_path / "model"


def assert_predicted(printed, model):
    """The lines are the outputs for batches of 1 to 4 rows."""
    predictor = pm.Predictor(model / "model")
    batches = [np.arange(rows * 6, dtype="float32").reshape(rows, 6) / 8 for rows in range(1, 5)]
    expected = [f"{value:.6f}" for batch in batches for value in predictor(batch)[0].ravel()]
    assert printed.split() == expected and len(expected) == 30


def batch(step):
    i, k = np.ogrid[:8, :6]
    x = ((step * 31 + i * 17 + k * 7 + i * k * 3) % 16).astype("float32") / 8 - 1
    return {"x": x, "label": x[:, :3].argmax(1)[:, None]}


def assert_trained(printed, model):
    """The parameters after the training, and their averages, have the bits of the same training in Python."""
    main, exe, scope = pm.io.load_program(model / "train"), pm.Executor(), pm.Scope()
    pm.io.load_parameters(model / "train.pdiparams", main, scope)
    losses = [float(exe.run(main, batch(step), ["mean_0.tmp_0"], scope)[0]) for step in range(STEPS)]
    assert [float(text) for text in re.findall(r"loss ([0-9.]+)", printed)] == [round(loss, 4) for loss in losses[::100]]
    pm.io.save_parameters(model / "python.pdiparams", main, scope)
    assert (model / "last.pdiparams").read_bytes() == (model / "python.pdiparams").read_bytes()
    exe.run(pm.Program.from_bytes((model / "apply.pdmodel").read_bytes()), scope=scope)
    pm.io.save_parameters(model / "python.pdiparams", main, scope)
    assert (model / "averaged.pdiparams").read_bytes() == (model / "python.pdiparams").read_bytes()
    assert (model / "averaged.pdiparams").read_bytes() != (model / "last.pdiparams").read_bytes()


def test_c(prefix, model, tmp_path):
    program = compile_c(prefix, tmp_path / "train", EMBEDDING / "c/train.c", standard="c99")
    assert_trained(run(program, model, STEPS), model)
    assert "train: " in run(program, tmp_path / "nothing", STEPS, status=1)


def test_cxx(prefix, model, tmp_path):
    program = compile_c(prefix, tmp_path / "predict", EMBEDDING / "cpp/predict.cc", compiler="g++", standard="c++17")
    assert_predicted(run(program, model / "model"), model)
    assert "can't open" in run(program, model / "nothing", status=1)


def test_cmake(prefix, model, tmp_path):
    words = ["-B", tmp_path / "build", "-G", "Unix Makefiles", f"-DCMAKE_PREFIX_PATH={prefix}"]
    run(tool("cmake"), "-S", EMBEDDING, *words)
    run(tool("cmake"), "--build", tmp_path / "build")
    assert_predicted(run(tmp_path / "build/predict", model / "model"), model)


def test_go(prefix, model, tmp_path):
    go, (libdir,) = tool("go"), pkg_config(prefix, "--variable=libdir")
    shutil.copytree(EMBEDDING / "go", tmp_path / "go")
    settings = {**environment(prefix), "CGO_LDFLAGS": f"-Wl,-rpath,{libdir}", "GOPROXY": "off", "GOFLAGS": "-buildvcs=false"}
    assert_predicted(run(go, "run", ".", model / "model", cwd=tmp_path / "go", env=settings), model)
    run(go, "vet", "./...", cwd=tmp_path / "go", env=settings)


def test_rust(prefix, model, tmp_path):
    rustc, (libdir,) = tool("rustc"), pkg_config(prefix, "--variable=libdir")
    if subprocess.run([rustc, "--version"], capture_output=True).returncode:
        pytest.skip("rustup has no compiler for this user")
    words = ["-L", libdir, "-l", "paddle_mini", "-C", f"link-arg=-Wl,-rpath,{libdir}", "-D", "warnings"]
    run(rustc, "-O", EMBEDDING / "rust/predict.rs", *words, "-o", tmp_path / "predict")
    assert_predicted(run(tmp_path / "predict", model / "model"), model)
    assert "can't open" in run(tmp_path / "predict", model / "nothing", status=1)


def test_ctypes(prefix, model):
    (libdir,) = pkg_config(prefix, "--variable=libdir")
    words = [sys.executable, "-I", "-S", EMBEDDING / "ctypes/predict.py"]
    assert_predicted(run(*words, model / "model", f"{libdir}/libpaddle_mini.so"), model)
    assert "can't open" in run(*words, model / "nothing", f"{libdir}/libpaddle_mini.so", status=1)
