# The names and the layer functions of operators of users.
from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

from .. import _core
from .._core import ProgramError
from ..arguments import explained
from ..errors import shown
from ..layers.from_schema import made_layer
from ..renamed import takes_other_names
from ..transaction import atomic

LayerFunction = Callable[..., Any]


def require_operator_name(name: str, given: str) -> None:
    """ProgramError about `given` unless the name can be that of an operator, its functions and its files."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ProgramError(f"{shown(given)}: the name of an operator is a lower-case identifier, such as my_op")


def require_new(name: str) -> None:
    """ProgramError unless the name can be that of a new operator."""
    require_operator_name(name, name)
    if name in _core.op_types():
        raise ProgramError(
            f"operator '{name}' exists already; operators can't be replaced: give this one another name, or restart Python"
        )


def layer_of(name: str, home: str, hidden: Collection[str] = (), several: bool = False) -> LayerFunction:
    """The layer function of an operator that has been added; `home` is its module, the rest is as of made_layer."""
    return explained(atomic(takes_other_names(made_layer(name, hidden, home=home, several=several))))
