"""Fixtures of the tests of the C interface."""

import pytest

from c_calls import Handles


@pytest.fixture
def handles():
    with Handles() as made:
        yield made
