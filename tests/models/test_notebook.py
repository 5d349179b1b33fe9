"""The notebook's cells run, in order and again, and show what a notebook shows: the last expression of each."""

import json
import pathlib
import subprocess
import sys

PATH = pathlib.Path(__file__).resolve().parents[2] / "examples/first_steps.ipynb"
# As in a notebook, the default programs are the process's own, which a test's are not.
SCRIPT = """
import ast, json, sys

def shown(cell):
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), variables)
    return None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), variables)

variables = {}
cells = ["".join(cell["source"]) for cell in json.load(open(0))["cells"] if cell["cell_type"] == "code"]
for _ in range(2):
    _, program, history, accuracies, probabilities = [shown(cell) for cell in cells]
    print(json.dumps([program._repr_html_(), history._repr_html_(), min(accuracies), probabilities.shape]))
"""


def test_cells_run_twice(tmp_path):
    command = [sys.executable, "-W", "error", "-c", SCRIPT]
    done = subprocess.run(command, cwd=tmp_path, input=PATH.read_text(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second = map(json.loads, done.stdout.splitlines())
    assert first == second, "a cell that runs again must do the same"
    program, history, accuracy, shape = first
    assert "<table" in program and "<table" in history and accuracy > 0.9 and shape == [5, 2]


def test_it_is_stored_without_outputs():
    notebook = json.loads(PATH.read_text())
    assert notebook["nbformat"] == 4 and all(cell.get("outputs", []) == [] for cell in notebook["cells"])
