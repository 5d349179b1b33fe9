# Safetensors files: arrays by name, with the `safetensors` package (pip install paddle_mini[safetensors]).
from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np

from .._core import ProgramError, printable
from .checksums import crc32c, is_marked, require_whole
from .values import element_type

# The format's names of element types; bfloat16 is its bits in uint16, as in a Scope.
NUMPY = {
    "BOOL": "bool",
    "I8": "int8",
    "U8": "uint8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "F16": "float16",
    "BF16": "uint16",
    "F32": "float32",
    "F64": "float64",
}


# The format's metadata, which its writer puts first: CRC-32C of the file with these digits as zeros.
_MARK, _AT, _DIGITS = b'{"__metadata__":{"paddle_mini.crc32c":"', 8, 8


def _package() -> Any:
    try:
        import safetensors
    except ImportError:
        raise ProgramError("safetensors files need a package: pip install paddle_mini[safetensors]") from None
    return safetensors


def safetensors_bytes(state: dict[str, np.ndarray]) -> list[bytes]:
    """The file's bytes, in pieces; the arrays are contiguous and little-endian."""
    package = _package()
    specs = {
        name: package.TensorSpec(
            dtype=element_type(array.dtype), shape=list(array.shape), data_ptr=array.ctypes.data, data_len=array.nbytes
        )
        for name, array in state.items()
    }
    try:
        data = package.serialize(specs, {"paddle_mini.crc32c": "0" * _DIGITS})
    except package.SafetensorError as error:
        raise ProgramError(f"safetensors: {error}") from None
    begin, digits, rest = _pieces(memoryview(data))
    return [begin, b"%08x" % crc32c(begin, digits, rest), rest]


def _pieces(data: memoryview) -> tuple[Any, Any, Any]:
    """The bytes before the checksum, its digits, and the bytes after it."""
    begin = _AT + len(_MARK)
    return data[:begin], data[begin : begin + _DIGITS], data[begin + _DIGITS :]


def has_checksum(data: bytes) -> bool:
    """Whether the file has a checksum; ProgramError when it does not match."""
    if not is_marked(memoryview(data), _AT, _MARK):
        return False
    begin, digits, rest = _pieces(memoryview(data))
    found = b"%08x" % crc32c(begin, b"0" * _DIGITS, rest)
    require_whole(int.from_bytes(digits, "big"), int.from_bytes(found, "big"))
    return True


def safetensors_state(data: bytes) -> dict[str, np.ndarray]:
    """The arrays in the file's bytes; ProgramError if they are damaged or of an unsupported type."""
    package = _package()
    try:
        entries = package.deserialize(data)
    except package.SafetensorError as error:
        raise ProgramError(f"it is not a whole safetensors file: {printable(error, 400)}") from None
    _check_header(data)
    has_checksum(data)
    return {name: _array(name, facts) for name, facts in entries}


def _array(name: str, facts: dict[str, Any]) -> np.ndarray:
    if facts["dtype"] not in NUMPY:
        known = ", ".join(NUMPY)
        raise ProgramError(
            f"'{printable(name)}' has elements of {facts['dtype']}, which is not an element type; there are {known}"
        )
    native = np.dtype(NUMPY[facts["dtype"]])
    dtype = native if sys.byteorder == "little" else native.newbyteorder("<")
    if math.prod(facts["shape"]) * dtype.itemsize != len(facts["data"]):
        raise ProgramError(f"'{printable(name)}' of shape {facts['shape']} {facts['dtype']} has {len(facts['data'])} bytes")
    flat = np.frombuffer(facts["data"], dtype) if facts["data"] else np.zeros(0, dtype)  # the package's bytearray, writable
    return flat.reshape(facts["shape"]).astype(native, copy=False)


def _check_header(data: bytes) -> None:
    """The package keeps the last of two tensors of one name."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) != len(names):
            raise ProgramError("its header names something twice")
        return dict(pairs)

    json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")], object_pairs_hook=unique)
