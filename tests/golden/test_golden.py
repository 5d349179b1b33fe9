"""Programs made and run by PaddlePaddle 2.6.2, replayed here: its numbers, its files, and its malformed cases."""

import argparse
import json
import pathlib

import numpy as np
import pytest

import paddle_mini as pm
from golden import adapter, runner
from split_loops import MANY, with_each
from thorough import some
from unwritten import under_each

CASES = sorted(path.parent for path in (pathlib.Path(__file__).parent / "cases").glob("*/case.json"))
OPTIONS = argparse.Namespace(exact=False, lax_dtype=False, lax_shape=False, no_lod=False, no_startup=False)

# runner.py leaves closing its files to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

# Cases with operators, or control flow, that are not here yet. A case that can run must leave this list.
NOT_YET_COVERED = set()


def missing_operators(case):
    meta = json.loads((case / "case.json").read_text())
    known = set(pm._core.op_types()) | {"save", "save_combine"}  # the two that only name what wrote the files
    programs = [pm._core.decode_program(path.read_bytes()) for path in case.glob("*.pb") if meta["kind"] != "bad"]
    used = {op["type"] for program in programs for block in program["blocks"] for op in block["ops"]}
    return (used | (set(meta["ops"]) if meta["kind"] != "bad" else set())) - known


class Recorded:
    """The adapter, and the bits of all values that it gives."""

    def __init__(self):
        self.bits = []

    def __getattr__(self, name):
        return getattr(adapter, name)

    def run(self, *arguments):
        return [self.note(value) for value in adapter.run(*arguments)]

    def get_var(self, name):
        return self.note(adapter.get_var(name))

    def note(self, value):
        array, lod = value if isinstance(value, tuple) else (value, [])
        numbers = np.asarray(array)
        self.bits.append((numbers.dtype.str, numbers.shape, numbers.tobytes(), lod))
        return value


def replayed(case):
    """The bits of its values, which must be PaddlePaddle's numbers."""
    recorded = Recorded()
    pm.seed(1)
    result = runner.run_one(recorded, str(case), OPTIONS)
    assert result["status"] == "pass", result["message"]
    if result.get("error"):
        assert len(result["error"].splitlines()) <= 12
    return recorded.bits


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in NOT_YET_COVERED], ids=lambda c: c.name)
def test_case(case):
    first, second = under_each(lambda: replayed(case))
    assert first == second, "results hold what was in memory before"


@pytest.mark.parametrize("case", some([c for c in CASES if not c.name.startswith(("bad_", "saved_"))], 3), ids=lambda c: c.name)
def test_numbers_of_threads(case):
    first, *others = with_each(MANY, lambda: replayed(case))
    assert first and all(found == first for found in others)


def test_the_list_of_what_is_not_covered_is_true():
    lacking = {case.name: sorted(missing_operators(case)) for case in CASES if missing_operators(case)}
    assert set(lacking) == NOT_YET_COVERED, f"{len(lacking)} of {len(CASES)} cases lack operators: {lacking}"
