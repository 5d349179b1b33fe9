# Pairs of parameters and gradients that users give to optimizers.
from __future__ import annotations

from typing import Any

from .._core import ProgramError, printable
from ..errors import shown
from ..program import Program
from ..roles import OPTIMIZE
from ..variable import Parameter, Variable

Pairs = list[tuple[Parameter, Variable]]


def require_pairs(params_grads: Any, kind: type[Variable] = Parameter) -> None:
    """ProgramError for anything other than pairs of a variable of this class and a gradient."""
    if not isinstance(params_grads, (list, tuple)) or not params_grads:
        raise ProgramError(f"apply_gradients takes a list of (parameter, gradient) pairs, not {shown(params_grads)}")
    for pair in params_grads:
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], kind)
        if not is_pair or (isinstance(pair[1], Parameter) and not isinstance(pair[0], Parameter)):  # they are turned
            raise ProgramError(f"apply_gradients takes (parameter, gradient) pairs, not {shown(pair)}")
        parameter, gradient = pair
        if gradient is None:
            raise ProgramError(
                f"the gradient of '{printable(parameter.name)}' is None, since no target depends on it: leave its pair out"
            )
        if not isinstance(gradient, Variable):
            raise ProgramError(f"the gradient of '{printable(parameter.name)}' is {shown(gradient)}, it must be a Variable")


def by_name(params_grads: Any) -> Pairs:
    """The pairs in the order of the parameters' names. ProgramError as of require_pairs, and for a parameter or a gradient
    that is in two: clipping, regularization and scaling write to the variable of a gradient."""
    require_pairs(params_grads)
    owners: dict[str, str] = {}
    parameters = set()
    for parameter, gradient in params_grads:
        name = printable(parameter.name)
        if parameter.name in parameters:
            raise ProgramError(f"'{name}' is in two of the pairs: give it once, with the sum of its gradients")
        if gradient.name in owners:
            raise ProgramError(
                f"'{printable(gradient.name)}' is the gradient of '{owners[gradient.name]}' and of '{name}': give one of "
                "them a copy, such as layers.scale(gradient, 1.0)"
            )
        parameters.add(parameter.name)
        owners[gradient.name] = name
    return sorted(params_grads, key=lambda pair: pair[0].name)


def require_unchanged(program: Program, pairs: Pairs) -> None:
    """ProgramError when an optimizer's operator changes one of the parameters already."""
    names = {parameter.name for parameter, _ in pairs}
    for op in (op for block in program.blocks for op in block.ops):
        # Lookahead and ScheduleFree make parameters averages, and level O2 rounds masters to them.
        changed = op.output("ParamOut") + op.output("AverageOut") + (op.output("Out") if op.type == "cast" else [])
        if op.attr("op_role", 0) & OPTIMIZE and not names.isdisjoint(changed):
            raise ProgramError(
                f"'{printable(changed[0])}' is changed by an operator {op.type} already; "
                "give a second optimizer other parameters, with parameter_list"
            )
