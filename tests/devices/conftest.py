"""The place for these tests. tests/gpu runs the same tests on a GPU."""

import pytest

import paddle_mini as pm


@pytest.fixture
def place():
    pm.devices.emulate(0)
    yield pm.EmulatedPlace(0)
    pm.devices.emulate(0)
