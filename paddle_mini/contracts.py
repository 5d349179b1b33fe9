# The records of operators as C++ states them, each asked for once.
from __future__ import annotations

from functools import lru_cache
from typing import Any, Dict, List, Mapping, Tuple

from . import _core, dtypes

# Attributes that every operator may have; they say nothing about what it computes.
GENERIC = {
    "op_role": dtypes.INT, "op_role_var": dtypes.STRINGS, "op_namescope": dtypes.STRING,
    "op_callstack": dtypes.STRINGS, "op_device": dtypes.STRING, "with_quant_attr": dtypes.BOOLEAN,
}

TypedAttrs = List[Tuple[str, int, Any]]


@lru_cache(maxsize=None)
def contract(op_type: str) -> Dict[str, Any]:
    """The record of an operator; ProgramError, with the nearest names, when there is none."""
    return _core.contract(op_type)


@lru_cache(maxsize=None)
def attr_types(op_type: str) -> Mapping[str, int]:
    types = {attr["name"]: attr["type"] for attr in contract(op_type)["attrs"]}
    return {**GENERIC, **types}


@lru_cache(maxsize=None)
def defaults(op_type: str) -> Mapping[str, Any]:
    return {attr["name"]: attr["default"] for attr in contract(op_type)["attrs"]
            if not attr["required"]}


def typed_attrs(op_type: str, attrs: Mapping[str, Any]) -> TypedAttrs:
    """Python values as attributes of the types that the record wants."""
    types = attr_types(op_type)
    result = []
    for name, value in attrs.items():
        attr_type = types.get(name)
        if attr_type is None:
            attr_type = dtypes.guessed_type(name, value)
        result.append((name, attr_type, dtypes.typed(name, attr_type, value)))
    return result
