# Runs tests of kernels on a GPU under compute-sanitizer: python tests/gpu/sanitized.py TOOL [tests]
"""TOOL: memcheck, racecheck, initcheck or synccheck. tests: those of tests/gpu/test_operators.py if none are given. They
are dealt to as many processes as there are cores, each of which has its own report at the end; kernels of NVIDIA's
libraries are not checked. Exits with 1 if a test fails or a kernel has an error."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
OWN = "kernel_substring=paddle_mini"
MOST = 16


def collected(words):
    """The ids of these tests."""
    listed = subprocess.run(
        [*PYTEST, "-o", "addopts=--import-mode=importlib", "--collect-only", *words], cwd=ROOT, capture_output=True, text=True
    )
    ids = [line for line in listed.stdout.splitlines() if "::" in line]
    if not ids:
        sys.exit(listed.stdout + listed.stderr)
    return ids


def main():
    tool, words = sys.argv[1], sys.argv[2:] or ["tests/gpu/test_operators.py"]
    ids, parts = collected(words), min(MOST, len(os.sched_getaffinity(0)))
    checked = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "86", "--kernel-name", OWN, *PYTEST]
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for number in range(min(parts, len(ids))):
            names, log = Path(folder, f"{number}.txt"), Path(folder, f"{number}.log")
            names.write_text("\n".join(ids[number::parts]))
            running.append(
                (subprocess.Popen([*checked, f"@{names}"], cwd=ROOT, stdout=log.open("w"), stderr=subprocess.STDOUT), log)
            )
        failed = 0
        for process, log in running:
            failed += process.wait() != 0
            lines = log.read_text().splitlines()
            print(
                "\n".join(
                    lines if process.returncode else [line for line in lines if "ERROR SUMMARY" in line or " passed" in line]
                )
            )
    print(f"{tool}: {len(ids)} tests in {len(running)} processes, {failed} with errors")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
