# Processes that form a clique of NCCL, each with one GPU: forked by a process that has used no device.

import os
import pathlib
import sys
import time
import traceback

import numpy as np

import paddle_mini as pm
from paddle_mini import _core

DTYPES = ("float32", "float64", "float16", "int32", "int64", "bfloat16")
SUMS = [(name, f"{name}@SUM") for name in DTYPES]


def values(rank):
    """Arrays on the GPU of a rank; those of bfloat16 are computed, as NumPy has none."""
    random = np.random.RandomState(rank)
    return {name: (random.randn(3, 700) * 100).astype(name) for name in DTYPES[:-1]}


def scope_of(rank):
    """A scope with values() on the GPU, and some of bfloat16."""
    scope, main = pm.Scope(), pm.Program()
    with pm.program_guard(main, pm.Program()):
        block = main.global_block()
        for name, value in values(rank).items():
            block.create_var(name, shape=value.shape, dtype=name, persistable=True)
            scope.set(name, value)
        block.create_var("bfloat16", shape=[3, 700], dtype="bfloat16", persistable=True)
        block.append_op("cast", {"X": "float32"}, {"Out": "bfloat16"}, {"in_dtype": "float32", "out_dtype": "bfloat16"})
        for name in DTYPES[:-1]:
            block.append_op("assign", {"X": name}, {"Out": name})
    pm.Executor(pm.CUDAPlace(rank)).run(main, scope=scope)
    assert {scope.place(name) for name in DTYPES} == {f"gpu:{rank}"}
    return scope


def clique(rank, size, folder, seconds=20.0):
    """Joins the clique of this folder."""
    path = pathlib.Path(folder, "id")
    if rank == 0:
        path.with_suffix(".new").write_bytes(_core.new_clique_id())
        path.with_suffix(".new").rename(path)
    while not path.exists():
        time.sleep(0.001)
    return _core.Clique(f"gpu:{rank}", path.read_bytes(), rank, size, seconds)


def fork(size, work):
    """Runs work(rank) in so many processes at the same time; returns how each has ended: 0, or minus the signal."""
    processes = []
    for rank in range(size):
        processes.append(os.fork())
        if processes[-1] == 0:
            try:
                work(rank)
                sys.stdout.flush()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
    ended = [os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in processes]
    assert 1 not in ended, "a process has printed an error"
    return ended


def refused(call, *args):
    """The message of a DeviceError."""
    try:
        call(*args)
    except pm.DeviceError as error:
        return str(error)
    raise AssertionError("it was not refused")
