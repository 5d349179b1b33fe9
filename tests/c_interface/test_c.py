"""The C interface from C: memory that runs out, threads, memory checkers; the header, and the symbols of the library."""

import re
from pathlib import Path

import pytest

from c_builds import BORDER, compile_c, install, saved_models
from c_calls import HEADER, PROTOTYPES
from optimizer_builds import run, tool
from paddle_mini import _core
from thorough import IS_THOROUGH


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    return install(tmp_path_factory.mktemp("prefix"))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    saved_models(folder)
    return folder


@pytest.fixture(scope="module")
def threads(prefix, tmp_path_factory):
    return compile_c(prefix, tmp_path_factory.mktemp("threads") / "threads", BORDER / "threads.c")


def test_memory_that_runs_out_is_a_status(prefix, models, tmp_path):
    """At every place with PM_THOROUGH=1, at each seventh one where kernels are loaded.

    The folder has the file that was saved, and none that a failed call has begun."""
    program = compile_c(prefix, tmp_path / "allocations", BORDER / "allocations.c")
    before = {path.name for path in models.iterdir()}
    assert run(program, models, *((1, 7) if IS_THOROUGH else (13, 4999)), timeout=2400) == ""
    assert {path.name for path in models.iterdir()} == before | {"saved.pdiparams"}


def test_eight_threads_of_10000_calls(threads, models):
    """They share a predictor; 2000 lives of objects need no more memory than 1000."""
    assert run(threads, models / "m", 8, 10000, 2000) == ""


def test_valgrind_finds_nothing(threads, models):
    checks = ["--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite", "--error-exitcode=9"]
    # It knows no instructions of AVX-512.
    environment = {"PM_CPU": "v3"} if (Path(_core.__file__).parent / "libpaddle_mini_kernels_v3.so").exists() else {}
    if not environment and _core.kernel_library()["compiled_for"] == "v4":
        pytest.skip("this build has kernels for AVX-512 only, which valgrind does not know")
    assert run(tool("valgrind"), "-q", "--fair-sched=yes", *checks, threads, models / "m", 4, 50, 40, env=environment) == ""


def test_wrong_models_are_refused(threads, models):
    assert "can't open" in run(threads, models / "nothing", 1, 1, 1, status=1)


def test_the_functions_have_versions():
    """Each function of the header is exported under a version of the interface, and nothing beside the C++ namespace."""
    text = run(tool("nm"), "-D", "--defined-only", Path(_core.__file__).parent / "libpaddle_mini.so")
    shown = dict(re.findall(r" [A-Z] (pm_\w+)@@(\w+)$", text, re.M))
    assert shown == {name: "PADDLE_MINI_1" for name, _ in PROTOTYPES}
    others = {name for name in re.findall(r" [A-Za-z] ([^_\s]\w*)@", text) if not name.startswith("pm_")}
    assert {name for name in others if not name.startswith("PADDLE_MINI")} == set()


@pytest.mark.parametrize("language", ["c99", "c17", "c++11", "c++20"])
def test_the_header_is_of_every_standard(language, tmp_path):
    (tmp_path / "only.c").write_text("#include <paddle_mini.h>\n")
    kind = "c++" if "+" in language else "c"
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic-errors", "-fsyntax-only", f"-I{HEADER.parent}", "-x", kind]
    run(tool("gcc"), f"-std={language}", *strict, tmp_path / "only.c")


@pytest.mark.parametrize("language", ["c++17", "c++20"])
def test_the_cxx_header_needs_only_itself(language, tmp_path):
    (tmp_path / "only.cc").write_text("#include <paddle_mini.hpp>\nint main() { pm::options(); }\n")
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic-errors", "-fsyntax-only", f"-I{HEADER.parent}"]
    run(tool("g++"), f"-std={language}", *strict, tmp_path / "only.cc")
