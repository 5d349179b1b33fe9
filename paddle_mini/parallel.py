# DataParallel: one training program on several devices of one machine, each with its part of every batch.
from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core, dtypes
from ._core import Error, OpError, ProgramError, ShapeError, printable
from .errors import shown
from .executor import Executor
from .guards import default_main_program
from .optimizer.replica_mean import ReplicaMean
from .optimizer.wrapper import OptimizerWrapper
from .place import Place
from .program import Program
from .renamed import answers_names
from .replica_threads import ReplicaThreads
from .roles import LOSS, OPTIMIZE
from .scope import LoDTensor, Scope
from .variable import Parameter, Variable

_SUM = "c_allreduce_sum"


@answers_names
class DataParallel:
    """Replicas of a training program, each on a place, with its own scope and thread.

    places: at least one, no two of them the same. allow_cpu_fallback: as of Executor. Each replica computes the
    gradients for its rows; all take the step with their mean, which is the gradient for the whole batch where the loss
    is a mean over rows. Parameters, what the optimizer keeps, and averages stay the same bits on all replicas: save,
    evaluate and look at statistics with scopes[0]. What layers keep for themselves, such as batch normalization's
    statistics, is each replica's own, and so are averages of that (ParameterAverage, buffers="average"). Operators
    whose seed is 0 draw from a generator that replica r begins with pm.seed's number + r; with a seed of their own they
    draw the same everywhere.
    Example:
        >>> replicas = pm.DataParallel([pm.EmulatedPlace(0), pm.EmulatedPlace(1)])
        >>> loss = pm.layers.mean(pm.layers.fc(pm.layers.data("x", [-1, 2]), 1))
        >>> ops, gradients = replicas.wrap(pm.optimizer.SGD(0.1)).minimize(loss)
        >>> replicas.run(pm.default_startup_program())
        []
        >>> losses, = replicas.run(feed={"x": np.ones((4, 2), "float32")}, fetch_list=[loss])
        >>> len(losses)  # one for each replica
        2
        >>> pm.io.save_parameters("model.pdiparams", pm.default_main_program(), replicas.scopes[0])
    """

    def __init__(self, places: Sequence[Place], allow_cpu_fallback: bool = False):
        if not isinstance(places, (list, tuple)) or not places or not all(isinstance(one, Place) for one in places):
            raise ProgramError(f"DataParallel({shown(places)}): give a list of places, such as [CUDAPlace(0), CUDAPlace(1)]")
        twice = next((place for i, place in enumerate(places) if place in places[:i]), None)
        if twice is not None:  # each would wait for the other in the same queue
            raise ProgramError(f"DataParallel: {shown(twice)} is listed twice, but every replica needs its own device")
        self.places = tuple(places)
        self.scopes = tuple(Scope() for _ in places)
        self._threads = ReplicaThreads([place.name for place in places])
        self._executors = [
            _Replica(place, allow_cpu_fallback, self._threads.communicator, rank) for rank, place in enumerate(places)
        ]
        self._alone = Executor(places[0], allow_cpu_fallback=allow_cpu_fallback)
        self._turns = _core.ReplicaTurns([place.name for place in places])
        self._known: weakref.WeakKeyDictionary[Program, Any] = weakref.WeakKeyDictionary()

    def wrap(self, optimizer: Any) -> OptimizerWrapper:
        """The optimizer, with gradients that are the mean over all replicas: clipping, regularization, GradientMerge,
        LossScaling and averages inside see that. Averages may go around it too; GradientMerge and LossScaling are
        refused there. minimize raises ProgramError for sparse gradients."""
        return ReplicaMean(optimizer, len(self.places))

    def run(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Sequence[Variable | str] | None = None,
        return_numpy: bool = True,
    ) -> list[list[Any]]:
        """Runs a program once. Returns for each of fetch_list a list: the values of the replicas that ran it, in order.

        A program with an optimizer from wrap() runs on all replicas. Of a feed whose variable has -1 rows each gets an
        equal part, in order; what has a fixed shape goes to all. Any other program, such as startup, or one for
        testing, runs on the first replica, with the whole feed, and what it changes is copied to the others.
        Raises what Executor.run raises; ShapeError for rows that can't be shared evenly and for sequences; ProgramError
        for a program that trains without wrap(), or that names devices. When one replica fails the others stop too,
        its error is raised, and all scopes are as they were before.
        """
        program = default_main_program() if program is None else program
        if not isinstance(program, Program):
            raise ProgramError(f"run takes a Program, not {type(program).__name__}")
        try:
            with self._turns.turn():
                if self._sums(program):
                    feeds = self._shares(program, feed or {})
                    by_rank = self._threads.run(
                        lambda rank: self._executors[rank].run(program, feeds[rank], fetch_list, self.scopes[rank], return_numpy)
                    )
                    return [list(values) for values in zip(*by_rank)]
                values = self._alone.run(program, feed, fetch_list, self.scopes[0], return_numpy)
                self._copy(_written(program))
                return [[value] for value in values]
        except Error as error:
            raise error.with_traceback(None) from None

    def copy_from_first(self) -> None:
        """Copies all values of the first replica's scope to the others, after parameters were loaded into it."""
        self._copy(self.scopes[0].names())

    def check_equal(self, program: Program | None = None) -> None:
        """OpError, naming a variable of the training program that differs where all should have the same bits."""
        program = default_main_program() if program is None else program
        own = _own(program)
        for name in sorted(_persistable(program) - own):
            bits = [_bits(scope, name) for scope in self.scopes]
            for rank, found in enumerate(bits):
                if found != bits[0]:
                    raise OpError(f"'{printable(name)}' differs between replica 0 and replica {rank}")

    def random_state(self) -> list[str]:
        """The state of each replica's random generator, as Executor.random_state returns it."""
        return [executor.random_state() for executor in self._executors]

    def set_random_state(self, states: Sequence[str]) -> None:
        """Restores a random_state(), with the same bits."""
        if len(states) != len(self._executors):
            raise OpError(f"there are random states of {len(states)} replicas, these are {len(self._executors)}")
        for executor, state in zip(self._executors, states):
            executor.set_random_state(state)

    def _shares(self, program: Program, feed: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The feed of each replica."""
        if not isinstance(feed, Mapping):
            raise ProgramError(f"feed is of type {type(feed).__name__}, it must be a dict of values by name")
        count, variables = len(self.places), program.global_block().vars
        shares: list[dict[str, Any]] = [{} for _ in self.places]
        for name, value in feed.items():
            if isinstance(value, LoDTensor):
                if value.lod:
                    raise ShapeError(
                        f"feed '{printable(name)}' has sequences, which replicas can't share: their parts would not "
                        "weigh the same; pad them to a tensor with a mask"
                    )
                value = value.array
            var = variables.get(name)
            is_list = isinstance(value, (list, tuple))
            # Executor.run reports names that do not exist, and values without rows.
            if var is None or not var.shape or var.shape[0] != -1 or not (is_list or np.ndim(value)):
                parts = [value] * count
            else:
                rows = len(value) if is_list else len(np.asarray(value))
                if rows % count:
                    raise ShapeError(f"feed '{printable(name)}' has {rows} rows, which {count} replicas can't share evenly")
                each = rows // count
                parts = [value[rank * each : (rank + 1) * each] for rank in range(count)]
            for share, part in zip(shares, parts):
                share[name] = part
        return shares

    def _sums(self, program: Program) -> bool:
        """Whether the program adds up gradients of replicas."""
        handle = program.handle()
        known = self._known.get(program)
        if known is not None and known[0] is handle:
            return bool(known[1])
        ops = [op for block in program.blocks for op in block.ops]
        sums = any(op.type == _SUM for op in ops)
        if not sums and any(op.attr("op_role", 0) == OPTIMIZE and op.output("ParamOut") for op in ops):
            raise ProgramError("this program changes parameters by the gradients of one replica: put wrap() around its optimizer")
        named = next((op for op in ops if op.attr("op_device", "") not in ("", "cpu")), None)
        if named is not None:
            raise ProgramError(
                f"operator {named.type} names the device '{named.attr('op_device')}', but replicas run "
                "on several: leave out its device_guard"
            )
        self._known[program] = handle, sums
        return sums

    def _copy(self, names: Sequence[str]) -> None:
        first = self.scopes[0]
        for name in (name for name in names if name in first):
            rows = first.info(name)["kind"] == dtypes.SELECTED_ROWS
            value = first.get(name)
            for scope in self.scopes[1:]:
                if rows:
                    scope.set_rows(name, *value)
                else:
                    scope.set(name, value, first.lod(name) or None)


class _Replica(Executor):
    """An executor whose runs take place on all replicas or on none."""

    def __init__(self, place: Place, allow_cpu_fallback: bool, communicator: Any, rank: int):
        self._meeting = communicator, rank
        super().__init__(place, allow_cpu_fallback=allow_cpu_fallback)

    def _new_core(self, seed: int | None, files: bool, cpu_fallback: bool) -> Any:
        return _core.Executor(self.place.name, seed, files, cpu_fallback, *self._meeting)


def _persistable(program: Program) -> set[str]:
    return {var.name for var in program.list_vars() if var.persistable}


def _written(program: Program) -> list[str]:
    names = _persistable(program)
    return sorted({name for block in program.blocks for op in block.ops for name in op.output_names} & names)


def _own(program: Program) -> set[str]:
    """Variables that are local to each replica: those that operators of the model write, and their averages."""
    own: set[str] = set()
    persistable = _persistable(program)
    trained = {var.name for var in program.list_vars() if isinstance(var, Parameter) and var.trainable}
    for op in (op for block in program.blocks for op in block.ops):
        of_model = not op.attr("op_role", 0) & ~LOSS
        if of_model or not own.isdisjoint(op.input_names):
            own |= (persistable & set(op.output_names)) - trained
    return own


def _bits(scope: Scope, name: str) -> Any:
    if name not in scope:
        return None
    value = scope.get(name)
    return [np.asarray(part).tobytes() for part in value] if isinstance(value, tuple) else value.tobytes()
