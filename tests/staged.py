# Runs the tests on a build that is not installed: python tests/staged.py [--preload LIBRARY] BUILD [arguments of
# pytest]
"""BUILD is a build directory of CMake. Its libraries and the package's files are laid out in BUILD/package, which
precedes the installed package on the path. --preload: libtsan.so or libasan.so, of the compiler that built it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def stage(build):
    """The directory that must be first on Python's path."""
    package = Path(build).resolve() / "package"
    target = package / "paddle_mini"
    target.mkdir(parents=True, exist_ok=True)
    libraries = [*package.parent.glob("*.so"), *package.parent.glob("cuda/*.so")]
    for source in [*(ROOT / "paddle_mini").iterdir(), ROOT / "proto/optimizer.desc", *libraries]:
        link = target / source.name
        link.unlink(missing_ok=True)
        link.symlink_to(source)
    compiled_with = target / "cxx"  # by pm.load_op
    compiled_with.mkdir(exist_ok=True)
    for name, source in (("include", ROOT / "cpp"), ("operator_flags", package.parent / "operator_flags")):
        (compiled_with / name).unlink(missing_ok=True)
        (compiled_with / name).symlink_to(source)
    return package


def environment(package, preload=None):
    paths = [str(package), str(ROOT / "tests")]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    if preload:
        libraries = [
            subprocess.check_output(["gcc", f"-print-file-name={name}"], text=True).strip() for name in (preload, "libstdc++.so")
        ]
        variables.update(
            LD_PRELOAD=" ".join(libraries),
            TSAN_OPTIONS=f"exitcode=66 history_size=4 suppressions={ROOT / 'tests/tsan.supp'}",
            ASAN_OPTIONS="detect_leaks=0 allocator_may_return_null=1",
            UBSAN_OPTIONS="print_stacktrace=1",
            OPENBLAS_NUM_THREADS="1",  # NumPy's products: ThreadSanitizer does not see what orders their threads
        )
    return variables


def main():
    words = sys.argv[1:]
    preload = words.pop(1) if words[:1] == ["--preload"] else None
    words = words[1:] if preload else words
    package = stage(words[0])
    # An editable install takes precedence over PYTHONPATH for its package: -S disables it, and the rest is added again.
    site = next(path for path in sys.path if path.endswith("site-packages"))
    code = (
        f"import sys; sys.path[:] = [path for path in sys.path if path] + [{site!r}]; import pytest; "
        "sys.exit(pytest.main(sys.argv[1:]))"
    )
    fixed = ["setarch", "-R"] if preload == "libtsan.so" else []  # addresses are not randomized: libtsan requires it
    # Output of a sanitizer before it ends the process must not be captured by pytest.
    command = [
        *fixed,
        sys.executable,
        "-S",
        "-c",
        code,
        "-q",
        *(["--capture=no"] if preload else []),
        "-p",
        "no:cacheprovider",
        "-p",
        "no:faulthandler",
        *words[1:],
    ]
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment(package, preload)).returncode)


if __name__ == "__main__":
    main()
