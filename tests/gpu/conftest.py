"""The tests of tests/devices on a GPU, or on the emulation that PM_CUDA_LIBRARY names (make cuda-on-host)."""
import pytest

import paddle_mini as pm


@pytest.fixture
def place():
    if pm.devices.gpu_count() == 0:
        pytest.skip("there is no GPU")
    return pm.CUDAPlace(0)
