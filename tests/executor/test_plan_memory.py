"""The memory of kept plans: a program that is run on ever more shapes keeps the plans that it used last, up to a limit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

INFER_ON_MANY_SIZES = """
import os
import numpy as np
import paddle_mini as pm

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20

main, start = pm.Program(), pm.Program()
with pm.program_guard(main, start):
    x = pm.layers.data("x", [-1, 3, -1, -1])
    h = x
    for _ in range(6):
        h = pm.layers.conv2d(h, 8, 3, padding=1, act="relu")
    y = pm.layers.reduce_mean(h, dim=[2, 3])
scope, executor = pm.Scope(), pm.Executor()
executor.run(start, scope=scope)
test = main.clone(for_test=True)
before = resident()
for i in range(4000):
    image = np.zeros((1, 3, 5 + i % 64, 5 + i // 64), "float32")
    executor.run(test, {"x": image}, [y], scope=scope)
print(resident() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not say how much memory is resident")
@pytest.mark.skipif("san" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer keeps freed memory")
def test_4000_sizes_stay_within_the_limit():
    ran = subprocess.run([sys.executable, "-c", INFER_ON_MANY_SIZES], check=True, capture_output=True, text=True, timeout=300)
    assert int(ran.stdout) < 160, f"{ran.stdout} MB; plans may take 128 MB"
