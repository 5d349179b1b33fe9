# Typed messages: dataclasses with one encoder and a decoder that validates against their annotations.
"""
A request's header is a JSON object: "protocol", "job", "request" (the name of its class) and its fields. A reply's has
its fields and "ok": true, or "wait": true if the sender has to repeat the request later, or is {"error": {"kind",
"text"}}.
The field `arrays` is not in the header: arrays are C-contiguous, little-endian float32, float64 or int64, and travel
beside it as they are.

A field's annotation says what decode() accepts: bool, str, int (0 ... 2^63 - 1), float (finite), bytes (base64), Any
(JSON), Optional, List, Tuple, Dict[str, ...], an enumeration of texts, a named tuple (a JSON list), a dataclass (a JSON
object). A field with a default may be missing; a field that the class does not have is refused. A class checks in
__post_init__ what annotations can't express, such as limits, so invalid objects exist on neither side.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from types import UnionType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from ..errors import printable_lines, shown
from .errors import ERRORS, ClusterError, Malformed, WrongJob, WrongVersion
from .wire import Arrays, Header, check_arrays, pack, unpack

PROTOCOL = 3
_INTEGERS = 1 << 63
_TEXT_LIMIT = 2000


class Reply:
    """Base of replies."""


R = TypeVar("R", bound=Reply)


class Request(Generic[R]):
    """Base of requests; R: the class of the reply. service: the kind of service that answers it; name: in headers, by
    default the class name in snake case."""

    name: ClassVar[str]
    reply: ClassVar[type[Reply]]

    def __init_subclass__(cls, service: str, name: str = "") -> None:
        cls.name = name or re.sub("(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        if "__orig_bases__" in vars(cls):
            (cls.reply,) = (get_args(base)[0] for base in vars(cls)["__orig_bases__"] if get_origin(base) is Request)
        REQUESTS.setdefault(service, {})[cls.name] = cls


REQUESTS: dict[str, dict[str, type[Request[Any]]]] = {}
"""The classes of requests by name, of each kind of service."""


@dataclass
class ServerReply(Reply):
    """life: an id that changes when the server restarts, which may lose earlier pushes. version: of its parameters."""

    life: str = field(default="", kw_only=True)
    version: int = field(default=0, kw_only=True)


@dataclass
class Wait(ServerReply):
    """The result is not available yet: the sender repeats the request later. May replace any reply."""


@dataclass
class _Refusal:
    kind: str
    text: str


def encode(job: str, request: Request[Any]) -> tuple[bytes, Arrays]:
    """Header and arrays; Malformed for values that JSON does not support, NaN included, and for a header that is too
    large."""
    return _encoded({"protocol": PROTOCOL, "job": job, "request": request.name, **vars(request)})


def decode(job: str, known: Mapping[str, type[Request[Any]]], header: bytes, arrays: Sequence[Any]) -> Request[Any]:
    """The request, of one of the `known` classes, by name. Malformed, WrongDtype, WrongJob or WrongVersion for anything
    else."""
    found, given = unpack(header), check_arrays(arrays)
    envelope = [found.pop(word, None) for word in ("protocol", "job", "request")]
    if [type(word) for word in envelope] != [int, str, str]:
        raise Malformed(f"'protocol', 'job' and 'request' are {shown(envelope)}, they must be an integer and two texts")
    protocol, of, name = envelope
    if protocol != PROTOCOL:
        raise WrongVersion(f"the request has protocol {shown(protocol)}, this process has {PROTOCOL}")
    if of != job:
        raise WrongJob(f"the request is for job {shown(of)}, this process belongs to {shown(job)}")
    if name not in known:
        raise Malformed(f"this service has no request {shown(name)}")
    request: Request[Any] = _decoded(known[name], found, given)
    return request


def encode_reply(reply: Reply) -> tuple[bytes, Arrays]:
    """See encode()."""
    return _encoded({"wait" if isinstance(reply, Wait) else "ok": True, **vars(reply)})


def encode_error(kind: str, text: str) -> tuple[bytes, Arrays]:
    """See encode()."""
    return _encoded({"error": vars(_Refusal(kind, text[:_TEXT_LIMIT]))})


def decode_reply(kind: type[R], header: bytes, arrays: Sequence[Any]) -> R | Wait:
    """The reply; raises an error in it, as the class of its kind."""
    found, given = unpack(header), check_arrays(arrays)
    if "error" in found:
        refusal = _decoded(_Refusal, found["error"] if isinstance(found["error"], dict) else {}, [])
        raise ERRORS.get(refusal.kind, ClusterError)(printable_lines(refusal.text))
    if found.pop("wait", False) is True:
        wait: Wait = _decoded(Wait, found, given)
        return wait
    if found.pop("ok", False) is not True:
        raise Malformed("the reply is neither ok nor an error")
    reply: R = _decoded(kind, found, given)
    return reply


def _encoded(header: Header) -> tuple[bytes, Arrays]:
    arrays = header.pop("arrays", [])
    return pack(header, _JSON), arrays


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if is_dataclass(value):
        return vars(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_plain)


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


def _decoded(kind: Any, header: Header, arrays: Arrays) -> Any:
    """The message with these fields; removes them from the header."""
    takes_arrays, known = _fields(kind)
    values: dict[str, Any] = {"arrays": arrays} if takes_arrays else {}
    for name, check, expects, required in known:
        if name in header:
            value = header.pop(name)
            try:
                values[name] = check(value)
            except _Unfit:
                raise Malformed(f"'{name}' is {shown(value)}, it must be {expects}") from None
        elif required:
            raise Malformed(f"'{name}' is missing")
    if header:
        raise Malformed(f"{kind.__name__} has no field {shown(next(iter(header)))}")
    if arrays and not takes_arrays:
        raise Malformed(f"{kind.__name__} has no arrays, {len(arrays)} come with it")
    return kind(**values)


@cache
def _fields(kind: Any) -> tuple[bool, tuple[_Field, ...]]:
    """Whether a dataclass has arrays, and its other fields."""
    types = get_type_hints(kind)
    known = [
        _Field(one.name, *_checker(types[one.name])[:2], one.default is MISSING and one.default_factory is MISSING)
        for one in fields(kind)
        if one.name != "arrays"
    ]
    return "arrays" in types, tuple(known)


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
    return _Checker(lambda value: _decoded(kind, dict(value), []) if type(value) is dict else _fail(), "an object")


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
