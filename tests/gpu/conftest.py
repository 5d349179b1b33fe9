"""The tests of tests/devices on a GPU, or on the emulation that PM_CUDA_LIBRARY names (make cuda-on-host)."""

import os
import pathlib
import subprocess
import sys

import pytest

import paddle_mini as pm

HERE = pathlib.Path(__file__).parent


@pytest.fixture
def place():
    if pm.devices.gpu_count() == 0:
        pytest.skip("there is no GPU")
    return pm.CUDAPlace(0)


@pytest.fixture
def three_gpus():
    if pm.devices.gpu_count() < 3:
        pytest.skip("there are no three GPUs")


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory):
    """stand_in("nccl"): a library with the entry points of NVIDIA's, for the emulation; "" selects none. Other arguments are
    the compiler's."""
    if "on_host" not in os.environ.get("PM_CUDA_LIBRARY", ""):
        pytest.skip("stand-ins can't follow a GPU's memory")
    folder = tmp_path_factory.mktemp("stand_ins")

    def build(name, *options):
        library = folder / f"lib{name or 'empty'}{''.join(options)}.so"
        if not library.exists():
            source = ["-x", "c++", "/dev/null"] if not name else [HERE / "stand_ins" / f"{name}.cc"]
            words = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o", library]
            subprocess.run(["c++", *words, *options, *source], check=True)
        return library

    return build


@pytest.fixture
def in_child(tmp_path):
    """Runs Python code in a separate process, with these variables in its environment: a process searches for libraries
    once. Returns its output, and the lines that stand-ins logged."""
    log = tmp_path / "calls"

    def run(code, timeout=120, **variables):
        log.write_text("")
        code = f"import sys; sys.path[:] = {sys.path!r}\nimport numpy as np, paddle_mini as pm\n{code}"
        words = {name: str(value) for name, value in variables.items()}
        site = ["-S"] if sys.flags.no_site else []  # tests/staged.py
        ended = subprocess.run(
            [sys.executable, *site, "-c", code],
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, "STAND_IN_LOG": str(log), **words},
            cwd=HERE.parents[1],
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout, log.read_text().splitlines()

    return run


@pytest.fixture
def tests_in_child(in_child):
    """Runs these tests of this folder there: in_child's calls, none of which a stand-in has rejected."""

    def run(files, keywords="", **variables):
        words = ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-k", keywords]
        words += [str(HERE / name) for name in files]
        _, calls = in_child(f"import pytest\nraise SystemExit(pytest.main({words!r}))", timeout=600, **variables)
        assert not [line for line in calls if line.startswith("refused")]
        return calls

    return run
