"""The programs in docs/seeing.md run."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(code, folder):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)


def test_the_documents_program_runs(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/seeing.md").read_text(), re.S | re.M)
    done = run("".join(blocks), tmp_path)
    assert len(blocks) == 5 and done.returncode == 0, done.stderr
    assert {"program.dot", "run.csv", "trace.json"} <= {path.name for path in tmp_path.iterdir()}
    assert "adam + parameter_average" in done.stdout and "conv2d: Output" in done.stdout
