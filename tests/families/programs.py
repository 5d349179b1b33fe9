# Small programs around operators that work on arrays, blocks and branches.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import paddle_mini as pm


def run(build: Callable[..., Any], **feeds: np.ndarray) -> Any:
    """The value of what build(variables of the feeds) returns, in a program of its own."""
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        given = {name: pm.layers.data(name, shape=list(value.shape), dtype=str(value.dtype)) for name, value in feeds.items()}
        out = build(**given)
    return pm.Executor(pm.CPUPlace()).run(main, feed=feeds, fetch_list=[out], scope=pm.Scope())[0]


def one(value: int) -> np.ndarray:
    return np.array([value], "int64")
