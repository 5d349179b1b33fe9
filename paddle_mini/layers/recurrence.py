# StaticRNN: a block for each step of sequences of equal length.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .._core import ProgramError, printable
from ..block import Block
from ..dataflow import outer_reads_and_writes
from ..guards import default_main_program
from ..transaction import before_changing
from ..variable import Variable
from .control_flow import inner_block, step_scopes
from .emit import block, refuse, require_variable
from .fill import fill_constant_batch_size_like
from .tensor import assign


class StaticRNN:
    """A recurrence written as one step.

    reverse: the last step first; outputs stay in the order of the inputs.
    Example:
        >>> words, state = pm.layers.data("words", [20, 4, 8]), pm.layers.data("state", [4, 16])
        >>> rnn = pm.layers.StaticRNN()
        >>> with rnn.step():
        ...     word = rnn.step_input(words)  # words [T, N, ...]: word [N, ...]
        ...     before = rnn.memory(init=state)  # the state after the step before
        ...     hidden = pm.layers.fc([word, before], 16, act="tanh")
        ...     rnn.update_memory(before, hidden)
        ...     rnn.step_output(hidden)
        >>> rnn().shape
        (20, 4, 16)
    """

    def __init__(self, name: str | None = None, reverse: bool = False):
        self.reverse = reverse
        self._inside: Block | None = None
        self._inputs: list[Variable] = []
        self._initial: list[Variable] = []
        self._before: list[Variable] = []
        self._after: list[Variable | None] = []
        self._outputs: list[Variable] = []
        self._results: list[Variable] = []
        self._outer: Block | None = None

    @contextmanager
    def step(self) -> Iterator[Block]:
        """The operators of one step."""
        if self._outer is not None:
            refuse(ProgramError, "StaticRNN: step() is there already")
        outer = block()
        with inner_block(self._complete) as inside:
            before_changing(self)
            self._outer, self._inside = outer, inside
            yield inside

    def step_input(self, x: Variable) -> Variable:
        """This step of a sequence [T, ...]."""
        self._require_inside("step_input")
        self._require_outside("step_input", x)
        if not x.shape:
            refuse(ProgramError, f"step_input: '{printable(x.name)}' has no dimension for steps")
        self._inputs.append(x)
        return self._here().create_var(x.name, dtype=x.dtype, shape=x.shape[1:])

    def memory(
        self,
        init: Variable | None = None,
        shape: Sequence[int] | None = None,
        batch_ref: Variable | None = None,
        init_value: float = 0.0,
        init_batch_dim_idx: int = 0,
        ref_batch_dim_idx: int = 1,
    ) -> Variable:
        """The value that update_memory set in the previous step; `init` in the first one.

        Without init: `shape` filled with init_value, whose dimension init_batch_dim_idx is that of
        batch_ref, a sequence, at ref_batch_dim_idx.
        """
        self._require_inside("memory")
        if init is None:
            init = self._begin(shape, batch_ref, init_value, init_batch_dim_idx, ref_batch_dim_idx)
        self._require_outside("memory", init)
        self._initial.append(init)
        before = self._here().create_var(default_main_program().new_name("memory"), dtype=init.dtype, shape=init.shape)
        self._before.append(before)
        self._after.append(None)
        return before

    def update_memory(self, mem: Variable, var: Variable) -> None:
        """`var` is what the memory `mem` is at the next step."""
        self._require_inside("update_memory")
        places = [i for i, before in enumerate(self._before) if before is mem]
        if not places:
            refuse(ProgramError, f"update_memory: '{getattr(mem, 'name', mem)}' is not a memory of this recurrence")
        require_variable("update_memory", var)
        # Under a separate name: its gradient comes from the next step, and is added to others inside this one.
        self._after[places[0]] = assign(var)

    def step_output(self, o: Variable) -> None:
        """`o` of every step becomes a sequence [T, ...] that the recurrence gives."""
        self._require_inside("step_output")
        require_variable("step_output", o)
        self._outputs.append(assign(o))  # under a separate name, as a state may have this one

    def output(self, *outputs: Variable) -> None:
        """Calls step_output for each."""
        for o in outputs:
            self.step_output(o)

    def __call__(self) -> Variable | list[Variable]:
        """The outputs, each [T, ...]; one alone is given as it is."""
        if not self._results:
            refuse(ProgramError, "StaticRNN has no output: call step_output in the step")
        return self._results[0] if len(self._results) == 1 else list(self._results)

    def _here(self) -> Block:
        if self._inside is None:
            refuse(ProgramError, "StaticRNN: this belongs into `with rnn.step():`")
        return self._inside

    def _require_inside(self, what: str) -> None:
        if self._inside is None:
            refuse(ProgramError, f"{what}: it belongs into `with rnn.step():`")

    def _require_outside(self, what: str, x: Variable) -> None:
        require_variable(what, x)
        if any(x is var for var in self._here().vars.values()):
            refuse(
                ProgramError, f"{what}: '{printable(x.name)}' belongs to the step; give a variable from before `with rnn.step():`"
            )

    def _begin(self, shape: Any, batch_ref: Variable | None, value: float, place: int, ref_place: int) -> Variable:
        if shape is None or batch_ref is None:
            refuse(ProgramError, "memory: give init, or shape and batch_ref")
        program = default_main_program()
        current, program._current = program._current, self._outer.idx  # type: ignore[union-attr]
        try:
            if any(batch_ref is var for var in self._here().vars.values()):  # a step of it: the sequence is meant
                batch_ref = next(x for x in self._inputs if x.name == batch_ref.name)
            return fill_constant_batch_size_like(
                batch_ref, list(shape), batch_ref.dtype, value, input_dim_idx=ref_place, output_dim_idx=place
            )
        finally:
            program._current = current

    def _complete(self, inside: Block) -> None:
        self._inside = None
        if not self._inputs:
            refuse(ProgramError, "StaticRNN has no step_input, which determines the number of steps")
        missing = [mem.name for mem, after in zip(self._before, self._after) if after is None]
        if missing:
            refuse(ProgramError, f"StaticRNN: memory '{printable(missing[0])}' is never updated")
        reads, writes = outer_reads_and_writes(inside)
        outer = self._outer
        assert outer is not None  # step() has set it
        if writes:
            refuse(
                ProgramError, f"StaticRNN: a step writes '{printable(writes[0])}', which is outside; use memory and step_output"
            )
        steps = self._inputs[0].shape[0]
        self._results = [outer.create_var(o.name, dtype=o.dtype, shape=[steps, *o.shape]) for o in self._outputs]
        outer.append_op(
            "recurrent",
            {"inputs": self._inputs, "initial_states": self._initial, "parameters": reads},
            {"outputs": self._results, "step_scopes": step_scopes(outer)},
            {
                "sub_block": inside.idx,
                "ex_states": [var.name for var in self._before],
                "states": [var.name for var in self._after if var is not None],
                "has_states": bool(self._before),
                "reverse": self.reverse,
            },
        )
