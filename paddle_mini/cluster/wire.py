# Messages between the parts of a cluster: a header of JSON and a list of arrays, checked before anyone looks at them.
"""
A request's header has "protocol", "job", "request" and what the request needs. A reply's has "ok": true, with
"wait": true when it is to be asked again later, or "error": {"kind", "text"}. Arrays are C-contiguous, little-endian
float32, float64 or int64, and travel beside the header as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import printable_lines, shown
from .errors import ERRORS, ClusterError, Malformed, WrongDtype, WrongJob, WrongVersion
from .part_log import PartLogger

PROTOCOL = 1
HEADER_LIMIT = 1 << 20
"""Bytes of a header."""
DTYPES = tuple(np.dtype(code) for code in ("<f4", "<f8", "<i8"))
KINDS = tuple(ERRORS)

Header = dict[str, Any]
Arrays = list[np.ndarray]
Reply = tuple[Header, Arrays]
_TEXT_LIMIT = 2000
_REQUIRED = object()
_log = PartLogger(__name__)


def pack(header: Mapping[str, Any]) -> bytes:
    """The bytes of a header; Malformed for what JSON has no word for, NaN included, and for more than HEADER_LIMIT."""
    try:
        data = json.dumps(header, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"the header is no JSON: {error}") from None
    _require_small(data)
    return data


def unpack(data: bytes) -> Header:
    """The header that pack() made into bytes; Malformed for all else."""
    if not isinstance(data, (bytes, bytearray)):
        raise Malformed(f"the header is {type(data).__name__}, it must be bytes")
    _require_small(data)
    try:
        header = json.loads(data.decode("utf-8"), object_pairs_hook=_no_repeats, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the header is no JSON: {error}") from None
    if not isinstance(header, dict):
        raise Malformed(f"the header is {type(header).__name__}, it must be an object")
    return header


def check_arrays(arrays: Sequence[Any]) -> Arrays:
    """The arrays as a list; Malformed, or WrongDtype, when they are none that a message may have."""
    if not isinstance(arrays, (list, tuple)):
        raise Malformed(f"arrays are {type(arrays).__name__}, they must be a list")
    for number, array in enumerate(arrays):
        if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
            raise Malformed(f"array {number} is {type(array).__name__}, it must be a C-contiguous NumPy array")
        if array.dtype not in DTYPES:
            raise WrongDtype(f"array {number} is {array.dtype.str}, it must be one of {[d.str for d in DTYPES]}")
    return [np.asarray(array) for array in arrays]


def request(job: str, name: str, **fields: Any) -> bytes:
    """The bytes of a request's header."""
    return pack({"protocol": PROTOCOL, "job": job, "request": name, **fields})


def answer(
    job: str,
    call: Callable[[str, Header, Arrays], Reply],
    header: bytes,
    arrays: Sequence[Any],
    stamp: Callable[[], Header] | None = None,
) -> tuple[bytes, Arrays]:
    """What a service replies: call(name, header, arrays) does a request of this job and protocol, stamp() is what
    each reply says too. Never raises: what is refused, and a failure inside, are replies."""
    try:
        asked, given = unpack(header), check_arrays(arrays)
        if field(asked, "protocol", int) != PROTOCOL:
            raise WrongVersion(f"the request has protocol {asked['protocol']}, this part has {PROTOCOL}")
        if field(asked, "job", str) != job:
            raise WrongJob(f"the request is of job {shown(asked['job'])}, this part is of {shown(job)}")
        reply, results = call(field(asked, "request", str), asked, given)
        return pack({**(stamp() if stamp else {}), "ok": True, **reply}), results
    except ClusterError as error:
        return _refusal(error.kind, str(error), stamp), []
    except Exception as error:  # a service outlives whatever one request meets
        _log.exception("a request failed")
        return _refusal(ClusterError.kind, f"{type(error).__name__}: {error}", stamp), []


def understood(header: bytes, arrays: Sequence[Any]) -> Reply:
    """A reply's header and arrays; an error in it is raised, of the class of its kind."""
    reply = unpack(header)
    if "error" in reply:
        error = field(reply, "error", dict)
        raise ERRORS.get(field(error, "kind", str), ClusterError)(printable_lines(field(error, "text", str)))
    if reply.get("ok") is not True:
        raise Malformed("the reply is neither ok nor an error")
    return reply, check_arrays(arrays)


def field(header: Mapping[str, Any], name: str, kind: type, default: Any = _REQUIRED) -> Any:
    """A value of a header, of this kind; Malformed when it is another one, or is missing and there is no default.
    Whole numbers are 0 ... 2^63 - 1; float takes finite numbers."""
    if name not in header:
        if default is _REQUIRED:
            raise Malformed(f"'{name}' is missing")
        return default
    value = header[name]
    kinds: Any = (int, float) if kind is float else (kind,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
        raise Malformed(f"'{name}' is {shown(value)}, it must be of type {kind.__name__}")
    if kind is int and not 0 <= value < 1 << 63:
        raise Malformed(f"'{name}' is {shown(value)}, it must be at least 0 and below 2^63")
    if kind is float and not abs(value) < 1e300:  # JSON's 1e999 is read as infinity
        raise Malformed(f"'{name}' is {shown(value)}, it must be a finite number")
    return value


def _refusal(kind: str, text: str, stamp: Callable[[], Header] | None) -> bytes:
    return pack({**(stamp() if stamp else {}), "error": {"kind": kind, "text": text[:_TEXT_LIMIT]}})


def _require_small(data: bytes) -> None:
    if len(data) > HEADER_LIMIT:
        raise Malformed(f"the header has {len(data)} bytes, {HEADER_LIMIT} are the most")


def _no_repeats(pairs: list[tuple[str, Any]]) -> Header:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")
