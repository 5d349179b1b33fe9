"""Programs made and run by PaddlePaddle 2.6.2, replayed on a device: its numbers there."""

import argparse
import json
import pathlib

import pytest

import paddle_mini as pm
from golden import adapter, runner

OPTIONS = argparse.Namespace(exact=False, lax_dtype=False, lax_shape=False, no_lod=False, no_startup=False)
CASES = sorted(path.parent for path in (pathlib.Path(runner.__file__).parent / "cases").glob("*/case.json"))
# runner.py leaves closing its files to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


def trains(case):
    return json.loads((case / "case.json").read_text())["kind"] not in ("bad", "files")


@pytest.mark.parametrize("case", list(filter(trains, CASES)), ids=lambda case: case.name)
def test_case(case, place, monkeypatch):
    monkeypatch.setattr(adapter, "_exe", pm.Executor(place, allow_cpu_fallback=True))
    pm.seed(1)
    result = runner.run_one(adapter, str(case), OPTIONS)
    assert result["status"] == "pass", result["message"]
