# What operators of users have in common: their names, their layer functions, and one lock for adding them.
from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection
from typing import Any

from .. import _core, schemas
from .._core import ProgramError
from ..errors import shown
from ..layers.from_schema import made_layer
from ..renamed import takes_other_names
from ..transaction import atomic

LayerFunction = Callable[..., Any]

# Adding calls Python functions, which release the GIL, while it holds a mutex of C++: so a thread that has the GIL must not
# wait for that mutex.
adding = threading.Lock()


def require_operator_name(name: str, given: str) -> None:
    """ProgramError about `given` unless the name can be that of an operator, its functions and its files."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ProgramError(f"{shown(given)}: the name of an operator is a lower-case identifier, such as my_op")


def require_new(name: str) -> None:
    """ProgramError unless the name can be that of a new operator."""
    require_operator_name(name, name)
    if name in _core.op_types():
        raise ProgramError(f"operator '{name}' exists already; operators can't be replaced: give this one another name")


def register(item: dict[str, Any], gradient: dict[str, Any] | None) -> None:
    """Adds an operator whose kernel is a Python function, and its gradient, or neither."""
    with adding:
        _core.add_python_operator(item, gradient)
    schemas.operators_were_added()


def layer_of(name: str, home: str, hidden: Collection[str] = (), several: bool = False) -> LayerFunction:
    """The layer function of an operator that has been added; `home` is its module, the rest is as of made_layer."""
    return atomic(takes_other_names(made_layer(name, hidden, home=home, several=several)))
