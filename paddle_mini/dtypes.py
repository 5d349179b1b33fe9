# Element types and attribute types: names in Python, numbers in framework.proto.
from __future__ import annotations

import contextlib
import operator
from typing import Any

import numpy as np

from ._core import ProgramError, printable
from .errors import shown

# VarType.Type of elements
NUMBERS = {
    "bool": 0,
    "int16": 1,
    "int32": 2,
    "int64": 3,
    "float16": 4,
    "float32": 5,
    "float64": 6,
    "uint8": 20,
    "int8": 21,
    "bfloat16": 22,
    "complex64": 23,
    "complex128": 24,
}
NAMES = {number: name for name, number in NUMBERS.items()}
FLOAT_NAMES = frozenset(["float16", "bfloat16", "float32", "float64"])
COMPLEX_NAMES = frozenset(["complex64", "complex128"])
INTEGER_NAMES = frozenset(["int8", "uint8", "int16", "int32", "int64"])

# VarType.Type of variables
TENSOR, SELECTED_ROWS, FEED_LIST, FETCH_LIST = 7, 8, 9, 10
STEP_SCOPES, RANK_TABLE, TENSOR_ARRAY = 11, 12, 13

# AttrType
INT, FLOAT, STRING, INTS, FLOATS, STRINGS, BOOLEAN, BOOLEANS, BLOCK, LONG, BLOCKS, LONGS = range(12)
FLOAT64S, VAR, VARS, FLOAT64 = 12, 13, 14, 15
ATTR_TYPE_NAMES = {
    INT: "an integer",
    FLOAT: "a number",
    STRING: "a string",
    INTS: "a list of integers",
    FLOATS: "a list of numbers",
    STRINGS: "a list of strings",
    BOOLEAN: "True or False",
    BOOLEANS: "a list of True and False",
    BLOCK: "the index of a block",
    LONG: "an integer",
    BLOCKS: "a list of indices of blocks",
    LONGS: "a list of integers",
    FLOAT64S: "a list of numbers",
    FLOAT64: "a number",
}
_ELEMENT = {INTS: INT, FLOATS: FLOAT, STRINGS: STRING, BOOLEANS: BOOLEAN, BLOCKS: BLOCK, LONGS: LONG, FLOAT64S: FLOAT64}
_ACCEPTED = {
    INT: (int, np.integer),
    LONG: (int, np.integer),
    BLOCK: (int, np.integer),
    FLOAT: (int, float, np.integer, np.floating, np.bool_),
    FLOAT64: (int, float, np.integer, np.floating, np.bool_),
    STRING: (str,),
    BOOLEAN: (bool, np.bool_),
}
_PYTHON = {INT: int, LONG: int, BLOCK: int, FLOAT: float, FLOAT64: float, STRING: str, BOOLEAN: bool}


def dtype_name(dtype: Any) -> str:
    """ "float32" for "float32", np.float32, np.dtype("float32") and framework.proto's 5."""
    if isinstance(dtype, str) and dtype in NUMBERS:
        return dtype
    if isinstance(dtype, (int, np.integer)) and not isinstance(dtype, bool):
        if int(dtype) in NAMES:
            return NAMES[int(dtype)]
    else:
        try:
            name = np.dtype(dtype).name
        except (TypeError, ValueError):  # ValueError: of text that has halves of characters
            name = ""
        if name in NUMBERS:
            return name
    raise ProgramError(f"{shown(dtype)} is not an element type; there are {', '.join(NUMBERS)}")


def typed(name: str, attr_type: int, value: Any) -> Any:
    """The value of an attribute as what `attr_type` holds; ProgramError when it is something else."""
    element = _ELEMENT.get(attr_type)
    if element is not None:
        if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
            return [_one(name, attr_type, element, item) for item in value]
        raise _not_of_type(name, attr_type, value)
    if attr_type == INT and isinstance(value, (str, type, np.dtype)) and name.endswith("dtype"):
        return NUMBERS[dtype_name(value)]
    return _one(name, attr_type, attr_type, value)


def guessed_type(name: str, value: Any) -> int:
    """The attribute type of a Python value, for attributes that no record knows."""
    if isinstance(value, (list, tuple)):
        items: tuple[tuple[type, int], ...] = ((bool, BOOLEANS), (int, INTS), (float, FLOATS))
        for kind, attr_type in items:
            if value and all(isinstance(item, kind) for item in value):
                return attr_type
        return STRINGS
    for scalar, attr_type in ((bool, BOOLEAN), (int, INT), (float, FLOAT), (str, STRING)):
        if isinstance(value, scalar):
            return attr_type
    raise ProgramError(f"attribute '{printable(name)}' cannot be {shown(value)}")


def _one(name: str, attr_type: int, element: int, value: Any) -> Any:
    accepted = _ACCEPTED.get(element)
    if accepted is None:
        return value
    boolean = isinstance(value, (bool, np.bool_))
    # True is 1.0 where a number is wanted, as in PaddlePaddle; an integer that is True is more likely a mistake.
    if isinstance(value, accepted) and (boolean == (element == BOOLEAN) or element in (FLOAT, FLOAT64)):
        with contextlib.suppress(OverflowError):  # an integer beyond every float
            return _PYTHON[element](value)
    raise _not_of_type(name, attr_type, value)


def _not_of_type(name: str, attr_type: int, value: Any) -> ProgramError:
    expected = ATTR_TYPE_NAMES.get(attr_type, f"of type {attr_type}")
    return ProgramError(f"attribute '{printable(name)}' is {shown(value)}, it must be {expected}")


def is_float(dtype: Any | None) -> bool:
    return dtype in FLOAT_NAMES


def has_gradient(dtype: Any | None) -> bool:
    """Floats and complex numbers."""
    return dtype in FLOAT_NAMES or dtype in COMPLEX_NAMES


def shape_list(shape: Any) -> list[int]:
    """[2, -1] for (2, -1), np.array([2, -1]) and so on; an int is one dimension."""
    try:
        given = [shape] if isinstance(shape, (int, np.integer)) else list(shape)
        if any(isinstance(dim, bool) for dim in given):
            raise TypeError
        dims = [operator.index(dim) for dim in given]
    except (TypeError, ValueError):
        raise ProgramError(f"{shown(shape)} is not a shape; give a list of integers") from None
    if any(dim < -1 for dim in dims):
        raise ProgramError(f"{dims} is not a shape; dimensions are at least 0, or -1 if not known")
    return dims
