"""Executors of a device that end while it still works for them."""

import subprocess
import sys

import numpy as np

import paddle_mini as pm

THREADS = """
import threading
import numpy as np, paddle_mini as pm

place, scope = pm.EmulatedPlace(0), pm.Scope()
pm.devices.emulate(0, latency=2e-4)
x = pm.layers.data("x", [-1, 8])
y = pm.layers.fc(pm.layers.fc(x, 8), 8)
pm.Executor(place).run(pm.default_startup_program(), scope=scope)
main = pm.default_main_program()

def work():
    for _ in range(200):
        pm.Executor(place).run(main, {"x": np.ones((4, 8), "float32")}, [y], scope)

threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
"""


def test_other_threads_run_in_its_scope():
    ended = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0 and ended.stdout == "done\n", ended.stderr


def test_its_work_is_done(place):
    pm.devices.emulate(0, latency=0.02)
    counter = pm.layers.create_global_var([1000], 0.0, "float32", persistable=True, name="counter")
    pm.layers.assign(counter + 1.0, counter)
    pm.Executor(place).run(pm.default_startup_program())
    for _ in range(5):
        pm.Executor(place).run(pm.default_main_program())
    np.testing.assert_array_equal(pm.global_scope().get("counter"), 5.0)


def test_its_scope_ends_too(place):
    pm.devices.emulate(0, latency=0.02)
    before = pm.devices.memory_use(place).in_use
    counter = pm.layers.create_global_var([1000], 0.0, "float32", persistable=True, name="counter")
    pm.layers.assign(counter + 1.0, counter)
    scope = pm.Scope()
    pm.Executor(place).run(pm.default_startup_program(), scope=scope)
    pm.Executor(place).run(pm.default_main_program(), scope=scope)
    assert pm.devices.memory_use(place).in_use > before
    del scope
    assert pm.devices.memory_use(place).in_use == before
