# Typed messages: dataclasses with one encoder and a decoder that validates against their annotations.
"""
A request's header is a JSON object: "protocol", "job", "request" (the name of its class) and its fields. A reply's has
its fields and "ok": true, or "wait": true if the sender has to repeat the request later, or is {"error": {"kind",
"text"}}.
The field `arrays` is not in the header: arrays are C-contiguous, little-endian float32, float64 or int64, and travel
beside it as they are.

A request of a class with `repeats` has two parts instead, divided by a newline: a JSON list of the other fields, in the
order of the class, and the object, with the fields that are the same in many requests, such as the blocks of a push. Both
sides keep what they have encoded and decoded of the second part, and don't do it again. Each form may be used.

dataclass_json.py checks fields against their annotations. A class checks in __post_init__ what annotations can't
express, such as limits, so invalid objects exist on neither side.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin

from ..errors import printable_lines, shown
from .dataclass_json import decoded, decoded_list, other_names, repeated_fields
from .errors import ERRORS, ClusterError, Malformed, WrongJob, WrongVersion
from .wire import Arrays, Encoder, Header, check_arrays, pack, unpack, unpack_list, within_limit

PROTOCOL = 8
_TEXT_LIMIT = 2000
_KEPT = 128
"""Repeated parts of headers that are kept."""
_KEPT_TO_SEND = 1 << 13
"""Those that are kept of what this process sends, which may go to thousands of servers."""


class Reply:
    """Base of replies."""


R = TypeVar("R", bound=Reply)


class Request(Generic[R]):
    """Base of requests; R: the class of the reply. service: the kind of service that answers it; name: in headers, by
    default the class name in snake case. memory: at the service, as in Service.take(). is_patient: its sender waits without a
    limit for a service that replies "wait"."""

    name: ClassVar[str]
    reply: ClassVar[type[Reply]]
    repeats: ClassVar[tuple[str, ...]] = ()  # lists of named tuples, read-only
    is_patient: ClassVar[bool] = False
    memory: memoryview | None = None

    def __init_subclass__(cls, service: str, name: str = "") -> None:
        cls.name = name or re.sub("(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        if "__orig_bases__" in vars(cls):
            (cls.reply,) = (get_args(base)[0] for base in vars(cls)["__orig_bases__"] if get_origin(base) is Request)
        REQUESTS.setdefault(service, {})[cls.name] = cls


REQUESTS: dict[str, dict[str, type[Request[Any]]]] = {}
"""The classes of requests by name, of each kind of service."""


@dataclass
class ServerReply(Reply):
    """life: an id that changes when the server restarts, which may lose earlier pushes. token: of the initialisation of its
    parameters; None: it has none. version: of its parameters."""

    life: str = field(default="", kw_only=True)
    token: int | None = field(default=None, kw_only=True)
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
    kind: Any = type(request)
    values = vars(request)
    if not request.repeats:
        return _encoded({"protocol": PROTOCOL, "job": job, "request": request.name, **values})
    same = _same_text(job, request.name, request.repeats, tuple([tuple(values[name]) for name in request.repeats]))
    first = pack([values[name] for name in other_names(kind)], _JSON)
    return within_limit(first + same), values["arrays"]


@lru_cache(_KEPT_TO_SEND)
def _same_text(job: str, request: str, names: tuple[str, ...], values: tuple[Any, ...]) -> bytes:
    return b"\n" + pack({"protocol": PROTOCOL, "job": job, "request": request, **dict(zip(names, values))}, _JSON)


def decode(job: str, known: Mapping[str, type[Request[Any]]], header: bytes, arrays: Sequence[Any]) -> Request[Any]:
    """The request, of one of the `known` classes, by name. Malformed, WrongDtype, WrongJob or WrongVersion for anything
    else."""
    first, newline, same = within_limit(header).partition(b"\n")
    protocol, of, name, found = _kept_envelope(same) if newline else _envelope(first)
    given = check_arrays(arrays)
    if protocol != PROTOCOL:
        raise WrongVersion(f"the request has protocol {shown(protocol)}, this process has {PROTOCOL}")
    if of != job:
        raise WrongJob(f"the request is for job {shown(of)}, this process belongs to {shown(job)}")
    if name not in known:
        raise Malformed(f"this service has no request {shown(name)}")
    kind: Any = known[name]
    request: Request[Any] = (
        decoded_list(kind, unpack_list(first), _kept_fields(kind, same), given) if newline else decoded(kind, found, given)
    )
    return request


def _envelope(text: bytes) -> tuple[int, str, str, Header]:
    """Protocol, job, name, and the fields that the object has besides."""
    found = unpack(text)
    protocol, of, name = found.pop("protocol", None), found.pop("job", None), found.pop("request", None)
    if type(protocol) is not int or type(of) is not str or type(name) is not str:
        envelope = shown([protocol, of, name])
        raise Malformed(f"'protocol', 'job' and 'request' are {envelope}, they must be an integer and two texts")
    return protocol, of, name, found


_kept_envelope = lru_cache(_KEPT)(_envelope)


@lru_cache(_KEPT)
def _kept_fields(kind: Any, same: bytes) -> Mapping[str, Any]:
    return repeated_fields(kind, _kept_envelope(same)[3])


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
        refusal = decoded(_Refusal, found["error"] if isinstance(found["error"], dict) else {}, [])
        raise ERRORS.get(refusal.kind, ClusterError)(printable_lines(refusal.text))
    if found.pop("wait", False) is True:
        wait: Wait = decoded(Wait, found, given)
        return wait
    if found.pop("ok", False) is not True:
        raise Malformed("the reply is neither ok nor an error")
    reply: R = decoded(kind, found, given)
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


_JSON = Encoder(_plain)
