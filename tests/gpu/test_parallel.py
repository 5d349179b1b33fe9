"""tests/devices/test_parallel.py on GPUs."""

import pytest

import paddle_mini as pm
import replicas
from devices.test_parallel import *  # noqa: F403


@pytest.fixture(autouse=True)
def on_gpus(three_gpus, monkeypatch):
    monkeypatch.setattr(replicas, "kind", pm.CUDAPlace)
