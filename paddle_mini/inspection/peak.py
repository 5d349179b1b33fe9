# The peak of this machine's CPU, measured: a large matrix product and a large copy.
from __future__ import annotations

from functools import cache
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..executor import Executor
from ..program import Program
from ..scope import Scope

_SIDE = 1024
_ELEMENTS = 1 << 24
_REPETITIONS = 5


class Peak(NamedTuple):
    gflops: float
    """10^9 float32 operations for each second, in a product of 1024 x 1024 matrices."""
    gbytes: float
    """10^9 bytes for each second, in reading and writing arrays of 64 MiB."""


@cache
def measured_peak() -> Peak:
    """The fastest of a few runs; measured once in a process, with the number of threads that it has then."""
    product, scaled = _seconds("matmul", _SIDE * _SIDE, [_SIDE, _SIDE]), _seconds("scale", _ELEMENTS, [_ELEMENTS])
    return Peak(2e-9 * _SIDE**3 / product, 8e-9 * _ELEMENTS / scaled)


def _seconds(op_type: str, elements: int, shape: list[int]) -> float:
    program, scope = Program(), Scope()
    block = program.global_block()
    for name in ("x", "y"):
        block.create_var(name, dtype="float32", shape=shape, persistable=True)
        scope.set(name, np.full(elements, 0.5, "float32").reshape(shape))
    block.create_var("out", dtype="float32", shape=shape, persistable=True)
    inputs = {"X": "x", "Y": "y"} if op_type == "matmul" else {"X": "x"}
    block.append_op(op_type, inputs, {"Out": "out"}, {"scale": 2.0} if op_type == "scale" else {})
    exe, times = Executor(), []
    for _ in range(_REPETITIONS):
        begin = perf_counter()
        exe.run(program, scope=scope)
        times.append(perf_counter() - begin)
    return min(times)
