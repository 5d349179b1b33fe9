"""Loops of fewer items than threads: any of the threads may take them."""

import numpy as np

import paddle_mini as pm
from split_loops import threads


def test_two_lines_of_a_fourier_transform():
    x = pm.layers.data("x", [2, 600])
    out, exe = pm.layers.rfft(x), pm.Executor(pm.CPUPlace())
    value = np.random.default_rng(0).standard_normal((2, 600)).astype("float32")
    with threads(8):
        for _ in range(500):
            (found,) = exe.run(feed={"x": value}, fetch_list=[out])
    np.testing.assert_allclose(found, np.fft.rfft(value), 1e-4, 1e-4)
