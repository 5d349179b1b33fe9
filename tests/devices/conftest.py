"""The place that these tests run on. tests/gpu runs the same ones on a GPU."""

import pytest

import paddle_mini as pm


@pytest.fixture
def place():
    pm.devices.emulate(0)
    yield pm.EmulatedPlace(0)
    pm.devices.emulate(0)
