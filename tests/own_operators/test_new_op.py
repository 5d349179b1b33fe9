"""paddle-mini new-op: the files that it writes pass as they are, and their test detects a wrong operator."""

import os
import re
import subprocess
import sys

import pytest

from features.rows import command
from own_operators.children import prepared_compiler
from thorough import thorough


def outcome_in(folder):
    """Exit status and output of pytest for the test in the folder."""
    variables = {**os.environ, "PM_OPERATORS": str(folder / "compiled"), "PM_CXX": prepared_compiler()}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", "test_mine.py"]
    done = subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@thorough
@pytest.mark.parametrize("words", [[], ["--gradient"]])
def test_the_files_pass_and_a_wrong_operator_fails(tmp_path, words):
    done = command("new-op", "mine", "--folder", tmp_path, *words)
    assert done.stdout.splitlines() == [str(tmp_path / "mine.cc"), str(tmp_path / "test_mine.py")], done.stderr
    status, output = outcome_in(tmp_path)
    assert status == 0 and "3 passed" in output, output
    source = (tmp_path / "mine.cc").read_text()
    wrong = source.replace("V(2 * scale)", "V(3 * scale)") if words else source.replace("x * x;", "x + x;")
    (tmp_path / "mine.cc").write_text(wrong)
    status, output = outcome_in(tmp_path)
    assert status == 1 and re.search(r'the case "matrix" of mine: .*test_mine.py:', output) and wrong != source


@pytest.mark.parametrize(
    "name, words", [("relu", "exists already"), ("My-op", "lower-case identifier"), ("there", "nothing is written")]
)
def test_wrong_names(tmp_path, name, words):
    (tmp_path / "test_there.py").write_text("")
    done = command("new-op", name, "--folder", tmp_path)
    assert done.returncode == 1 and words in done.stderr and [path.name for path in tmp_path.iterdir()] == ["test_there.py"]
