"""A child of fork() can't use the devices of its parent: it gets an error, and never waits."""

import subprocess
import sys

import pytest

BEGIN = """
import os, signal, sys
import numpy as np
import paddle_mini as pm
signal.alarm(60)
x = pm.layers.data("x", [-1, 2])
y = pm.layers.fc(x, 3)
place = pm.EmulatedPlace(0)
exe, scope = pm.Executor(place), pm.global_scope()
exe.run(pm.default_startup_program())
def run(exe):
    return exe.run(pm.default_main_program(), {"x": np.ones((2, 2), "float32")}, [y])[0].sum()
before = run(exe)
def refused(call):
    try:
        call()
    except pm.DeviceError as error:
        assert "forked" in str(error), error
    else:
        raise AssertionError("was not refused")
def child():
    refused(lambda: run(exe))
    refused(lambda: run(pm.Executor(place)))
    refused(lambda: scope.get("fc_0.w_0"))
    refused(lambda: pm.Executor(pm.EmulatedPlace(1)).run(pm.default_startup_program(), scope=pm.Scope()))
    host, values = pm.Executor(pm.CPUPlace()), pm.Scope()
    host.run(pm.default_startup_program(), scope=values)
    assert host.run(pm.default_main_program(), {"x": np.ones((2, 2), "float32")}, [y], values)[0].shape == (2, 3)
"""
FORK = """
pid = os.fork()
if not pid:
    child()
    sys.exit(7)  # with all destructors
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
"""
MULTIPROCESSING = """
import multiprocessing
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
assert process.exitcode == 0
"""


@pytest.mark.parametrize("way", [FORK, MULTIPROCESSING], ids=["fork", "multiprocessing"])
def test_a_child_is_told(way):
    script = BEGIN + way + "assert run(exe) == before\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
