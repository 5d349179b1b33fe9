"""A few mutants of every kind; `make fuzz` makes any number of them."""

import pathlib
import subprocess
import sys

import pytest

FUZZ = pathlib.Path(__file__).with_name("fuzz.py")
MUTANTS = {
    "programs": 600,
    "parameters": 150,
    "states": 600,
    "calls": 100,
    "checkpoints": 60,
    "messages": 400,
    "optimizers": 200,
    "onnx": 150,
}


def fuzz(*words):
    return subprocess.run([sys.executable, FUZZ, *map(str, words)], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("kind", MUTANTS)
def test_mutants(kind):
    done = fuzz("--kind", kind, "--mutants", MUTANTS[kind], "--seed", 7)
    assert done.returncode == 0, done.stdout + done.stderr
    words = done.stdout.split()
    accepted, refused = (int(words[words.index(word) - 1].replace(",", "")) for word in ("accepted", "refused"))
    # If not, the mutations are too large, or too small.
    assert accepted + refused == MUTANTS[kind] and accepted > 10 and refused > 10


def test_a_mutant_is_made_again():
    first, second = (fuzz("--seed", 7, "--replay", "programs", 11) for _ in range(2))
    assert first.returncode == 0 and first.stdout == second.stdout != ""


DEFECTS = {
    "signal": ("os.kill(os.getpid(), signal.SIGSEGV)", "died of SIGSEGV"),
    "exception": ("raise IndexError(3)", "IndexError: 3"),
    "silence": ("time.sleep(60)", "silent for"),
}


@pytest.mark.parametrize("defect, words", DEFECTS.values(), ids=DEFECTS)
def test_defects_are_found(defect, words, tmp_path):
    """A mutator whose fifth mutant shows a defect; those after it are tried too."""
    module = tmp_path / "mutated_nothing.py"
    module.write_text(
        "import os, signal, time\n\nclass Mutants:\n    def __init__(self, folder):\n        self.count = folder / 'count'\n\n"
        "    def run(self, rng):\n        number = int(self.count.read_text()) if self.count.exists() else 0\n"
        f"        self.count.write_text(str(number + 1))\n        if number == 4:\n            {defect}\n"
        "        return number % 2 == 0\n"
    )
    copy = tmp_path / "fuzz.py"
    copy.write_text(
        FUZZ.read_text()
        .replace("KINDS = {", 'KINDS = {"nothing": "mutated_nothing", ')
        .replace("SILENCE = 10.0", "SILENCE = 1.0")
    )
    done = subprocess.run(
        [sys.executable, copy, "--kind", "nothing", "--mutants", "9"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1 and words in done.stdout, done.stdout + done.stderr
    assert "8 mutants" in done.stdout and "--seed 1 --replay nothing 4: " in done.stdout
