# GradientStep: the step of modes async and sync, where servers optimize: exchange, forward and backward.
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._core import ProgramError, Scope, printable, set_in_parts
from ...executor import Executor
from ...optimizer.config import new_config
from ...program import Program
from ...scope import LoDTensor, SelectedRows
from ...variable import name_of
from ..shards import ParameterInfo
from .given_rates import GivenRates
from .remote_parameters import Gradient, Pulled, RemoteParameter, Version
from .steps_ahead import StepsAhead
from .table_rows import TableRows, rows_of_all
from .trainer_process import TrainerProcess
from .transpile import Trained, Transpiled


def remote_parameters(transpiled: Transpiled) -> list[RemoteParameter]:
    """The parameters on the servers: those that they train, and the constant ones, of which all trainers take the
    initialiser's values."""
    found = []
    for one in transpiled.trained:
        info, config = ParameterInfo(one.name, one.shape, one.dtype, one.sparse, one.whole), one.config
        if not one.sparse:
            config.ClearField("row_width")  # blocks end anywhere in a row
        found.append(RemoteParameter(info, config.SerializeToString(), bool(config.averaging)))
    return found + fixed(transpiled.program, transpiled.frozen)


def fixed(program: Program, names: Sequence[str]) -> list[RemoteParameter]:
    """Constant parameters; those of types that servers do not support are local to each trainer."""
    config = new_config({"optimizer": "SGD", "lr_policy": "Const", "const_lr": {"learning_rate": 0.0}})
    found = [program.global_block().var(name) for name in names]
    return [
        RemoteParameter(ParameterInfo(var.name, var.shape, var.dtype), config.SerializeToString(), fixed=True)
        for var in found
        if var.dtype in ("float32", "float64")
    ]


class GradientStep:
    """A step begins with one exchange: it sends the gradients of the step before, and gets the parameters. sync: those
    of which all trainers have made the step before; async: the current ones. steps() makes it beside the computation."""

    def __init__(self, process: TrainerProcess, transpiled: Transpiled, exe: Executor, scope: Scope, rates: GivenRates):
        self._process, self._exe, self._scope, self._rates = process, exe, scope, rates
        self.turn = process.membership.turn
        self._program, self._trained, self._left_out = transpiled.program, transpiled.trained, transpiled.left_out
        self._sync = process.settings.mode == "sync"
        self._tables = {one.name: TableRows(one, exe) for one in self._trained if one.ids is not None}
        self._dense = [one.name for one in self._trained if one.name not in self._tables]
        self._step = 0
        self._ahead: StepsAhead | None = None

    def run(self, feed: Mapping[str, Any], fetch_list: Sequence[Any], return_numpy: bool) -> list[Any]:
        self._settle_ahead()
        self._rates.note_batch()
        self.take(self.begin_exchange([feed])())
        results, gradients = self.compute(feed, fetch_list, return_numpy)
        self.stage(gradients, self.pass_number)
        return results

    def steps(
        self, feeds: Iterable[Mapping[str, Any]], fetch_list: Sequence[Any], merged: int, return_numpy: bool
    ) -> Iterator[list[Any]]:
        """See Trainer.steps(); in mode async."""
        self._settle_ahead()
        self._ahead = StepsAhead(self, merged, fetch_list, return_numpy)
        return self._ahead.results(feeds)

    @property
    def pass_number(self) -> int:
        """The pass over the data of what is read now."""
        return self._process.pass_number

    @property
    def versions(self) -> Sequence[Version]:
        """The version of the parameters that the last exchange got, for each server."""
        return self._process.parameters.versions

    def begin_exchange(self, feeds: Sequence[Mapping[str, Any]]) -> Callable[[], Pulled]:
        """An exchange that sends what is staged now and gets the parameters for these batches, to be called by any thread."""
        sources = {table.source: table for table in self._tables.values()}
        found = {source: rows_of_all([table.rows_of(feed) for feed in feeds]) for source, table in sources.items()}
        rows = {name: found[table.source] for name, table in self._tables.items()}
        return partial(self._process.exchange, self._dense, rows, self._process.take_staged())

    def take(self, pulled: Pulled) -> None:
        """Writes parameters into the scope."""
        set_in_parts(self._scope, [(name, shape, blocks) for name, (shape, blocks) in pulled.blocks.items()])
        for name, (rows, values) in pulled.rows.items():
            self._tables[name].write(self._scope, rows, values)

    def compute(
        self, feed: Mapping[str, Any], fetch_list: Sequence[Any], return_numpy: bool
    ) -> tuple[list[Any], dict[str, Gradient]]:
        """The values of fetch_list, and the gradients."""
        self._rates.require_unchanged()
        fetches = [name_of(item) for item in fetch_list]
        for name in fetches:
            if name in self._left_out:
                raise ProgramError(f"fetch '{printable(name)}': only the optimizer computes it, which runs on the servers")
        gradients = [one.gradient for one in self._trained]
        results = self._exe.run(self._program, feed, fetches + gradients, self._scope, return_numpy)
        found = {one.name: _gradient(one, result) for one, result in zip(self._trained, results[len(fetches) :])}
        return results[: len(fetches)], found

    def stage(self, gradients: Mapping[str, Gradient], pass_number: int, versions: Sequence[Version] | None = None) -> None:
        """Leaves gradients to the next exchange. versions: of the parameters that they were computed from; None: those of
        the last exchange."""
        # Restarted servers may be behind; all trainers make the step of the most advanced server.
        step = max(version.number for version in self.versions) if self._sync else self._step
        self._process.stage(gradients, step, pass_number, versions)
        self._step = step + 1

    def flush(self) -> None:
        """Sends what the last step left to the next one."""
        self.settle()

    def settle(self) -> None:
        """Returns when the gradients of all batches that were read are applied, so that nothing is lost when this trainer
        leaves."""
        self._settle_ahead()
        self.send_staged()

    def begin_again(self) -> None:
        """Does nothing: each step begins with the servers' values."""

    def send_staged(self) -> None:
        """Returns when the staged gradients are applied or dropped."""
        self._process.settle()

    def _settle_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead.settle()


def _gradient(one: Trained, result: Any) -> Gradient:
    if one.sparse:
        assert isinstance(result, SelectedRows)
        return np.ascontiguousarray(result.rows, np.int64), np.ascontiguousarray(result.values)
    value = result.array if isinstance(result, LoDTensor) else result
    return np.asarray(value).reshape(one.shape)
