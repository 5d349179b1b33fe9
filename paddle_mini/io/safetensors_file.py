# Writes safetensors files, with the `safetensors` package (pip install paddle_mini[safetensors]); cpp/program reads them.
from __future__ import annotations

from typing import Any

import numpy as np

from .._core import ProgramError
from ..feeds import element_type
from .checksums import crc32c

# The format's metadata, which its writer puts first: CRC-32C of the file with these digits as zeros.
_MARK, _AT, _DIGITS = b'{"__metadata__":{"paddle_mini.crc32c":"', 8, 8


def _package() -> Any:
    try:
        import safetensors
    except ImportError:
        raise ProgramError("writing safetensors files needs a package: pip install paddle_mini[safetensors]") from None
    return safetensors


def safetensors_bytes(state: dict[str, np.ndarray]) -> list[bytes]:
    """The file's bytes, in pieces; the arrays are contiguous and little-endian."""
    package = _package()
    if "__metadata__" in state:
        raise ProgramError("a safetensors file holds no array '__metadata__', a name that the format keeps for itself; rename it")
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
