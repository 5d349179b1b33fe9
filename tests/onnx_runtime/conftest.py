"""ONNX Runtime and PyTorch in environments of their own, which `make test-onnx` creates."""

import importlib.util
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def python_of(environment, product):
    spec = importlib.util.spec_from_file_location("environments", ROOT / "benchmarks/environments.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not module.is_made(environment):
        pytest.skip(f"{product} is not installed; make test-onnx does it")
    return module.python_of(environment)


@pytest.fixture(scope="session")
def torch_python():
    return python_of("torch", "PyTorch")


@pytest.fixture(scope="session")
def onnxruntime(tmp_path_factory):
    """Runs exported models: a list of (path, inputs, names of the outputs); returns for each the outputs by name, or the text of
    the error."""
    python = python_of("onnxruntime-inference", "ONNX Runtime")

    def run(cases):
        folder = tmp_path_factory.mktemp("onnxruntime")
        for number, case in enumerate(cases):
            np.savez(folder / f"{number}.npz", **case.inputs)
        names = "\n".join("\t".join([case.path, *case.expected]) for case in cases)
        (folder / "cases.txt").write_text(names)
        done = subprocess.run(
            [str(python), str(pathlib.Path(__file__).parent / "worker.py"), str(folder)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return [result_of(folder, number) for number in range(len(cases))]

    return run


def result_of(folder, number):
    error = folder / f"{number}.error"
    if error.exists():
        return error.read_text()
    with np.load(folder / f"{number}.out.npz") as found:
        return {name: found[name] for name in found.files}
