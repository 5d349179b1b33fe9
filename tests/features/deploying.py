# Features of files, other languages, documentation and releases.
from __future__ import annotations

import argparse
import ctypes
import json
import platform
import re
import subprocess
import zipfile
from pathlib import Path

import numpy as np
from release.wheels import write_cuda_wheel

import paddle_mini as pm
from features.rows import ROOT, SCRIPTS, Missing, command, feature, python
from golden import adapter, runner
from small_model import SmallModel


def saved(folder):
    """A small model and the prefix of its files."""
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    pm.io.save_inference_model(folder / "model", [model.x], [model.logits], scope=model.scope)
    np.save(folder / "x.npy", np.ones((2, 6), "float32"))
    return model, folder / "model"


@feature(11, "safetensors: written and read by the library of that name")
def safetensors(folder):
    from safetensors.numpy import load_file, save_file

    state = {"w": np.arange(6, dtype="float32").reshape(2, 3), "steps": np.array([3])}
    pm.io.save_state(folder / "ours.safetensors", state)
    save_file(state, folder / "theirs.safetensors")
    for found in (load_file(folder / "ours.safetensors"), pm.io.load_state(folder / "theirs.safetensors")):
        assert all((found[name] == state[name]).all() and found[name].dtype == state[name].dtype for name in state)


@feature(12, "PaddlePaddle's programs and parameters: the same results")
def paddle_files(folder):
    options = argparse.Namespace(exact=False, lax_dtype=False, lax_shape=False, no_lod=False, no_startup=False)
    case = ROOT / "tests/golden/cases/infm_conv_bn_from_train"
    result = runner.run_one(adapter, str(case), options)
    assert result["status"] == "pass", result["message"]


@feature(20, "command line: show, run, train, bench, convert, doctor, verify, launch; --json; exit statuses")
def command_line(folder):
    _, prefix = saved(folder)
    feed = f"x={folder / 'x.npy'}"
    for words in (["run", prefix, "--feed", feed], ["show", prefix], ["bench", prefix, "--feed", feed, "--runs", 3], ["doctor"]):
        assert json.loads(command(*words, "--json").stdout)
    assert command("convert", f"{prefix}.pdiparams", folder / "model.safetensors").returncode == 0
    assert command("run", folder / "nothing").returncode == 1 and command("dance").returncode == 2
    assert command("verify", f"{prefix}.pdmodel").returncode == 0


@feature(21, "C: the executor and the optimizers, by pkg-config and CMake; programs by an executable without Python")
def other_languages(folder):
    prefix = pm._core.__file__.rpartition("/")[0] + "/capi"
    assert command("prefix").stdout.strip() == prefix
    found = {path.name for path in Path(prefix).rglob("*") if path.is_file()}
    assert {"paddle_optimizer.h", "paddle_mini_optimizer.pc"} <= found and any(name.endswith("onfig.cmake") for name in found)
    assert {"paddle_mini.h", "paddle_mini.hpp", "paddle_mini.pc", "paddle_miniConfig.cmake"} <= found
    _, model = saved(folder)
    library, predictor = ctypes.CDLL(f"{Path(prefix).parent}/libpaddle_mini.so"), ctypes.c_uint64()
    assert library.pm_predictor_load(str(model).encode(), None, 0, ctypes.byref(predictor)) == library.pm_release(predictor) == 0
    words = [SCRIPTS / "pm_run", f"{model}.pdmodel", "--params", f"{model}.pdiparams", "--feed", f"x={folder / 'x.npy'}"]
    assert subprocess.run(words, capture_output=True).returncode == 0


@feature(24, "documentation: tutorial, how-to, reference, all operators; a page for each error")
def documentation(folder):
    nav = (ROOT / "mkdocs.yml").read_text()
    for page in ("tutorial/index.md", "howto.md", "operators.md", "gallery.md"):
        assert page in nav and (ROOT / "docs" / page).exists()
    operators = (ROOT / "docs/operators.md").read_text()
    assert all(f"\n## {name}\n" in operators for name in ("relu", "conv2d", "parameter_average"))
    if not (ROOT / "docs/errors.md").exists():
        raise Missing("there is no catalogue of errors")


@feature(25, "examples run in tests: the book, a job, C, a notebook")
def examples(folder):
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py") if path.parent.name != "features")
    for example in ("examples/book", "clicks.py", "docs/make_comparison.py", "examples/c", "fit_digits.py", ".ipynb"):
        assert example in tests, example
    for notebook in (ROOT / "examples").rglob("*.ipynb"):
        assert json.loads(notebook.read_text())["nbformat"] == 4


@feature(28, "a Dockerfile: two stages, a user without rights")
def docker(folder):
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert sum(line.startswith("FROM debian:12-slim") for line in lines) == 2 and any(line.startswith("USER ") for line in lines)


@feature(29, "wheels with kernels for GPUs")
def cuda_wheels(folder):
    library = Path(pm._core.__file__).parent / "libpaddle_mini.so"  # for the kernels that nvcc compiles
    wheel = write_cuda_wheel(library, f"manylinux_2_28_{platform.machine()}", folder)
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("paddle_mini/libpaddle_mini_cuda.so") == library.read_bytes()
    assert "build_cuda_wheel" in (ROOT / "python/release/__main__.py").read_text()


@feature(30, "versions: a change log; what stays compatible")
def versions(folder):
    assert re.search(rf"^#+ .*{re.escape(pm.__version__)}", (ROOT / "CHANGELOG.md").read_text(), re.M)
    text = (ROOT / "docs/versions.md").read_text()
    assert "## Versions" in text and "## Files" in text


@feature(31, "supply chain: licences, a security policy, a bill of materials")
def supply_chain(folder):
    assert (ROOT / "SECURITY.md").exists() and list((ROOT / "LICENSES").iterdir())
    build = "".join((ROOT / name).read_text().lower() for name in ("CMakeLists.txt", "Makefile", "pyproject.toml"))
    if "sbom" not in build and "cyclonedx" not in build:
        raise Missing("wheels have no bill of materials")


@feature(32, "no telemetry: nothing connects to a network")
def telemetry(folder):
    assert "telemetry" in (ROOT / "SECURITY.md").read_text()
    code = (
        "import socket, sys; sys.path.insert(0, sys.argv[1])\n"
        "def refuse(*_): raise SystemExit('a connection')\n"
        "socket.socket.connect = socket.socket.sendto = refuse\n"
        "from training_model import *\n"
        "trainer().fit(arrays(), 2, checkpoints='run'); print('done')"
    )
    assert python(code, folder, str(ROOT / "tests")).stdout.endswith("done\n")
