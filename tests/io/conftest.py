"""A run with checkpoints, for the tests of checkpoints."""

import pytest

from training_run import Run, saved_twice


@pytest.fixture
def run():
    made = Run()
    made.train(range(2))
    return made


@pytest.fixture
def saved(tmp_path, run):
    return saved_twice(tmp_path / "run", run)
