"""The programs of the examples, read and written again. Those of the book are in tests/io/test_saved_again.py, those of
the experiments in test_averaging_examples.py."""

import importlib
import pathlib

import numpy as np
import pytest

from programs_that_ran import programs_that_run
from saved_again import assert_the_same_when_saved_again

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def train_digits(digits, tmp_path):
    model = digits.Model(digits.AVERAGES)
    model.start(0)
    x = np.random.RandomState(0).rand(32, 64).astype("float32")
    model.step(x, np.arange(32)[:, None] % 10)
    model.errors(x, np.arange(32) % 10)


def train_clicks(clicks, tmp_path):
    clicks.main(["--chunks", "1", "--batch", "4096", "--out", str(tmp_path / "clicks")])


@pytest.mark.parametrize("name, train", [("digits", train_digits), ("cluster/clicks", train_clicks)])
def test_programs_are_the_same_when_saved_again(monkeypatch, tmp_path, name, train):
    path = EXAMPLES / name
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.syspath_prepend(str(path.parent))
    with programs_that_run() as ran:
        train(importlib.import_module(path.name), tmp_path)
    assert len(ran) >= 3, "the programs that begin, train and judge"
    for number, one in enumerate(ran):
        assert_the_same_when_saved_again(one.program, one.values, [one.feed], one.fetches, tmp_path / str(number))
