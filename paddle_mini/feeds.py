# The values of feeds as arrays of the dtypes of their variables.
from __future__ import annotations

from typing import Any

import numpy as np

from ._core import ShapeError, printable
from .scope import LoDTensor, array_of, is_array

# Kinds of numbers that become those of another kind and lose nothing but digits.
_ACCEPTED = {"c": "cfiub", "f": "fiub", "i": "iub", "u": "iub", "b": "b"}


def numpy_dtype(dtype: Any) -> Any:
    # NumPy has no bfloat16: its bits are fed as uint16.
    return np.dtype("uint16" if dtype == "bfloat16" else dtype) if isinstance(dtype, str) else None


def element_type(dtype: Any) -> str:
    """ "float32" for np.dtype("float32"); the bits of bfloat16 are uint16 in NumPy."""
    return "bfloat16" if dtype == np.uint16 else str(dtype.name)


def bfloat16_values(array: np.ndarray) -> np.ndarray:
    """float32 for the bits of bfloat16, which are uint16; other arrays as they are."""
    return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array


def bfloat16_bits(values: np.ndarray) -> np.ndarray:
    """Real numbers rounded to the nearest bfloat16, ties to even. float32 in between is rounded to odd, so that nothing is
    rounded twice (Boldo and Melquiond 2008)."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    inexact = single != values
    toward_zero = np.where(np.abs(single) > np.abs(values), np.nextafter(single, np.float32(0)), single)
    bits = toward_zero.astype(np.float32).view(np.uint32) | inexact
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(single), np.uint16(0x7FC0), rounded)  # the sum of a NaN's bits may be beyond 32 bits


def filled(shape: Any, number: float, dtype: str) -> np.ndarray:
    """An array of one number, as a scope holds it."""
    if dtype == "bfloat16":
        return bfloat16_bits(np.full(shape, number, np.float64))
    return np.full(shape, number, dtype)


def number_of(array: np.ndarray) -> float:
    """The number in an array of one element, as a scope or a run gives it."""
    return float(bfloat16_values(array).reshape(()))


def converted(name: str, value: Any, dtype: np.dtype) -> Any:
    """The value as an array of the variable's dtype. Arrays are never converted: a mistake would
    go unseen, and cost a copy at every run."""
    unmasked(value, f"feed '{printable(name)}'")
    if isinstance(value, LoDTensor):
        array = converted(name, value.array, dtype)
        return (array, value.lod) if value.lod else array
    if is_array(value):
        array = array_of(value, f"feed '{printable(name)}'")
        if array.dtype != dtype:
            raise ShapeError(
                f"feed '{printable(name)}' is {_other_type(printable(name), value, array.dtype, element_type(dtype))}"
            )
        return array
    wanted = element_type(dtype)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:  # RuntimeError: of a list of tensors with gradients
        what = f"feed '{printable(name)}' is {short(value)}, which is not an array of {wanted}"
        raise ShapeError(f"{what}: {differing_row(value) or error}") from None
    return cast(f"feed '{printable(name)}' is {short(value)}", array, wanted)


def differing_row(value: Any) -> str:
    """Which row of a list, or of a list in it, has another shape than the rows before it; "" if none has."""
    first: tuple[int, ...] | None = None
    for i, row in enumerate(value if isinstance(value, (list, tuple)) else ()):
        try:
            shape = np.shape(row)
        except ValueError:  # NumPy's for rows of different shapes
            inside = differing_row(row)
            return inside and f"row {i}: {inside}"
        except (TypeError, RuntimeError):  # such as that of a tensor with gradients, which the caller shows
            return ""
        if first is not None and shape != first:
            advice = "pad sequences of different lengths, or feed a LoDTensor"
            return f"row {i} has shape {list(shape)}, those before it {list(first)}; {advice}"
        first = shape
    return ""


def unmasked(value: Any, what: str) -> Any:
    """The value; ShapeError for a masked array, whose mask would be lost."""
    if isinstance(value, np.ma.MaskedArray):
        raise ShapeError(f"{what} is a masked array; pass its filled(value)")
    return value


def _other_type(name: str, value: Any, dtype: np.dtype, wanted: str) -> str:
    """The rest of the message for an array of another element type."""
    is_shared = hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray)
    found = element_type(dtype) if is_shared else str(dtype)
    if wanted == "bfloat16":
        advice = "NumPy lacks it: pass a list of numbers, an array of ml_dtypes.bfloat16, or the bits as uint16"
    else:
        advice = f"pass it as {name}.astype('{wanted}')" if hasattr(value, "astype") else f"convert it to {wanted} first"
    return f"an array of {found}, the program wants {wanted}; {advice}"


def cast(what: str, array: np.ndarray, dtype: np.dtype | str) -> np.ndarray:
    """The array in this dtype; the name of an element type gives bfloat16 as its bits, which uint16 is already. ShapeError,
    which begins with `what`, for a conversion that loses more than digits."""
    if dtype == "bfloat16":
        return _cast_to_bfloat16(what, array)
    dtype = np.dtype(dtype)
    if array.dtype == dtype:
        return array
    if array.size and array.dtype.kind not in _ACCEPTED[dtype.kind]:
        raise ShapeError(f"{what}, the program wants {dtype}; convert it first")
    if array.size and dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        if int(array.min()) < bounds.min or int(array.max()) > bounds.max:
            raise ShapeError(f"{what}, which is beyond {dtype}")
    try:
        with np.errstate(over="raise"):
            return array.astype(dtype)
    except FloatingPointError:
        raise ShapeError(f"{what}, which is beyond {dtype}") from None


def _cast_to_bfloat16(what: str, array: np.ndarray) -> np.ndarray:
    if array.dtype == np.uint16:
        return array
    if array.size and array.dtype.kind not in _ACCEPTED["f"]:
        raise ShapeError(f"{what}, the program wants bfloat16; convert it first")
    bits = bfloat16_bits(array)
    if (np.isfinite(array) & ~np.isfinite(bfloat16_values(bits))).any():
        raise ShapeError(f"{what}, which is beyond bfloat16")
    return bits


def short(value: Any) -> str:
    """The beginning of a value's repr(), for messages."""
    return printable(repr(value), 60)
