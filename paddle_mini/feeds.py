# The values of feeds as arrays of the dtypes of their variables.
from __future__ import annotations

from typing import Any

import numpy as np

from ._core import ShapeError, printable
from .scope import LoDTensor, array_of, is_array


def numpy_dtype(dtype: Any) -> Any:
    # NumPy has no bfloat16: its bits are fed as uint16.
    return np.dtype("uint16" if dtype == "bfloat16" else dtype) if isinstance(dtype, str) else None


def bfloat16_values(array: np.ndarray) -> np.ndarray:
    """float32 for the bits of bfloat16, which are uint16; other arrays as they are."""
    return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array


def converted(name: str, value: Any, dtype: np.dtype) -> Any:
    """The value as an array of the variable's dtype. Arrays are never converted: a mistake would
    go unseen, and cost a copy at every run."""
    if isinstance(value, LoDTensor):
        array = converted(name, value.array, dtype)
        return (array, value.lod) if value.lod else array
    if isinstance(value, np.ma.MaskedArray):
        raise ShapeError(f"feed '{printable(name)}' is a masked array; pass {printable(name)}.filled(value)")
    if is_array(value):
        array = array_of(value, f"feed '{printable(name)}'")
        if array.dtype != dtype:
            raise ShapeError(
                f"feed '{printable(name)}' is an array of {array.dtype}, the program wants {dtype}; "
                f"pass it as {printable(name)}.astype('{dtype}')"
            )
        return array
    try:
        array = np.asarray(value)
        accepted = {"f": "fiub", "i": "iub", "u": "iub", "b": "b"}[dtype.kind]
        if array.size and array.dtype.kind not in accepted:
            raise ShapeError(f"feed '{printable(name)}' is {short(value)}, the program wants {dtype}")
        with np.errstate(over="raise"):
            return np.array(value, dtype)
    except FloatingPointError:
        raise ShapeError(f"feed '{printable(name)}' is {short(value)}, which is beyond {dtype}") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise ShapeError(f"feed '{printable(name)}' is {short(value)}, which is not an array of {dtype}: {error}") from None


def short(value: Any) -> str:
    """The beginning of a value's repr(), for messages."""
    return printable(repr(value), 60)
