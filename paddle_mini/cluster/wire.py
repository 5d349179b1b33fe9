# Headers and arrays as the bytes and memory that go between the parts of a cluster: limits, and JSON without surprises.
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import shown
from .errors import Malformed, WrongDtype

HEADER_LIMIT = 1 << 20
"""Bytes of a header."""
DTYPES = tuple(np.dtype(code) for code in ("<f4", "<f8", "<i8"))

Header = dict[str, Any]
Arrays = list[np.ndarray]
_REQUIRED = object()
JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def pack(header: Mapping[str, Any], encoder: json.JSONEncoder = JSON) -> bytes:
    """The bytes of a header; Malformed for what JSON has no word for, NaN included, and for more than HEADER_LIMIT."""
    try:
        data = encoder.encode(header).encode("ascii")
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
        header = _DECODER.decode(data.decode("utf-8"))
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


def _require_small(data: bytes) -> None:
    if len(data) > HEADER_LIMIT:
        raise Malformed(f"the header has {len(data)} bytes, {HEADER_LIMIT} are the most")


def _no_repeats(pairs: list[tuple[str, Any]]) -> Header:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_no_repeats, parse_constant=_no_constant)
