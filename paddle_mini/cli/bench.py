# paddle-mini bench: times runs of a saved program.
from __future__ import annotations

import argparse
import time

import numpy as np

import paddle_mini as pm

from ..feeds import numpy_dtype
from .options import EPILOG, add_json, add_program_options, positive, print_json, shape
from .programs import fetches_of, read_feeds

WARM_UP = 3
"""Runs before the measured ones: the first one makes the plan."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_program_options(parser)
    parser.add_argument(
        "--shape", action="append", default=[], type=shape, metavar="NAME=2,3", help="feed zeros of this shape; may be repeated"
    )
    parser.add_argument("--runs", type=positive, default=100, metavar="N", help="how many runs are measured (default 100)")
    parser.add_argument("--threads", type=positive, metavar="N", help="default: all CPUs of the process")
    parser.add_argument("--profile", action="store_true", help="print the time of each operator as well, from further runs")
    add_json(parser)
    parser.set_defaults(command=_bench)


def _bench(arguments: argparse.Namespace) -> None:
    scope = pm.Scope()
    program = pm.io.load_program(arguments.prefix, scope)
    fetches, feed = fetches_of(program, arguments.fetch), read_feeds(arguments.feed)
    variables = program.global_block().vars
    for name, dims in arguments.shape:
        if name not in variables:
            raise pm.ProgramError(f"--shape: '{name}' is not a variable of the program")
        feed[name] = np.zeros(dims, numpy_dtype(variables[name].dtype))
    exe = pm.Executor(pm.CPUPlace(), max_loop_steps=arguments.max_loop_steps, threads=arguments.threads)

    def seconds() -> float:
        begin = time.perf_counter()
        exe.run(program, feed, fetches, scope)
        return time.perf_counter() - begin

    for _ in range(WARM_UP):
        seconds()
    times = np.sort([1e3 * seconds() for _ in range(arguments.runs)])
    facts = {"runs": len(times), "min ms": times[0], "median ms": np.median(times), "p99 ms": np.quantile(times, 0.99)}
    if arguments.json:
        return print_json({name: float(value) for name, value in facts.items()})
    print(f"{len(times)} runs: " + ", ".join(f"{name[:-3]} {facts[name]:.4g} ms" for name in list(facts)[1:]))
    if arguments.profile:
        with pm.profile() as found:
            for _ in range(arguments.runs):
                seconds()
        print(found.table())
    return None
