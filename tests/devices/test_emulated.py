"""The contract of an emulated device: separate memory with a limit, and a link with transfer times."""

import subprocess
import sys
import time

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core

PLACE = pm.EmulatedPlace(0)


@pytest.fixture(autouse=True)
def unlimited(place):
    pass


def filled(scope, name="w", count=1000):
    """A program that creates a variable of this many floats."""
    program = pm.Program()
    block = program.global_block()
    block.create_var(name, dtype="float32", shape=[count], persistable=True)
    block.append_op("fill_constant", {}, {"Out": name}, {"shape": [count], "value": 2.0, "dtype": 5})
    return program


def test_memory_is_counted_and_given_back():
    before, scope = pm.devices.memory_use(PLACE, forget_peak=True), pm.Scope()
    pm.Executor(PLACE).run(filled(scope, count=10**6), scope=scope)
    use = pm.devices.memory_use(PLACE)
    assert use.in_use - before.in_use >= 4 * 10**6 and use.peak >= use.in_use and use.total == 1 << 34
    scope.erase("w")
    assert pm.devices.memory_use(PLACE).in_use == before.in_use


def test_the_host_is_stopped_when_it_follows_an_address_of_the_device():
    code = """
import ctypes, paddle_mini as pm
from paddle_mini import _core
memory = _core.DeviceMemory("emulated:0", 64)
ctypes.string_at(memory.address, 1)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert ended.returncode == -11, ended


def test_a_device_is_not_given_the_memory_of_another():
    memory = _core.DeviceMemory("emulated:1", 64)
    assert _core.device_address("emulated:1", memory.address) < 1 << 48
    for foreign in (memory.address, 4096, id(memory)):
        with pytest.raises(pm.DeviceError, match="not of emulated:0"):
            _core.device_address("emulated:0", foreign)


def test_a_link_takes_its_time():
    pm.devices.emulate(0, bandwidth=2e8, latency=0.01)
    x = pm.layers.data("x", [10**6])
    y = pm.layers.scale(x, scale=2.0)
    exe, value = pm.Executor(PLACE), np.ones(10**6, "float32")
    exe.run(feed={"x": value}, fetch_list=[y])
    start = time.perf_counter()
    exe.run(feed={"x": value}, fetch_list=[y])
    assert time.perf_counter() - start > 2 * (4e6 / 2e8 + 0.01) - 0.003


def test_too_little_memory_for_variables():
    scope = pm.Scope()
    scope.set("before", np.ones(3, "float32"))
    pm.devices.emulate(0, memory=pm.devices.memory_use(PLACE).in_use + 10**6)
    with pytest.raises(pm.DeviceError) as caught:
        pm.Executor(PLACE).run(filled(scope, count=10**6), scope=scope)
    assert "out of memory on emulated:0" in str(caught.value) and "'w' 3.81 MiB" in str(caught.value)
    assert scope.names() == ["before"]
    pm.Executor(PLACE).run(filled(scope, count=10**5), scope=scope)
    assert scope.get("w").sum() == 2e5


def test_too_little_memory_for_a_batch_names_the_operator_and_the_largest_holders():
    """The scope stays whole, and a smaller batch runs next."""
    x = pm.layers.data("x", [-1, 100])
    loss = pm.layers.mean(pm.layers.fc(pm.layers.fc(x, 1000, act="relu"), 500))
    pm.optimizer.SGD(0.1).minimize(loss)
    exe, scope = pm.Executor(PLACE), pm.global_scope()
    exe.run(pm.default_startup_program())
    pm.devices.emulate(0, memory=pm.devices.memory_use(PLACE).in_use + 4 * 10**6)
    before = {name: scope.get(name) for name in scope.names()}
    with pytest.raises(pm.DeviceError) as caught:
        exe.run(feed={"x": np.ones((1000, 100), "float32")}, fetch_list=[loss])
    message = str(caught.value)
    assert "out of memory on emulated:0" in message and "in op #" in message, message
    assert "'fc_0.tmp_0' 3.81 MiB" in message and "'fc_1.w_0' 1.91 MiB" in message, message
    assert len(message.splitlines()) <= 12
    assert all(np.array_equal(scope.get(name), value) for name, value in before.items())
    (value,) = exe.run(feed={"x": np.ones((50, 100), "float32")}, fetch_list=[loss])
    assert np.isfinite(value)


def test_what_can_not_be():
    for wrong in (dict(bandwidth=0), dict(bandwidth=-1), dict(latency=-1), dict(memory=-1), dict(staging=0)):
        with pytest.raises(pm.ProgramError):
            pm.devices.emulate(0, **wrong)
    with pytest.raises(pm.DeviceError, match="not available"):
        pm.devices.memory_use(pm.CUDAPlace(99))
    with pytest.raises(pm.DeviceError, match="cpu"):
        pm.devices.memory_use(pm.CPUPlace())
