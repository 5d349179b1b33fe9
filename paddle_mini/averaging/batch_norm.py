# Statistics of batch normalization for averaged parameters, from batches of data.
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._core import ProgramError, Scope
from ..executor import Executor
from ..operator import Operator
from ..program import Program

TYPES = ("batch_norm", "sync_batch_norm")


def moving_statistics(program: Program) -> list[str]:
    """Names of the moving mean and variance of every batch normalization, in order; without those that training reads
    too (use_global_stats, and leave_frozen)."""
    names = [op.input(port)[0] for op in _operators(program) for port in ("Mean", "Variance")]
    if not names:
        raise ProgramError("this program has no batch normalization to estimate statistics for")
    return names


def leave_frozen(program: Program, training: Program) -> None:
    """Makes batch normalizations of `program` that are frozen in the training program (is_test) read their statistics as given:
    training reads these too."""
    ops = _operators(training)
    written = {op.input("Mean")[0] for op in ops if not op.attr("is_test", False)}
    frozen = {op.input("Mean")[0] for op in ops} - written
    for op in _operators(program):
        if op.input("Mean")[0] in frozen:
            op.set_attr("use_global_stats", True)


def batch_statistics(
    exe: Executor, program: Program, names: list[str], data: Iterable[Mapping[str, Any]], scope: Scope
) -> dict[str, np.ndarray]:
    """The mean over all batches of the mean and the biased variance that each batch has at every batch normalization,
    float64, by the names of moving_statistics (Izmailov et al. 2018, section 3.2).

    program: for testing; reads averaged parameters. data: feeds, batch by batch. Moving statistics and all else in the
    scope stay as they are. Dropout is off.
    """
    measuring = program.clone()
    ops = _operators(measuring)
    for number, op in enumerate(ops):
        op.set_attr("is_test", False)
        # The moving statistics of training are renamed to variables that are not read.
        for port in ("MeanOut", "VarianceOut"):
            op.set_output(port, _unused(measuring, op.output(port)[0], f"batch_norm_{number}.{port}@UNUSED"))
    fetches = [op.output(port)[0] for op in ops for port in ("SavedMean", "SavedVariance")]
    sums, batches = {name: np.zeros(1) for name in names}, 0
    for feed in data:
        found = [value.astype("float64") for value in exe.run(measuring, feed=feed, fetch_list=fetches, scope=scope)]
        for i, op in enumerate(ops):
            mean, variance = names[2 * i : 2 * i + 2]
            sums[mean] = sums[mean] + found[2 * i]
            # SavedVariance is 1 / sqrt(variance + epsilon).
            sums[variance] = sums[variance] + np.maximum(found[2 * i + 1] ** -2 - op.attr("epsilon", 1e-5), 0)
        batches += 1
    if batches == 0:
        raise ProgramError("the data hold no batch to estimate statistics from")
    return {name: total / (batches * names.count(name)) for name, total in sums.items()}


def _operators(program: Program) -> list[Operator]:
    ops = [op for block in program.blocks for op in block.ops]
    return [op for op in ops if op.type in TYPES and not op.attr("use_global_stats", False)]


def _unused(program: Program, like: str, name: str) -> str:
    block = program.global_block()
    return block.create_var(name, shape=block.vars[like].shape, dtype=block.vars[like].dtype, stop_gradient=True).name
