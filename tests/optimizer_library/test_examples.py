"""The examples in C, Go and ctypes work with the library as installed: in a prefix, and in the Python package."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from optimizer_builds import PACKAGE, ROOT, install, pkg_config, run, tool
from paddle_mini.cli import main
from thorough import thorough

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module", params=[pytest.param("prefix", marks=thorough), "package"])
def prefix(request, tmp_path_factory):
    if request.param == "prefix":
        return install(tmp_path_factory.mktemp("prefix"))
    if not PACKAGE.is_dir():
        pytest.skip(f"there is no {PACKAGE}: the package runs from its build directory")
    return PACKAGE


def environment(prefix):
    return {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}


def assert_trained(printed):
    """The loss falls, and a model that resumes from the state has the first one's bits."""
    losses = [float(number) for number in re.findall(r"loss ([0-9.]+)", printed)]
    assert len(losses) > 5 and losses[-1] < losses[0] / 3
    assert "both models have the same bits" in printed


def test_c_with_pkg_config(prefix, tmp_path):
    run("make", "-C", EXAMPLES / "c", f"OUT={tmp_path}", env=environment(prefix))
    printed = run(tmp_path / "train")
    assert_trained(printed)
    last, averaged = map(float, re.search(r"last ([0-9.]+), averaged ([0-9.]+)", printed).groups())
    assert averaged < last
    assert run(tmp_path / "train-static") == printed
    assert "libpaddle" not in run(tool("ldd"), tmp_path / "train-static")


def test_c_with_cmake(prefix, tmp_path):
    run(tool("cmake"), "-S", EXAMPLES / "c", "-B", tmp_path, "-G", "Unix Makefiles", f"-DCMAKE_PREFIX_PATH={prefix}")
    run(tool("cmake"), "--build", tmp_path)
    printed = run(tmp_path / "train_optimizer")
    assert_trained(printed)
    assert run(tmp_path / "train_optimizer_static") == printed


def test_a_configuration_from_a_file(prefix, tmp_path):
    pytest.importorskip("grpc_tools")
    (proto,) = pkg_config(prefix, "--variable=proto")
    run("make", "-C", EXAMPLES / "c", f"OUT={tmp_path}", tmp_path / "train", env=environment(prefix))
    with open(EXAMPLES / "c/momentum.txt") as text, open(tmp_path / "momentum.bin", "wb") as made:
        subprocess.run(
            [sys.executable, "-m", "grpc_tools.protoc", "-I", Path(proto).parent, "--encode=paddle.OptimizerConfig", proto],
            stdin=text,
            stdout=made,
            check=True,
        )
    assert run(tmp_path / "train", "momentum.bin", cwd=tmp_path) == run(tmp_path / "train")
    (tmp_path / "wrong.bin").write_bytes(b"nothing of the kind")
    assert "create_optimizer" in run(tmp_path / "train", "wrong.bin", cwd=tmp_path, status=1)


def test_ctypes(prefix):
    (libdir,) = pkg_config(prefix, "--variable=libdir")
    library = f"{libdir}/libpaddle_mini_optimizer.so"
    assert_trained(run(sys.executable, "-I", "-S", EXAMPLES / "ctypes/train.py", library))


def test_go(prefix, tmp_path):
    go = tool("go")
    (libdir,) = pkg_config(prefix, "--variable=libdir")
    shutil.copytree(EXAMPLES / "go", tmp_path / "go")
    settings = {**environment(prefix), "CGO_LDFLAGS": f"-Wl,-rpath,{libdir}", "GOPROXY": "off", "GOFLAGS": "-buildvcs=false"}
    assert_trained(run(go, "run", ".", cwd=tmp_path / "go", env=settings))
    run(go, "vet", "./...", cwd=tmp_path / "go", env=settings)
    run(go, "test", "./...", cwd=tmp_path / "go", env=settings)


def test_the_command_says_where_the_package_has_it(capsys):
    if not PACKAGE.is_dir():
        assert main(["prefix"]) == 1
        assert "no C library" in capsys.readouterr().err
        return
    assert main(["prefix"]) == 0
    assert capsys.readouterr().out.strip() == str(PACKAGE)
