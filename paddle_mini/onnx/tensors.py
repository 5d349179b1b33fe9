# Tensors of ONNX: element types and values.
from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from .._core import ProgramError, printable
from ..errors import printable_lines
from ..feeds import bfloat16_bits

# Types of constants that operators read as wider ones.
WIDER = {"int2": "int8", "uint2": "uint8", "int4": "int8", "uint4": "uint8", "uint16": "int32"}


class Unsupported(Exception):
    """This runtime cannot express an operator of the graph; the message is the reason."""


def element_type(number: int) -> str:
    """The name of ONNX's element type; Unsupported where this runtime does not have it."""
    from onnx import TensorProto

    name = type_name(number)
    if name not in dtypes.NUMBERS:
        known = [item for item, value in TensorProto.DataType.items() if value == number]
        raise Unsupported(f"element type {known[0] if known else number}")
    return name


def type_name(number: int) -> str:
    """The name of ONNX's element type, also of those in WIDER; "" for other types."""
    from onnx import TensorProto, helper

    if number == TensorProto.BFLOAT16:
        return "bfloat16"
    try:
        return np.dtype(helper.tensor_dtype_to_np_dtype(number)).name
    except (KeyError, TypeError):
        return ""


def element_number(dtype: str) -> int:
    """ONNX's number of an element type."""
    from onnx import TensorProto, helper

    return TensorProto.BFLOAT16 if dtype == "bfloat16" else int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def tensor_proto(name: str, array: np.ndarray, dtype: str) -> Any:
    """The elements as a TensorProto; those of bfloat16 may be given as their bits."""
    from onnx import TensorProto

    if dtype == "bfloat16" and array.dtype != np.uint16:
        array = bfloat16_bits(array)
    made = TensorProto(name=name, data_type=element_number(dtype), dims=array.shape)
    little = array if dtype == "bfloat16" else array.astype(dtype, copy=False)
    made.raw_data = little.astype(little.dtype.newbyteorder("<"), copy=False).tobytes()
    return made


def tensor_array(tensor: Any) -> np.ndarray:
    """The elements of a TensorProto; ProgramError if their number is not that of its shape."""
    from onnx import numpy_helper

    if type_name(tensor.data_type) not in WIDER:
        element_type(tensor.data_type)
    try:
        array = numpy_helper.to_array(tensor)
    except (ValueError, TypeError) as error:
        raise ProgramError(f"tensor '{printable(tensor.name)}': {printable_lines(str(error))}") from None
    if list(array.shape) != list(tensor.dims):
        raise ProgramError(f"tensor '{printable(tensor.name)}' has {array.size} elements, its shape is {list(tensor.dims)}")
    return array


def dtype_of(array: np.ndarray) -> str:
    """The element type of a variable with this value."""
    if array.dtype.name not in dtypes.NUMBERS:
        raise Unsupported(f"element type {array.dtype.name}")
    return array.dtype.name


def stored(array: np.ndarray) -> np.ndarray:
    """As a scope takes it: bfloat16 are their bits."""
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array
