# OptimizerWrapper: base class of optimizers around another one; Wrapper: runs its operators conditionally.
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from .. import dtypes
from .._core import ProgramError, Scope, printable
from ..averaging.averaged_parameter import average_dtype
from ..guards import default_main_program
from ..initializer import Constant
from ..layers.control_flow import ConditionalBlock
from ..operator import Operator
from ..program import Program
from ..roles import OPTIMIZE, op_role_guard
from ..variable import Parameter, Variable
from .optimizer import Minimizer
from .pairs import Pairs, by_name, require_unchanged

Means = Callable[[Pairs], Pairs] | None
Step = Callable[[Pairs], None] | None


class OptimizerWrapper(Minimizer):
    """Base class of optimizer wrappers; wrappers nest."""

    sums_replicas = False
    """Whether it reduces the gradients of replicas, which all replicas must reach."""

    def __init__(self, optimizer: Any):
        kind = type(self).__name__
        if isinstance(optimizer, type):
            raise ProgramError(f"{kind} takes an optimizer, not its class: {optimizer.__name__}(...)")
        if not all(callable(getattr(optimizer, name, None)) for name in ("backward", "apply_gradients")):
            raise ProgramError(f"{kind} takes an optimizer, not {type(optimizer).__name__}")
        self.optimizer = optimizer

    def backward(
        self, loss: Variable, startup_program: Program | None = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> Pairs:
        """The optimizer's backward."""
        return self.optimizer.backward(loss, startup_program, parameter_list, no_grad_set)

    def get_lr(self, scope: Scope | None = None) -> float:
        """The learning rate of the optimizer inside: see Optimizer."""
        return float(self.optimizer.get_lr(scope))

    def set_lr(self, value: float, scope: Scope | None = None) -> None:
        """Sets the learning rate of the optimizer inside: see Optimizer."""
        self.optimizer.set_lr(value, scope)

    def check(self, program: Program, pairs: Pairs) -> None:
        """ProgramError if the wrapper does not support these pairs."""

    def check_all(self, program: Program, pairs: Pairs) -> None:
        """check() of this and of all inside; before anything is appended."""
        require_unchanged(program, pairs)
        for one in chain(self):
            if isinstance(one, OptimizerWrapper):
                one.check(program, pairs)


class Wrapper(OptimizerWrapper):
    """Base class of GradientMerge and LossScaling. `updated`, after minimize: a variable of the global block, bool [1]:
    whether this run changed the parameters."""

    def __init__(self, optimizer: Any):
        super().__init__(optimizer)
        self.updated: Variable | None = None

    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """Appends to the current block the operators that decide whether parameters change, and the optimizer's
        operators.
        Returns those of one operator a parameter, in the order of the parameters' names."""
        program = default_main_program()
        pairs = by_name(params_grads)
        self.check_all(program, pairs)
        block = program.global_block()
        updated = block.create_var(program.new_name("updated"), dtype="bool", shape=[1], stop_gradient=True)
        with op_role_guard(OPTIMIZE):
            if program.current_block() is not block:
                Constant(False)(updated, block)  # for runs in which the block around does not run
            self.updated = updated
            ops = self.append(pairs, updated)
        self.note(params_grads)
        return ops

    def check(self, program: Program, pairs: Pairs) -> None:
        if any(getattr(one, "sums_replicas", False) for one in chain(self.optimizer)):
            raise ProgramError(
                f"{type(self).__name__} around DataParallel.wrap: replicas might differ in whether "
                "a step is due; wrap goes around it"
            )
        if self.updated is not None and self.updated.block.program is program:
            raise ProgramError(f"this {type(self).__name__} has its operators in the program already; make another one")

    @abstractmethod
    def append(self, pairs: Pairs, updated: Variable) -> list[Operator]:
        """Appends everything: what writes `updated`, and the optimizer's operators."""

    def append_optimizer(self, pairs: Pairs, updated: Variable) -> list[Operator]:
        """The optimizer's operators; `updated` is then the result of inner wrappers."""
        ops = self.optimizer.apply_gradients(pairs)
        inside = updated_by(self.optimizer)
        if inside is not None:
            default_main_program().current_block().append_op("assign", {"X": inside}, {"Out": updated})
        return ops

    def append_where(self, updated: Variable, pairs: Pairs, before: Means = None, after: Step = None) -> list[Operator]:
        """append_optimizer in a block that runs where `updated` holds, and what these append to it; `before` gives its pairs."""
        with ConditionalBlock(updated).block():
            ops = self.append_optimizer(pairs if before is None else before(pairs), updated)
            if after is not None:
                after(pairs)
        return ops


def chain(optimizer: Any) -> list[Any]:
    """The optimizer and the optimizers that it wraps, from outside to inside."""
    found = [optimizer]
    while hasattr(found[-1], "optimizer"):
        found.append(found[-1].optimizer)
    return found


def require_dense(kind: str, pairs: Pairs) -> None:
    """ProgramError for a sparse gradient, of which GradientMerge would make a dense one too."""
    sparse = next((parameter for parameter, gradient in pairs if gradient.kind == dtypes.SELECTED_ROWS), None)
    if sparse is not None:
        raise ProgramError(
            f"{kind} changes every row of '{printable(sparse.name)}' each step, but has a sparse gradient; make "
            "the embedding with is_sparse=False if that is wanted, or leave it out with parameter_list"
        )


def require_wide(kind: str, pairs: Pairs) -> None:
    """ProgramError for parameters of 16 bits, in which a part of the way would be lost."""
    narrow = next((parameter for parameter, _ in pairs if average_dtype(parameter) != parameter.dtype), None)
    if narrow is not None:
        raise ProgramError(
            f"{kind} sets parameters to averages, which need float32 or float64, but '{printable(narrow.name)}' is "
            f"{narrow.dtype}; leave it out with parameter_list, or train float32 parameters with amp.decorate"
        )


def masters_of(optimizer: Any) -> dict[str, Parameter]:
    """The float32 masters of parameters of 16 bits, by the parameters' names, where mixed precision of level O2 is inside."""
    return {name: master for one in chain(optimizer) for name, master in getattr(one, "masters", {}).items()}


def is_level_o2(optimizer: Any) -> bool:
    """Whether mixed precision of level O2 is inside: the pairs around it have parameters of 16 bits, not their masters."""
    return any(getattr(one, "level", "") == "O2" for one in chain(optimizer))


def averages_are_rounded(kind: str) -> ProgramError:
    return ProgramError(f"{kind} writes averages to parameters, which level O2 would round: take level O1 with it")


def updated_by(optimizer: Any) -> Variable | None:
    """The outermost Wrapper's variable that is True if a run changes the parameters; None: every run does."""
    return next((one.updated for one in chain(optimizer) if getattr(one, "updated", None) is not None), None)
