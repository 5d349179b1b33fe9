# Nested lists, tuples and dicts of variables, as loops and branches take and give them.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import ProgramError
from ..errors import shown
from ..variable import Variable
from .emit import refuse


def flatten_structure(value: Any) -> list[Any]:
    """The leaves, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flatten_structure(item)]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in flatten_structure(value[key])]
    return [value]


def map_structure(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    """The structure of `first` with function(leaf, leaves of the others at the same place)."""
    if isinstance(first, (list, tuple)):
        items = [map_structure(function, *leaves) for leaves in zip(first, *others)]
        if hasattr(first, "_fields"):  # a namedtuple
            return type(first)(*items)
        return type(first)(items)
    if isinstance(first, dict):
        return {key: map_structure(function, first[key], *(other[key] for other in others)) for key in sorted(first)}
    return function(first, *others)


def require_same_structure(layer: str, what: str, first: Any, second: Any) -> None:
    """ProgramError unless both nest alike."""
    shapes = [map_structure(lambda leaf: leaf if leaf is None else "*", value) for value in (first, second)]
    if shapes[0] != shapes[1]:
        refuse(ProgramError, f"{layer}: {what} nest differently: {shown(shapes[0])} and {shown(shapes[1])}".replace("'*'", "*"))


def require_variables(layer: str, what: str, value: Any) -> None:
    for leaf in flatten_structure(value):
        if not isinstance(leaf, Variable):
            refuse(ProgramError, f"{layer}: {what} holds {shown(leaf)}, which is not a Variable")


def require_states(layer: str, what: str, value: Any) -> None:
    if not flatten_structure(value):
        refuse(ProgramError, f"{layer}: {what} is {shown(value)}, it must hold the Variables of the states")
    require_variables(layer, what, value)
