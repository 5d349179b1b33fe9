# Encoding of message headers as JSON bytes, with limits, and validation of arrays.
from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
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


class Encoder(json.JSONEncoder):
    """Encodes JSON without spaces, NaN and infinity. Prepares once what JSONEncoder prepares for each value, where Python has its
    encoder in C; which has no check for circles: they are a RecursionError."""

    def __init__(self, default: Callable[[Any], Any] | None = None):
        super().__init__(allow_nan=False, separators=(",", ":"), default=default)
        make: Any = getattr(json.encoder, "c_make_encoder", None)
        self._chunks = make and make(
            None, self.default, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, False
        )

    def encode(self, value: Any) -> str:
        return "".join(self._chunks(value, 0)) if self._chunks else super().encode(value)


JSON = Encoder()


def pack(header: Mapping[str, Any] | list[Any], encoder: Encoder = JSON) -> bytes:
    """Encodes a header; Malformed for values that JSON does not support, NaN included, and above HEADER_LIMIT bytes."""
    try:
        data = encoder.encode(header).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"the header is not JSON: {error}") from None
    return within_limit(data)


def unpack(data: bytes) -> Header:
    """Decodes a header of pack(); Malformed for anything else."""
    try:
        header = _DECODER.decode(within_limit(data).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise Malformed(f"the header is {type(header).__name__}, it must be an object")
    return header


def unpack_list(data: bytes) -> list[Any]:
    """Decodes a list; Malformed for anything else."""
    try:
        text = data.decode("utf-8")
        values, end = _DECODER.raw_decode(text)  # which does not look for white space, as decode() does
        values = values if end == len(text) else _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the header is not JSON: {error}") from None
    if not isinstance(values, list):
        raise Malformed(f"the first part of the header is {type(values).__name__}, it must be a list")
    return values


def check_arrays(arrays: Sequence[Any]) -> Arrays:
    """The arrays as a list; Malformed or WrongDtype if a message does not support them."""
    if not isinstance(arrays, (list, tuple)):
        raise Malformed(f"arrays are {type(arrays).__name__}, they must be a list")
    for number, array in enumerate(arrays):
        if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
            raise Malformed(f"array {number} is {type(array).__name__}, it must be a C-contiguous NumPy array")
        if array.dtype not in DTYPES:
            raise WrongDtype(f"array {number} is {array.dtype.str}, it must be one of {[d.str for d in DTYPES]}")
    return [np.asarray(array) for array in arrays]


def field(header: Mapping[str, Any], name: str, kind: type, default: Any = _REQUIRED) -> Any:
    """A value of a header, of this type; Malformed if it has another type, or is missing and has no default.
    Integers are 0 ... 2^63 - 1; float takes finite numbers."""
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


def within_limit(data: bytes) -> bytes:
    """The same header; Malformed if it has too many bytes, or is none."""
    if not isinstance(data, (bytes, bytearray)):
        raise Malformed(f"the header is {type(data).__name__}, it must be bytes")
    if len(data) > HEADER_LIMIT:
        raise Malformed(f"the header has {len(data)} bytes, {HEADER_LIMIT} are the most")
    return data


def _no_repeats(pairs: list[tuple[str, Any]]) -> Header:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is repeated")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_no_repeats, parse_constant=_no_constant)
