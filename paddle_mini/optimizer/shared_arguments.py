# Common: the arguments that every optimizer takes, stated once for type checkers and for inspect.signature.
from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ..clip import GradientClip
    from ..regularizer import Regularizer
    from ..variable import Variable


class Common(TypedDict, total=False):
    """The arguments that every optimizer takes besides its own: see Optimizer."""

    parameter_list: Sequence[Variable | str] | None
    regularization: float | Regularizer | None
    grad_clip: GradientClip | None
    name: str | None


def state_common(constructor: Any) -> None:
    """Puts the arguments of Common into the signature of a constructor that has **common: Unpack[Common]."""
    if constructor.__annotations__.get("common") != "Unpack[Common]":
        return
    signature = inspect.signature(constructor)
    parameters = list(signature.parameters.values())
    parameters[-1:] = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint.__forward_arg__)
        for name, hint in Common.__annotations__.items()
    ]
    constructor.__signature__ = signature.replace(parameters=parameters)
