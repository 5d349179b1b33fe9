"""Loops that several tests run."""

import numpy as np

import paddle_mini as pm

L = pm.layers


def count(n):
    return np.array([n], "int64")


def power_loop(x, w, n):
    i = L.fill_constant([1], "int64", 0)
    _, h = L.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, L.tanh(L.matmul(h, w))], [i, x])
    return h


def doubled_in_a_loop(x, steps=3):
    """Doubles x in each step, in place: the loop's block is planned separately."""
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", steps)
    below = L.less_than(i, n)
    with L.While(below).block():
        L.assign(L.scale(x, scale=2.0), output=x)
        L.increment(i)
        L.assign(L.less_than(i, n), output=below)
    return x
