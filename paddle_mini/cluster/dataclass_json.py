# Decodes dataclasses, and what they consist of, from JSON values, which it checks against the annotations.
"""
An annotation says what is accepted: bool, str, int (0 ... 2^63 - 1), float (finite), bytes (base64), Any (JSON), Optional,
List, Tuple, Dict[str, ...], an enumeration of texts, a named tuple (a JSON list), a dataclass (a JSON object). A field with
a default may be missing; a field that the class does not have is refused.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from enum import Enum
from functools import cache, partial
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from ..errors import shown
from .errors import Malformed
from .wire import Arrays, Header

_INTEGERS = 1 << 63


class _Unfit(Exception):
    """A value does not fit its annotation."""


class _Checker(NamedTuple):
    """check(value): returns the converted value or raises _Unfit. expects: for error messages. kind: of plain
    values."""

    check: Callable[[Any], Any]
    expects: str
    kind: type | None = None


class _Field(NamedTuple):
    name: str
    check: Callable[[Any], Any]
    expects: str
    required: bool


def decoded(kind: Any, header: Header, arrays: Arrays) -> Any:
    """The object with these fields."""
    takes_arrays, known = _fields(kind)
    values = checked_fields(kind, header)
    if len(values) != len(known):
        for one in known.values():
            if one.required and one.name not in values:
                raise Malformed(f"'{one.name}' is missing")
    if takes_arrays:
        values["arrays"] = arrays
    elif arrays:
        raise Malformed(f"{kind.__name__} has no arrays, {len(arrays)} come with it")
    return kind(**values)


def decoded_list(kind: Any, others: list[Any], repeated: Mapping[str, Any], arrays: Arrays) -> Any:
    """The object of a class with arrays, of all its fields: the others in order, and those of repeated_fields()."""
    known, values = _other_fields(kind), dict(repeated)
    if len(others) != len(known):
        raise Malformed(f"{kind.__name__} has the fields {', '.join(other_names(kind))}, and {len(others)} values come with it")
    try:
        for one, value in zip(known, others):
            values[one.name] = one.check(value)
    except _Unfit:
        raise _unfit(one, value) from None
    return kind(**values, arrays=arrays)


def repeated_fields(kind: Any, given: Header) -> dict[str, Any]:
    """The checked fields of kind.repeats."""
    if set(given) != set(kind.repeats):
        raise Malformed(f"the repeated fields of {kind.__name__} are {shown(sorted(given))}, not {list(kind.repeats)}")
    return checked_fields(kind, given)


@cache
def other_names(kind: Any) -> tuple[str, ...]:
    """The fields that kind.repeats has not, in order, without the arrays."""
    return tuple(one.name for one in _other_fields(kind))


@cache
def _other_fields(kind: Any) -> tuple[_Field, ...]:
    return tuple(one for one in _fields(kind)[1].values() if one.name not in kind.repeats)


def checked_fields(kind: Any, given: Header) -> dict[str, Any]:
    """Some fields of a dataclass; Malformed for others, and for values that don't fit."""
    _, known = _fields(kind)
    values = {}
    for name, value in given.items():
        one = known.get(name)
        if one is None:
            raise Malformed(f"{kind.__name__} has no field {shown(name)}")
        try:
            values[name] = one.check(value)
        except _Unfit:
            raise _unfit(one, value) from None
    return values


def _unfit(one: _Field, value: Any) -> Malformed:
    return Malformed(f"'{one.name}' is {shown(value)}, it must be {one.expects}")


@cache
def _fields(kind: Any) -> tuple[bool, dict[str, _Field]]:
    """Whether a dataclass has arrays, and its other fields."""
    types = get_type_hints(kind)
    known = [
        _Field(one.name, *_checker(types[one.name])[:2], one.default is MISSING and one.default_factory is MISSING)
        for one in fields(kind)
        if one.name != "arrays"
    ]
    return "arrays" in types, {one.name: one for one in known}


@cache
def _checker(kind: Any) -> _Checker:
    args: tuple[Any, ...] = get_args(kind)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if get_origin(kind) is UnionType:
        return _optional(_checker(args[0]))
    if get_origin(kind) is dict:
        return _dict(_checker(args[1]))
    if get_origin(kind) is list or args[1:] == (Ellipsis,):
        return _list(_checker(args[0]), get_origin(kind))
    if get_origin(kind) is tuple:
        return _tuple([_checker(one) for one in args], [""] * len(args), tuple)
    if issubclass(kind, Enum):
        return _enum(kind)
    if issubclass(kind, tuple):
        types = get_type_hints(kind)
        return _tuple([_checker(types[name]) for name in kind._fields], kind._fields, partial(tuple.__new__, kind))
    return _Checker(lambda value: decoded(kind, dict(value), []) if type(value) is dict else _fail(), "an object")


def _fail() -> Any:
    raise _Unfit


def _only(kind: type) -> Callable[[Any], Any]:
    return lambda value: value if type(value) is kind else _fail()


def _integer(value: Any) -> Any:
    return value if type(value) is int and 0 <= value < _INTEGERS else _fail()


def _number(value: Any) -> Any:
    # JSON's 1e999 is read as infinity; an integer may be larger than any float.
    return value if type(value) in (int, float) and abs(value) < 1e300 else _fail()


def _base64(value: Any) -> Any:
    try:
        return b64decode(value, validate=True) if type(value) is str else _fail()
    except ValueError:
        raise _Unfit from None


_SIMPLE: dict[Any, _Checker] = {
    Any: _Checker(lambda value: value, "a JSON value"),
    bool: _Checker(_only(bool), "true or false"),
    str: _Checker(_only(str), "text", str),
    int: _Checker(_integer, "an integer from 0 to 2^63 - 1", int),
    float: _Checker(_number, "a finite number"),
    bytes: _Checker(_base64, "base64"),
}


def _optional(one: _Checker) -> _Checker:
    return _Checker(lambda value: None if value is None else one.check(value), f"{one.expects}, or null")


def _list(one: _Checker, make: Callable[[list[Any]], Any]) -> _Checker:
    check = one.check

    def checked(value: Any) -> Any:
        return make([check(item) for item in value]) if type(value) is list else _fail()

    return _Checker(checked, f"a list, each {one.expects}")


def _dict(one: _Checker) -> _Checker:
    def checked(value: Any) -> Any:
        return {name: one.check(item) for name, item in value.items()} if type(value) is dict else _fail()

    return _Checker(checked, f"an object, each value {one.expects}")


def _tuple(items: Sequence[_Checker], names: Sequence[str], make: Callable[[list[Any]], Any]) -> _Checker:
    parts = [f"{name}: {item.expects}" if name else item.expects for name, item in zip(names, items)]
    checks, kinds = [item.check for item in items], [item.kind for item in items]
    integers = [number for number, kind in enumerate(kinds) if kind is int]

    def checked(value: Any) -> Any:
        if type(value) is not list or len(value) != len(checks):
            raise _Unfit
        return make([check(item) for check, item in zip(checks, value)])

    def of_plain_ones(value: Any) -> Any:  # the same, for the many keys of blocks that a push has
        if type(value) is not list or list(map(type, value)) != kinds:
            raise _Unfit
        for number in integers:
            if not 0 <= value[number] < _INTEGERS:
                raise _Unfit
        return make(value)

    plain = all(kind in (str, int) for kind in kinds)
    return _Checker(of_plain_ones if plain else checked, f"[{'; '.join(parts)}]")


def _enum(kind: type[Enum]) -> _Checker:
    known: dict[Any, Enum] = {one.value: one for one in kind}
    return _Checker(
        lambda value: known[value] if type(value) is str and value in known else _fail(),
        "one of " + ", ".join(repr(one.value) for one in kind),
    )
