"""place: every operator has a device and a kernel, or the error lists those that exist."""

import numpy as np
import pytest

import paddle_mini as pm
from descriptions import STRING, op, program, var
from paddle_mini import _core


def run(device="", dtype="float32"):
    attrs = [("op_device", STRING, device)] if device else []
    handle = program(
        [var("x", [2], dtype, need_check_feed=True), var("y", [2], dtype)], [op("relu", {"X": ["x"]}, {"Out": ["y"]}, *attrs)]
    )
    (value,) = _core.Executor("cpu").run(_core.Signature(handle, ("x",), ("y",)), _core.Scope(), (np.array([-1, 1], dtype),))
    return value.tolist()


def test_the_device_that_is_there():
    assert run() == run("cpu") == [0, 1]


@pytest.mark.parametrize(
    "device, words",
    [
        ("gpu:0", "'gpu:0' is not available"),
        ("gpu:999", "'gpu:999' is not available"),
        ("../../x", "not a device"),
        ("tpu", "not a device"),
    ],
)
def test_a_device_that_is_not_there(device, words):
    with pytest.raises(pm.DeviceError, match=words):
        run(device)


def test_no_kernel_for_the_dtype():
    with pytest.raises(pm.OpError, match="no kernel for int64 on cpu; there are kernels for float32, float64"):
        run(dtype="int64")


def test_executor_on_a_device_that_is_not_there():
    with pytest.raises(pm.DeviceError, match="gpu:0"):
        pm.Executor(pm.CUDAPlace(0))
