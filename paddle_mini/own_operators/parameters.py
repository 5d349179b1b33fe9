# The parameters of a Python function as inputs and attributes of an operator.
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import dtypes
from .._core import ProgramError, printable
from ..errors import shown

_TYPES = {bool: dtypes.BOOLEAN, int: dtypes.LONG, float: dtypes.FLOAT64, str: dtypes.STRING}
_LIST_TYPES = {bool: dtypes.BOOLEANS, int: dtypes.LONGS, float: dtypes.FLOAT64S, str: dtypes.STRINGS}
_NAMED_TYPES: dict[object, type] = {**{kind.__name__: kind for kind in _TYPES}, **{kind: kind for kind in _TYPES}}


class Input(NamedTuple):
    """A parameter that may be given by position."""

    optional: bool
    is_list: bool


class Attr(NamedTuple):
    """A keyword-only parameter: its attribute type."""

    type: int
    default: Any  # None: it is required


def parameters_of(function: Callable[..., Any]) -> tuple[dict[str, Input], dict[str, inspect.Parameter]]:
    """The inputs that the parameters of a function stand for, and its keyword-only parameters. Raises ProgramError."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise ProgramError(f"{shown(function)} is not a function with a signature: {printable(str(error))}") from None
    inputs, keywords = {}, {}
    for one in parameters:
        require_name("parameter", one.name)
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
            if one.default not in (one.empty, None):
                raise ProgramError(f"the input '{one.name}' has a default: None, or an attribute after *, may have one")
            inputs[one.name] = Input(one.default is None, one.annotation in (list, "list"))
        elif one.kind is one.KEYWORD_ONLY:
            keywords[one.name] = one
        else:
            raise ProgramError(f"the parameter '{one.name}' takes any number: name each, or write {one.name}: list")
    return inputs, keywords


def attribute_of(one: inspect.Parameter) -> Attr:
    """The attribute that a keyword-only parameter of a kernel stands for. Raises ProgramError."""
    value = None if one.default is one.empty else one.default
    kinds: set[type | None] = {type(item) for item in value} if isinstance(value, (list, tuple)) else {type(value)}
    if value is None:
        kinds = {_NAMED_TYPES.get(one.annotation)}
    types = _LIST_TYPES if isinstance(value, (list, tuple)) else _TYPES
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is None or kind not in types:
        raise ProgramError(
            f"the attribute '{one.name}' has no type: give it a default, or an annotation, of bool, int, float or str"
        )
    return Attr(types[kind], list(value) if isinstance(value, tuple) else value)


def require_name(what: str, name: str) -> None:
    """ProgramError unless the name can be that of a parameter and, with a capital letter, of a port."""
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or name != name.lower() or name == "name":
        raise ProgramError(f"the {what} {shown(name)} needs another name: a lower-case identifier, not 'name'")
