# Tables of several pages, and ways to update them while a snapshot is read, for tests.
import numpy as np

from one_parameter import KINDS, library

ROWS, WIDTH = 700, 9  # several pages of 4096 bytes in each array
AVERAGES = [{"scheme": "window", "window_min": 2, "window_max": 4}, {"scheme": "exponential", "decay": 0.9}]
PIECES = 37  # in which a state is read; none ends where a page does


def generator(seed):
    return np.random.default_rng(list(seed.encode()))


def dense(step):
    return generator(f"dense {step}").standard_normal((ROWS, WIDTH))


def some_rows(step):
    random = generator(f"rows {step}")
    return random.integers(0, ROWS, 30), random.standard_normal((30, WIDTH))


CHANGES = {
    "dense": lambda one, step: one.update(dense(step)),
    "rows": lambda one, step: one.update_rows(*some_rows(step)),
    "delta": lambda one, step: one.apply_delta(dense(step), 0.5),
    "read": lambda one, step: (one.rows(some_rows(step)[0]), one.parameter()),
    "numbers": lambda one, step: (one.set_pass(step), one.set_learning_rate(0.01)),
    "no rows": lambda one, step: one.update_rows([], np.zeros((0, WIDTH))),
}


def made(kind, **fields):
    one = library(kind, dense(-1), KINDS[kind], None, const_lr={"learning_rate": 0.1}, **fields)
    return one
