"""The programs of the first day: they run, reach what docs/comparison.md says, and the document counts their lines."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

from thorough import some, thorough

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("make_comparison", ROOT / "docs/make_comparison.py")
comparison = importlib.util.module_from_spec(spec)
spec.loader.exec_module(comparison)
RESULTS = json.loads(comparison.RESULTS.read_text())


def test_lines_are_counted():
    assert comparison.lines_of_code('"""Not\ncounted."""\n\n# Not counted.\nx = """\n"""\ny = [\n    x\n]\n') == 5


def test_the_table_is_that_of_the_files():
    text = comparison.PAGE.read_text()
    assert comparison.page(text, RESULTS) == text, "run .venv/bin/python docs/make_comparison.py"


def test_every_program_is_in_the_table():
    programs = " ".join(comparison.TASKS).split()
    listed = {f"{program}{library}.py" for program in programs for library in comparison.LIBRARIES}
    assert {path.name for path in comparison.FOLDER.glob("*.py")} == {*listed, "samples.py"}


@pytest.mark.parametrize("task", some(comparison.TASKS, 7))
def test_a_program_reaches_its_result(task, tmp_path):
    """Other CPU levels round differently, so not to the last digit."""
    assert comparison.run(sys.executable, task, "", tmp_path) == pytest.approx(RESULTS["paddle_mini"][task], abs=0.03)


def test_averages_are_better_where_labels_are_wrong():
    last, averaged = RESULTS["paddle_mini"]["averages"]
    assert averaged > last + 0.05


@thorough
def test_a_second_run_continues_from_the_checkpoints(tmp_path):
    script = str(comparison.FOLDER / "digits.py")
    first, second = (
        subprocess.run([sys.executable, script], cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        for _ in range(2)
    )
    assert len(first) > len(second) and first[-1] == second[-1]


def test_the_convolutional_network_is_short():
    assert comparison.counts("digits", "") <= 25
