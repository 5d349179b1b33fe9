# Writes safetensors files; cpp/program reads them.
from __future__ import annotations

import json
from typing import Any

import numpy as np

from .._core import ProgramError
from ..feeds import element_type
from .checksums import crc32c

# Codes of element types. NumPy's uint16 holds the bits of bfloat16.
_CODES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "bfloat16": "BF16",
    "float16": "F16", "float32": "F32", "float64": "F64", "complex64": "C64",
}  # fmt: skip
# The metadata, which come first: CRC-32C of the file with these digits as zeros.
_MARK, _DIGITS = b'{"__metadata__":{"paddle_mini.crc32c":"', b"00000000"
_LARGEST_HEADER = 100_000_000  # readers take no larger one


def safetensors_pieces(state: dict[str, np.ndarray]) -> list[Any]:
    """The file's bytes in pieces, one after the other; those of arrays are where they are. The arrays are contiguous and
    little-endian."""
    if "__metadata__" in state:
        raise ProgramError("a safetensors file holds no array '__metadata__', a name that the format keeps for itself; rename it")
    arrays = sorted(state.items(), key=lambda item: (-item[1].itemsize, item[0]))  # so that each is aligned
    entries, end = {}, 0
    for name, array in arrays:
        begin, end = end, end + array.nbytes
        entries[name] = {"dtype": _code(name, array), "shape": list(array.shape), "data_offsets": [begin, end]}
    listed = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    rest = b'"}' + (b"," if entries else b"") + listed[1:]
    rest += b" " * (-(len(_MARK) + len(_DIGITS) + len(rest)) % 8)
    header = len(_MARK) + len(_DIGITS) + len(rest)
    if header > _LARGEST_HEADER:
        raise ProgramError(
            f"the names and shapes of {len(state)} arrays have {header} bytes, a safetensors file has room for "
            f"{_LARGEST_HEADER}; save the state in several files"
        )
    size = header.to_bytes(8, "little")
    elements = [array.reshape(-1).view("uint8") for _, array in arrays]
    return [size + _MARK, b"%08x" % crc32c(size + _MARK, _DIGITS, rest, *elements), rest, *elements]


def _code(name: str, array: np.ndarray) -> str:
    kind = element_type(array.dtype)
    if kind not in _CODES:
        raise ProgramError(f"'{name}' has elements of {kind}, which safetensors files don't have")
    return _CODES[kind]
