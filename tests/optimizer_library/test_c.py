"""The C interface of the library: mistakes, plain and under memory checkers; exported symbols and dependencies."""

import re
import sys
import sysconfig

import pytest

from optimizer_builds import BUILD, ROOT, compile_c, install, pkg_config, run, tool
from thorough import IS_THOROUGH, thorough

BORDER = ROOT / "tests/optimizer_library/border"
ASKED = ["arguments", "gradients", "small_parameters", "handles", "configurations", "states", "threads", "forks", "endurance"]
HEADER = ROOT / "cpp/capi/paddle_optimizer.h"
FUNCTIONS = set(re.findall(r"\b(paddle_\w+)\(", re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)))
SANITIZE = "-fsanitize=address,undefined"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    return install(tmp_path_factory.mktemp("prefix"))


@pytest.fixture(scope="module")
def border(prefix, tmp_path_factory):
    sources = [path for path in sorted(BORDER.glob("*.c")) if path.stem != "allocations"]
    return compile_c(tmp_path_factory.mktemp("border") / "border", sources, prefix)


@pytest.fixture(scope="module")
def sanitized_border(prefix, tmp_path_factory):
    """With a library of the same sources, built under AddressSanitizer and UBSan; this takes half a minute the first time."""
    if BUILD is None:
        pytest.skip("there is no build directory")
    # A C program may store any int in an enum, and the library checks it.
    # Compilation without optimization takes half the time, and leaves all accesses to the sanitizers.
    flags = f"-O0 -g1 {SANITIZE} -fno-sanitize=enum"
    folder, protobuf = BUILD / "sanitized", next((BUILD / "proto/download").glob("*.tar.gz"), "")
    # Only the loops that the library would choose here.
    level = run(sys.executable, ROOT / "cpp/core/cpu_level.py").strip()
    run(
        tool("cmake"),
        "-S",
        ROOT,
        "-B",
        folder,
        "-G",
        "Ninja",
        f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
        "-DCMAKE_BUILD_TYPE=Debug",
        f"-DCMAKE_C_FLAGS_DEBUG={flags}",
        f"-DCMAKE_CXX_FLAGS_DEBUG={flags}",
        f"-DPM_OPTIMIZER_LEVELS={level}",
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-DCMAKE_PREFIX_PATH={sysconfig.get_path('platlib')}",
        f"-DPM_PROTOBUF_SDIST={protobuf}",
    )
    run(tool("cmake"), "--build", folder, "--target", "paddle_mini_optimizer", timeout=900)
    sources = [path for path in sorted(BORDER.glob("*.c")) if path.stem != "allocations"]
    return compile_c(
        tmp_path_factory.mktemp("border") / "border", sources, prefix, SANITIZE, library=folder / "libpaddle_mini_optimizer.so"
    )


@pytest.mark.parametrize("name", ASKED)
def test_mistakes_are_refused(border, name):
    assert run(border, name, 1 if IS_THOROUGH else 10) == ""  # the divisor of the number of tries


@thorough
@pytest.mark.parametrize("name", ASKED)
def test_sanitizers_find_nothing(sanitized_border, name):
    assert run(sanitized_border, name, 20, env={"ASAN_OPTIONS": "allocator_may_return_null=1"}) == ""


@thorough
@pytest.mark.parametrize("name", ASKED)
def test_valgrind_finds_nothing(border, name):
    # After fork() the child leaks the allocations of other threads.
    leaks = "no" if name == "forks" else "full"
    assert (
        run(
            tool("valgrind"),
            "-q",
            "--fair-sched=yes",
            f"--leak-check={leaks}",
            "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite",
            "--error-exitcode=9",
            border,
            name,
            200,
        )
        == ""
    )


def test_memory_that_runs_out_is_a_status(prefix, tmp_path):
    assert run(compile_c(tmp_path / "allocations", [BORDER / "allocations.c"], prefix)) == ""


def libraries(prefix):
    return prefix / "lib/libpaddle_mini_optimizer.so", prefix / "lib/libpaddle_mini_optimizer.a"


def symbols(path, *options):
    return set(re.findall(r"^\w* +[A-Za-z] (\S+)$", run(tool("nm"), "--defined-only", *options, path), re.M))


def test_only_versioned_functions_are_shown(prefix):
    shown = symbols(libraries(prefix)[0], "-D")
    versions = {name for name in shown if name.startswith("PADDLE_OPTIMIZER_")}
    functions = dict(name.split("@@") for name in shown if name not in versions)
    assert set(functions) == FUNCTIONS
    assert set(functions.values()) == {name.split("@")[0] for name in versions}


def test_few_libraries_are_needed(prefix):
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run(tool("readelf"), "-d", libraries(prefix)[0])))
    loaders = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    assert needed <= {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"} | loaders


def test_the_libraries_are_small(prefix):
    assert all(path.stat().st_size <= 2 << 20 for path in libraries(prefix))


def test_the_archive_keeps_its_names_to_itself(prefix):
    assert symbols(libraries(prefix)[1], "--extern-only") == FUNCTIONS


@pytest.mark.parametrize("linked", ["shared", "archive"])
def test_a_program_with_its_own_protobuf(prefix, tmp_path, linked):
    """The library does not call the program's functions, and its names do not collide with the library's."""
    theirs = re.compile(r"_?upb_\w+|google_protobuf_\w+|utf8_range_\w+")
    own = sorted(filter(theirs.fullmatch, symbols(libraries(prefix)[1])))
    assert len(own) > 20
    program = "".join(f"void {name}(void) {{ abort(); }}\n" for name in own)
    (tmp_path / "own.c").write_text(f"""#include <paddle_optimizer.h>
#include <stdlib.h>
#include "optimizer_config.h"
{program}
int main(void) {{
  config_message rate = {{.size = 0}}, config = {{.size = 0}};
  float value = 1;
  put_double(&rate, 1, 0.5);
  put_message(&config, 12, &rate);
  paddle_element_type type = PADDLE_ELEMENT_TYPE_FLOAT32;
  paddle_optimizer* o = paddle_create_optimizer(config.bytes, config.size, type, &value, 4, NULL, 0);
  return !o || paddle_update_parameter(o, type, &value, 4) || paddle_release_optimizer(o);
}}
""")
    shared, archive = libraries(prefix)
    library = {"shared": [shared, f"-Wl,-rpath,{shared.parent}"], "archive": [archive, "-lstdc++", "-lm", "-pthread"]}
    run(
        tool("gcc"),
        "-rdynamic",
        *pkg_config(prefix, "--cflags"),
        f"-I{ROOT / 'examples/c'}",
        "-o",
        tmp_path / "own",
        tmp_path / "own.c",
        *library[linked],
    )
    run(tmp_path / "own")


@pytest.mark.parametrize("language", ["c90", "c99", "c17", "c++98", "c++20"])
def test_the_header_is_of_every_standard(language, tmp_path):
    kind = "c++" if "+" in language else "c"
    (tmp_path / "only.c").write_text("#include <paddle_optimizer.h>\n")
    run(
        tool("gcc"),
        f"-std={language}",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic-errors",
        "-fsyntax-only",
        f"-I{HEADER.parent}",
        "-x",
        kind,
        tmp_path / "only.c",
    )
