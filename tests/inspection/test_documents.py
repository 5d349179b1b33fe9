"""The programs in docs/seeing.md and in docstrings run."""

import ast
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = [
    ROOT / "paddle_mini/program.py",
    *(ROOT / "paddle_mini").glob("inspection/*.py"),
    *(ROOT / "paddle_mini").glob("loggers/*.py"),
]
EXAMPLE = re.compile(r"^((?:import numpy as np\n)?import paddle_mini as pm\n(?:.+\n?)*)", re.M)


def examples():
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = textwrap.dedent(ast.get_docstring(node) or "")
                found += [(f"{path.stem}.{getattr(node, 'name', '')}", code) for code in EXAMPLE.findall(text)]
    return found


def run(code, folder):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)


def test_the_documents_program_runs(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/seeing.md").read_text(), re.S | re.M)
    done = run("".join(blocks), tmp_path)
    assert len(blocks) == 5 and done.returncode == 0, done.stderr
    assert {"program.dot", "run.csv", "trace.json"} <= {path.name for path in tmp_path.iterdir()}
    assert "adam + parameter_average" in done.stdout and "conv2d: Output" in done.stdout


@pytest.mark.parametrize("name, code", examples(), ids=lambda value: value if "\n" not in value else "")
def test_a_docstrings_example_runs(name, code, tmp_path):
    done = run(code, tmp_path)
    assert done.returncode == 0, f"{name}: {done.stderr}"


def test_examples_are_found():
    assert {name for name, _ in examples()} >= {
        "program.to_dot",
        "summary.summary",
        "profiler.profile",
        "finite.check_finite",
        "text_files.CSVLogger",
        "text_files.JSONLinesLogger",
        "tensorboard.TensorBoardLogger",
        "__init__.",
    }
