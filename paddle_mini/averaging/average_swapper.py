# AverageSwapper: substitutes averages for parameters temporarily, or under their names in another program.
from __future__ import annotations

import numpy as np

from .._core import Claim, OpError, ProgramError, Scope, SwappedValues, printable
from ..block import Block
from ..callsite import warn
from ..errors import shown
from ..executor import Executor
from ..program import Program
from ..roles import device_guard
from ..scope import scope_or_global
from ..variable import Variable
from .averaged_parameter import AveragedParameter
from .running import AddOp, RunningAverage
from .scheme import Scheme
from .statistics import Statistics, statistics


class AverageSwapper:
    """Averages of one training program, read from a scope."""

    def __init__(self, main: Program, running: list[RunningAverage], device: str | None):
        self.main = main
        self._running = running
        self._device = device
        self._computing: dict[int, Program] = {}

    def of(self, scheme: Scheme | None) -> RunningAverage:
        """The average of a scheme; None: the first."""
        if scheme is None:
            return self._running[0]
        found = next((average for average in self._running if average.scheme == scheme), None)
        if found is None:
            raise ProgramError(
                f"{shown(scheme)} is not averaged; there is {', '.join(repr(average.scheme) for average in self._running)}"
            )
        return found

    def apply(self, exe: Executor, scope: Scope | None, scheme: Scheme | None, need_restore: bool) -> SwappedValues:
        if not isinstance(exe, Executor):
            raise ProgramError(f"apply takes an Executor, not {type(exe).__name__}")
        scope = scope_or_global(scope)
        average = self.of(scheme)
        with Claim(scope, [member.exchange for member in average.members]) as claim:
            exe.run(self._aside(average), scope=scope)
            if not scope.get(average.counters.name)[0]:
                warn(f"{shown(average.scheme)}: no step has been averaged yet, so the raw values stay")
            return claim.apply(need_restore)

    def restore(self, scope: Scope | None) -> None:
        """Restores all raw values or none, also when interrupted."""
        scope = scope_or_global(scope)
        scope.restore([member.exchange for member in self._members()])

    def statistics(self, scope: Scope | None, scheme: Scheme | None) -> Statistics:
        """See ParameterAverage.statistics."""
        scope, average = scope_or_global(scope), self.of(scheme)
        with Claim(scope, [member.exchange for member in average.members]):
            Executor().run(self._aside(average), scope=scope)
            return statistics(average, scope, lambda member: scope.get(member.pending))

    def rebind(self, scope: Scope | None, scheme: Scheme | None, values: dict[str, np.ndarray]) -> None:
        """Sets the values of variables other than parameters while averages are swapped in."""
        scope, average = scope_or_global(scope), self.of(scheme)
        held = {member.parameter.name: member for member in average.members}
        buffers = [self.main.global_block().var(name) for name in values]  # refuses an unknown name before anything changes
        for buffer, (name, value) in zip(buffers, values.items()):
            own = (
                Program()
                .global_block()
                .create_var(f"{name}@{average.state.name}", shape=buffer.shape, dtype=buffer.dtype, persistable=True)
            )
            scope.set(own.name, value.astype(buffer.dtype))
            average.members = [one for one in average.members if one is not held.get(name)] + [AveragedParameter(buffer, own)]
        self._computing.pop(id(average), None)

    def require_raw(self, scope: Scope) -> None:
        """OpError while averages are applied."""
        applied = next((member.parameter.name for member in self._members() if member.raw in scope), None)
        if applied is not None:
            raise OpError(f"averages are applied already: '{applied}' holds one; leave that apply(), or call restore(), first")

    def overwriting(self, scheme: Scheme | None, keep_raw: bool) -> Program:
        """See ParameterAverage.apply_program."""
        average, program = self.of(scheme), self._declaring()
        block = program.global_block()
        for member in average.members if keep_raw else ():
            _declare_as(block, member.raw, member.parameter)
            block.append_op("assign", {"X": member.parameter.name}, {"Out": member.raw})
        for member in average.members:
            _declare(block, member.average)
            self._append_value(block.append_op, average, member, member.parameter.name)
        return program

    def restoring(self, scheme: Scheme | None) -> Program:
        """See ParameterAverage.restore_program."""
        average, program = self.of(scheme), self._declaring()
        block = program.global_block()
        for member in average.members:
            _declare_as(block, member.raw, member.parameter)
            block.append_op("assign", {"X": member.raw}, {"Out": member.parameter.name})
        return program

    def bound(self, original: Program, scheme: Scheme | None) -> Program:
        """See ParameterAverage.program."""
        average, program = self.of(scheme), original.clone()
        block = program.global_block()
        ops = [op for one in program.blocks for op in one.ops]
        used = {name for op in ops for name in op.input_names + op.output_names}
        changed = {name for op in ops for name in op.output_names if not op.attr("is_test", False)}
        computed = []
        for member in average.members:
            name = member.parameter.name
            if name not in used:
                continue
            if name in changed:
                raise ProgramError(
                    f"this program changes '{printable(name)}'; averages are read by a program for testing: clone(for_test=True)"
                )
            value = member.average.name if member.is_read_as_it_is else f"{name}@VALUE"
            for op in ops:
                op.rename(name, value)
            if member.is_read_as_it_is:
                block.vars.pop(name)
                _declare(block, member.average)
            else:
                computed.append((member, value))
        for member, value in reversed(computed):
            for kept in [average.counters, average.state, *member.kept()]:
                _declare(block, kept)
            begin = len(block.ops)
            self._append_value(lambda *op, begin=begin: block.insert_op(len(block.ops) - begin, *op), average, member, value)
        program.changed()
        return program

    def _aside(self, average: RunningAverage) -> Program:
        """Computes the averages in separate variables; the same program each time, so that its plan is cached."""
        if id(average) not in self._computing:
            program = self._declaring()
            block = program.global_block()
            for member in average.members:
                _declare_as(block, member.pending, member.parameter)
                for kept in member.kept():
                    _declare(block, kept)
                self._append_value(block.append_op, average, member, member.pending)
            self._computing[id(average)] = program  # only when complete: an interrupt may come at any line
        return self._computing[id(average)]

    def _append_value(self, add: AddOp, average: RunningAverage, member: AveragedParameter, out: str) -> None:
        with device_guard(self._device):
            average.append_value(add, member, out)

    def _declaring(self) -> Program:
        """Declares all persistable variables of the training program, so its parameter file fits."""
        program = Program()
        for variable in self.main.global_block().vars.values():
            if variable.persistable:
                _declare(program.global_block(), variable)
        return program

    def _members(self) -> list[AveragedParameter]:
        """Every averaged variable once."""
        return list({member.parameter.name: member for average in self._running for member in average.members}.values())


def _declare(block: Block, variable: Variable) -> None:
    if variable.name not in block.vars:
        _declare_as(block, variable.name, variable)


def _declare_as(block: Block, name: str, like: Variable) -> None:
    block.create_var(name, shape=like.shape, dtype=like.dtype, persistable=True, stop_gradient=True)
