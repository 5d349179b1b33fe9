"""A loop that tests of control flow run, and its number of steps."""
import numpy as np

import paddle_mini as pm

L = pm.layers


def count(n):
    return np.array([n], "int64")


def power_loop(x, w, n):
    i = L.fill_constant([1], "int64", 0)
    _, h = L.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, L.tanh(L.matmul(h, w))], [i, x])
    return h
