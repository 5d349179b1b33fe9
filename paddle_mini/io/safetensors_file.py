# Safetensors files: arrays by name, with the `safetensors` package (pip install paddle_mini[safetensors]).
from __future__ import annotations

import json
import math
from typing import Any, Dict, List, Tuple

import numpy as np

from .._core import ProgramError
from .values import element_type

# The format's names of element types; bfloat16 is its bits in uint16, as in a Scope.
NUMPY = {"BOOL": "bool", "I8": "int8", "U8": "uint8", "I16": "int16", "I32": "int32", "I64": "int64",
         "F16": "float16", "BF16": "uint16", "F32": "float32", "F64": "float64"}


def _package() -> Any:
    try:
        import safetensors
    except ImportError:
        raise ProgramError("safetensors files need a package: pip install paddle_mini[safetensors]") from None
    return safetensors


def safetensors_bytes(state: Dict[str, np.ndarray]) -> bytes:
    """The file's bytes; the arrays are contiguous and little-endian."""
    package = _package()
    specs = {name: package.TensorSpec(dtype=element_type(array.dtype), shape=list(array.shape),
                                      data_ptr=array.ctypes.data, data_len=array.nbytes)
             for name, array in state.items()}
    try:
        return bytes(package.serialize(specs))
    except package.SafetensorError as error:
        raise ProgramError(f"safetensors: {error}") from None


def safetensors_state(data: bytes) -> Dict[str, np.ndarray]:
    """The arrays in the file's bytes; ProgramError when they are damaged or of a type that is no element type."""
    package = _package()
    try:
        entries = package.deserialize(data)
    except package.SafetensorError as error:
        raise ProgramError(f"it is no whole safetensors file: {error}") from None
    _check_header(data)
    return {name: _array(name, facts) for name, facts in entries}


def _array(name: str, facts: Dict[str, Any]) -> np.ndarray:
    if facts["dtype"] not in NUMPY:
        known = ", ".join(NUMPY)
        raise ProgramError(f"'{name}' has elements of {facts['dtype']}, which is no element type; there are {known}")
    dtype = np.dtype(NUMPY[facts["dtype"]]).newbyteorder("<")
    if math.prod(facts["shape"]) * dtype.itemsize != len(facts["data"]):
        raise ProgramError(f"'{name}' of shape {facts['shape']} {facts['dtype']} has {len(facts['data'])} bytes")
    flat = np.frombuffer(bytes(facts["data"]), dtype) if facts["data"] else np.zeros(0, dtype)
    return flat.reshape(facts["shape"]).astype(NUMPY[facts["dtype"]])


def _check_header(data: bytes) -> None:
    """The package keeps the last of two tensors of one name."""
    def unique(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) != len(names):
            raise ProgramError("its header names something twice")
        return dict(pairs)
    json.loads(data[8:8 + int.from_bytes(data[:8], "little")], object_pairs_hook=unique)
