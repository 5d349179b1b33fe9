# Optimizer: from a loss to the operators that change the parameters.
from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from .. import callsite
from .._core import ProgramError, printable
from ..backward import append_backward
from ..block import Block
from ..clip import GradientClip
from ..errors import shown
from ..guards import default_main_program, default_startup_program, is_default_program, program_guard
from ..operator import Operator
from ..program import Program
from ..regularizer import L2Decay, Regularizer, append_regularization_ops, require_regularizer
from ..renamed import answers_names, make_method_take_other_names, takes_other_names
from ..roles import OPTIMIZE, op_role_guard
from ..transaction import atomic_method, before_setting, make_methods_atomic
from ..variable import Parameter, Variable, names_of
from .config import new_config, overridden_method
from .pairs import Pairs, by_name, require_unchanged
from .rates import Rate, Rates, new_state
from .shared_arguments import state_common


@answers_names
class Minimizer(ABC):
    """From a loss to operators that change the parameters: an optimizer, or what is put around one."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        make_methods_atomic(cls, ("minimize", "backward", "apply_gradients"))
        if "__init__" in vars(cls):
            state_common(vars(cls)["__init__"])
            make_method_take_other_names(cls, "__init__")

    @takes_other_names
    @atomic_method
    def minimize(
        self, loss: Variable, startup_program: Program | None = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Operator], Pairs]:
        """Appends backward, clipping, regularization and one operator a parameter; what the
        operators keep between runs begins in the startup program.

        Returns the optimizer's operators and the (parameter, gradient) pairs.
        """
        if not isinstance(loss, Variable):
            raise ProgramError(f"minimize takes a Variable, not {shown(loss)}")
        if any(dim != 1 for dim in loss.shape):
            raise ProgramError(f"the loss '{printable(loss.name)}' has shape {list(loss.shape)}, not one element: take its mean")
        program = loss.block.program
        built_again = is_default_program(program) and bool(program.minimizers)
        with program_guard(program, startup_program or default_startup_program()):
            pairs = self.backward(loss, parameter_list=parameter_list, no_grad_set=no_grad_set)
            ops = self.apply_gradients(pairs)
        if built_again and parameter_list is None and not _has_parameter_list(self):
            callsite.warn(
                "the default program has an optimizer already, and each run takes the steps of both: "
                "call pm.reset_default_programs() first, such as at the top of a notebook's cell that builds a network"
            )
        return ops, pairs

    @abstractmethod
    def backward(
        self, loss: Variable, startup_program: Program | None = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> Pairs:
        """Appends the operators of the gradients; returns the (parameter, gradient) pairs."""

    @abstractmethod
    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """Appends to the current block what changes the parameters."""

    def note(self, params_grads: Pairs) -> None:
        """Registers in the program that this minimizer changes these parameters, after the inner optimizers."""
        program = default_main_program()
        before_setting(program.minimizers, *(parameter.name for parameter, _ in params_grads))
        program.minimizers.update((parameter.name, (self, gradient.name)) for parameter, gradient in params_grads)

    def to_config(self, parameter: Parameter | None = None) -> Any:
        """The OptimizerConfig (proto/optimizer.proto) of an object of the C library that does to one parameter what
        this does: a message of google.protobuf, to be changed or serialized. See NativeOptimizer.

        parameter: whose learning-rate factor, regularizer, clipping, averaging and rows are meant. None: one without
        any of its own. A schedule continues from its current step, one step per update. ProgramError, naming it,
        where an object that sees one parameter can't do something.
        """
        if parameter is not None and not isinstance(parameter, Parameter):
            raise ProgramError(f"to_config takes a Parameter, not {shown(parameter)}")
        return new_config(self.config_values(parameter))

    def config_values(self, parameter: Parameter | None) -> dict[str, Any]:
        """The fields of OptimizerConfig that this sets."""
        raise ProgramError(
            f"{type(self).__name__} is more than one step a gradient, all that an object of the C "
            "library takes; call to_config() of the optimizer inside"
        )


class Optimizer(Rates, Minimizer):
    """Base class of optimizers.

    learning_rate: a number, a variable of one element that the program computes, or an LRScheduler,
    whose rate the Executor writes before each run.
    parameter_list: parameters (or their names) to change; None: every trainable one.
    regularization: for parameters without a regularizer of their own; a number means L2Decay.
    grad_clip: a GradientClip. Gradients are clipped first, then regularized.
    name: the beginning of the names of what it keeps.
    Example:
        >>> x, y = pm.layers.data("x", [-1, 8]), pm.layers.data("y", [-1, 1])
        >>> loss = pm.layers.mean(pm.layers.square_error_cost(pm.layers.fc(x, 1), y))
        >>> optimizer = pm.optimizer.Adam(0.001, regularization=1e-4, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0))
        >>> ops, gradients = optimizer.minimize(loss)
        >>> [parameter.shape for parameter, gradient in gradients]
        [(8, 1), (1,)]
    """

    leaves_other_rows = False
    """Whether a sparse gradient changes the rows it names and no other."""
    needs_rows = False
    """Whether a sparse gradient leaves rows alone that zeros in a dense one would change."""
    keeps_nothing = False
    """Whether a step depends on the parameter and this gradient only."""
    needs_wide_state = ""
    """The state that 16 bits can't hold: squares below 6e-8 are 0 in float16, and 256 + 1 is 256 in bfloat16."""

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        parameter_list: Sequence[Variable | str] | None = None,
        regularization: float | Regularizer | None = None,
        grad_clip: GradientClip | None = None,
        name: str | None = None,
    ):
        if grad_clip is not None and not isinstance(grad_clip, GradientClip):
            raise ProgramError("grad_clip must be one of paddle_mini.clip, such as GradientClipByGlobalNorm(1.0)")
        super().__init__(learning_rate)
        self.parameter_list = None if parameter_list is None else chosen_names(parameter_list)
        decay: Any = regularization
        is_number = isinstance(decay, numbers.Real)  # a type checker does not take a float for one
        self.regularization: Regularizer | None = L2Decay(decay) if is_number else decay
        require_regularizer(f"{type(self).__name__}: regularization", self.regularization)
        self.grad_clip = grad_clip
        self.name = name
        self._accumulators: dict[tuple[str, str], Variable] = {}

    def backward(
        self, loss: Variable, startup_program: Program | None = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> Pairs:
        """append_backward for this optimizer's parameters."""
        chosen = self.parameter_list if parameter_list is None else chosen_names(parameter_list)
        pairs = append_backward(loss, chosen, no_grad_set)
        if not pairs:
            raise ProgramError(f"no trainable parameter leads to '{printable(loss.name)}'")
        return pairs

    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """Clips, regularizes and appends one operator a parameter, in the order of their names."""
        block = default_main_program().current_block()
        pairs = by_name(params_grads)
        require_unchanged(block.program, pairs)
        if self.grad_clip is not None:
            pairs = self.grad_clip(pairs)
        pairs = append_regularization_ops(pairs, self.regularization)
        for parameter, _ in pairs:
            self._require_wide_state(parameter)
            self.rate_of_program(parameter.dtype)
        for parameter, _ in pairs:
            self.create_accumulators(parameter)
        ops = []
        for parameter, gradient in pairs:
            with op_role_guard(OPTIMIZE, [parameter, gradient]):
                ops.append(self.append_optimize_op(block, parameter, gradient))
        for parameter, gradient in pairs:
            with op_role_guard(OPTIMIZE, [parameter, gradient]):
                self.append_finish_ops(block, parameter)
        self.note(params_grads)
        return ops

    def create_accumulators(self, parameter: Parameter) -> None:
        """Calls accumulator() for each thing that is kept for a parameter between runs."""

    def _require_wide_state(self, parameter: Parameter) -> None:
        if self.needs_wide_state and parameter.dtype in ("float16", "bfloat16"):
            raise ProgramError(
                f"{type(self).__name__} keeps {self.needs_wide_state}, which need float32 or float64, but "
                f"'{printable(parameter.name)}' is {parameter.dtype}: train float32 parameters with amp.decorate, whose "
                "level O2 has parameters of 16 bits beside them"
            )

    @abstractmethod
    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        """Appends the operator that changes one parameter."""

    def append_finish_ops(self, block: Block, parameter: Parameter) -> None:
        """Appends what a parameter needs after the operators of all parameters: nothing, mostly."""

    def config_values(self, parameter: Parameter | None) -> dict[str, Any]:
        if parameter is not None and self.parameter_list is not None and parameter.name not in self.parameter_list:
            raise ProgramError(
                f"'{printable(parameter.name)}' is not in the parameter_list of this {type(self).__name__}: "
                f"{', '.join(self.parameter_list)}"
            )
        clip = self.grad_clip if parameter is None or parameter.need_clip else None
        regularizer = (parameter.regularizer if parameter is not None else None) or self.regularization
        # A penalty makes a sparse gradient dense. The library catches SGD's rows up to the same; what others keep would
        # have changed with every gradient.
        rests = self.leaves_other_rows and (regularizer is None or self.keeps_nothing)
        step = overridden_method(self, "step_values", "append_optimize_op", Optimizer)
        values = {**step(parameter), **self.rate_values(), "row_policy": "Lazy" if rests else "LikeZeros"}
        if clip is not None:
            values.update(overridden_method(clip, "config_values", "clip", GradientClip)())
        if regularizer is not None:
            values.update(overridden_method(regularizer, "config_values", "__call__", Regularizer)())
        if parameter is not None:
            values["learning_rate_factor"] = parameter.learning_rate
            values["row_width"] = math.prod(parameter.shape[1:])
        return values

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        """The fields `optimizer` and the message of that optimizer, with every argument of the constructor."""
        raise ProgramError(f"{type(self).__name__} is not an optimizer of the C library")

    def append_update(
        self,
        block: Block,
        op_type: str,
        parameter: Parameter,
        gradient: Variable,
        kept: Mapping[str, str],
        attrs: Mapping[str, Any],
    ) -> Operator:
        """Appends `op_type` with the ports that optimizers share; `kept`: the keys of accumulators by
        input port, each written at the output port of the same name and "Out"."""
        state = {port: self.accumulator(key, parameter) for port, key in kept.items()}
        return block.append_op(
            op_type,
            {"Param": parameter, "Grad": gradient, "LearningRate": self.rate_of(parameter), **state},
            {"ParamOut": parameter, **{port + "Out": var for port, var in state.items()}},
            attrs,
        )

    def accumulator(self, key: str, parameter: Parameter, value: float = 0.0, shape: Any = None) -> Variable:
        """The variable `<parameter>_<key>_<n>` that is kept between runs; `value` is its beginning,
        and its shape, unless given, the parameter's."""
        made = self._accumulators.get((key, parameter.name))
        main = default_main_program().global_block()
        if made is not None and main.vars.get(made.name) is made:
            return made
        dims = parameter.shape if shape is None else shape
        var = new_state(f"{parameter.name}_{key}", dims, parameter.dtype, value)
        before_setting(self._accumulators, (key, parameter.name))
        self._accumulators[key, parameter.name] = var
        return var


def chosen_names(parameter_list: Any) -> list[str]:
    """The names of a parameter_list; ProgramError for an empty one, which could mean no parameter or every one."""
    names = names_of(parameter_list, "parameter_list")
    if not names:
        raise ProgramError("parameter_list is empty: give the parameters to change, or leave it out to change all")
    return names


def _has_parameter_list(optimizer: Any) -> bool:
    """Whether it, or an optimizer that it wraps, was told which parameters to change."""
    while getattr(optimizer, "parameter_list", None) is None:
        if not hasattr(optimizer, "optimizer"):
            return False
        optimizer = optimizer.optimizer
    return True


def given(what: str, parameter: Parameter | None) -> Parameter:
    """The parameter, for a master the one that the network has; ProgramError if `what` needs a parameter and got none."""
    if parameter is None:
        raise ProgramError(f"{what} depends on the parameter: give it to to_config")
    return parameter if parameter.rounded is None else parameter.rounded
