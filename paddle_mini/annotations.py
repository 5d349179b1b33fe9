# Annotations of parameters: whether a value fits one, and its words for messages.
from __future__ import annotations

import builtins
import collections.abc
import inspect
import numbers
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any

import numpy as np

from .dtypes import ATTR_TYPE_NAMES, BOOLEAN, FLOAT, INT, STRING

_ONE = {
    int: ATTR_TYPE_NAMES[INT],
    float: ATTR_TYPE_NAMES[FLOAT],
    str: ATTR_TYPE_NAMES[STRING],
    bool: ATTR_TYPE_NAMES[BOOLEAN],
    bytes: "bytes",
    type(None): "None",
    np.ndarray: "an array",
}
_SEVERAL = {int: "integers", float: "numbers", str: "strings", bool: "True and False", np.ndarray: "arrays"}
_UNIONS = (types.UnionType, typing.Union)
_MOST = 1000  # elements that are compared
_BITS = 63


class _Names(dict[str, Any]):
    """The names of a module, and those that it imports for type checkers only."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        for path, module in list(sys.modules.items()):
            if (path in ("typing", "collections.abc") or path.startswith(f"{__package__}.")) and name in vars(module):
                return vars(module)[name]
        if name in sys.modules:
            return sys.modules[name]
        raise KeyError(name)


def meaning(parameter: inspect.Parameter, function: Any) -> Any:
    """The annotation of a parameter as a type; Any where it has none, or where that is not known."""
    annotation = parameter.annotation
    if annotation is parameter.empty or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return Any
    if isinstance(annotation, str):
        try:
            names = _Names(inspect.unwrap(function).__globals__)
            alone = types.SimpleNamespace(__annotations__={"it": annotation})  # others may have names that are not known
            return typing.get_type_hints(alone, {}, names)["it"]
        except (NameError, AttributeError, TypeError):
            return Any
    return annotation


def fits(value: Any, annotation: Any) -> bool:
    """Whether a value is what an annotation means. In doubt it is: the error must not name an argument that is right."""
    if annotation is Any:
        return True
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is None or annotation is type(None):
        return value is None
    if origin in _UNIONS:
        return any(fits(value, one) for one in arguments)
    if annotation in (int, float, bool):
        return _is_number(value, annotation)
    if origin is typing.Literal:
        return any(value is one or (type(value) is type(one) and value == one) for one in arguments)
    kind = origin or annotation
    if kind is collections.abc.Callable:
        return callable(value)
    if not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True
    if issubclass(kind, collections.abc.Mapping):
        return isinstance(value, Mapping) and all(
            fits(item, one) for pair in list(value.items())[:_MOST] for item, one in zip(pair, arguments)
        )
    if kind in (list, tuple, collections.abc.Sequence):
        return _is_list(value, arguments)
    try:
        right = isinstance(value, kind)
    except TypeError:  # not every annotation is a class for isinstance
        return True
    if arguments and isinstance(value, (list, tuple)):
        return right and _is_list(value, arguments[:1])
    return right


def _is_number(value: Any, kind: type) -> bool:
    if kind is bool:
        return isinstance(value, (bool, np.bool_, int))
    if isinstance(value, (bool, np.bool_)):
        return False
    if isinstance(value, numbers.Integral):
        return int(value).bit_length() <= (_BITS if kind is int else 1023)
    return kind is float and isinstance(value, numbers.Real)


def _is_list(value: Any, arguments: tuple[Any, ...]) -> bool:
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if isinstance(value, (str, bytes)) or not isinstance(value, collections.abc.Sequence):
        return False
    if len(arguments) > 1 and arguments[-1] is not Ellipsis:
        return len(value) == len(arguments) and all(map(fits, value, arguments))
    return not arguments or all(fits(one, arguments[0]) for one in value[:_MOST])


def expected(annotation: Any, value: Any) -> str:
    """The words for an annotation that the value does not fit: "an integer, a list of integers or None"."""
    kinds = list(dict.fromkeys(_words(one) for one in _parts(annotation)))
    text = " or ".join([", ".join(kinds[:-1]), kinds[-1]]) if len(kinds) > 1 else kinds[0]
    too_large = isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value).bit_length() > _BITS
    return f"{text}, of 64 bits at most" if too_large else text


def _parts(annotation: Any) -> list[Any]:
    parts = typing.get_args(annotation) if typing.get_origin(annotation) in _UNIONS else (annotation,)
    return sorted((inner for one in parts for inner in ([one] if one is annotation else _parts(one))), key=_is_none)


def _is_none(annotation: Any) -> bool:
    return annotation is None or annotation is type(None)


def _words(annotation: Any, several: bool = False) -> str:
    kind, arguments = typing.get_origin(annotation) or annotation, typing.get_args(annotation)
    if kind in _UNIONS:
        return " or ".join(_words(one, several) for one in arguments)
    if kind is typing.Literal:
        return " or ".join(map(repr, arguments))
    if kind is collections.abc.Callable:
        return "functions" if several else "a function"
    if isinstance(kind, type) and arguments and issubclass(kind, collections.abc.Iterable):
        if issubclass(kind, collections.abc.Mapping):
            return "dicts" if several else f"a dict of {_words(arguments[-1], True)}"
        return f"{'lists' if several else 'a list'} of {_words(arguments[0], True)}"
    words = (_SEVERAL if several else _ONE).get(kind)
    name = getattr(kind, "__name__", str(kind))
    if name == "PathLike":
        name = "path"
    return words or (f"{name}s" if several else f"{'an' if name[0] in 'AEIOU' else 'a'} {name}")
