"""Threads that share every object of the C interface, from C; `make tsan` runs it with a library for ThreadSanitizer."""

import os
from pathlib import Path

import pytest

from c_builds import BORDER, compile_c, install, saved_models
from optimizer_builds import ROOT, run, tool

PROGRAM = BORDER / "shared.c"


@pytest.fixture
def models(tmp_path):
    saved_models(tmp_path)
    return tmp_path


def test_eight_threads_use_the_same_objects(models, tmp_path_factory):
    prefix = install(tmp_path_factory.mktemp("prefix"))
    program = compile_c(prefix, models / "shared", PROGRAM)
    assert run(program, models, 60, env={"PM_NUM_THREADS": "2"}) == ""


def test_a_run_while_the_process_exits(models, tmp_path_factory):
    """Times of runs, which PM_LOG=run prints at the exit, are not gone for threads that still run. Freed memory is
    overwritten."""
    program = compile_c(install(tmp_path_factory.mktemp("prefix")), models / "late", BORDER / "late.c")
    freed = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", "MALLOC_PERTURB_": "165"}
    assert " us in 5 steps" in run(program, models / "m", env={"PM_LOG": "run", **freed})


def test_thread_sanitizer_finds_nothing(models):
    """In the program and in the library, whose build TSAN_BUILD names; addresses are not randomized, as it requires."""
    build = os.environ.get("TSAN_BUILD")
    if not build:
        pytest.skip("TSAN_BUILD names no build: make tsan does")
    folder = Path(build).resolve()
    flags = ["-std=gnu99", "-g", "-O1", "-pthread", "-fsanitize=thread", f"-I{ROOT / 'cpp/capi'}"]
    library = [f"-L{folder}", "-lpaddle_mini", f"-Wl,-rpath,{folder}"]
    run(tool("gcc"), *flags, "-o", models / "shared", PROGRAM, *library)
    options = {"TSAN_OPTIONS": f"exitcode=66 history_size=4 suppressions={ROOT / 'tests/tsan.supp'}", "PM_NUM_THREADS": "2"}
    assert run(tool("setarch"), "-R", models / "shared", models, 30, env=options) == ""
