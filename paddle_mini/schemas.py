# The schemas of operators, from C++, each read once.
from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from . import _core, dtypes

# Attributes that every operator may have, with their types; they do not affect its results.
GENERIC: Mapping[str, int] = _core.generic_attributes()

TypedAttrs = list[tuple[str, int, Any]]


@cache
def op_schema(op_type: str) -> dict[str, Any]:
    """The schema of an operator; ProgramError, with the most similar names, if it is not known."""
    return _core.op_schema(op_type)


@cache
def attr_types(op_type: str) -> Mapping[str, int]:
    """The types of its attributes. A gradient operator has all those of its operator, which PaddlePaddle's may
    require."""
    types = {attr["name"]: attr["type"] for attr in op_schema(op_type)["attrs"]}
    forward = op_type[: -len("_grad")]
    inherited = attr_types(forward) if op_type.endswith("_grad") and forward in op_types() else {}
    return {**GENERIC, **inherited, **types}


@cache
def op_types() -> frozenset[str]:
    return frozenset(_core.op_types())


def operators_were_added() -> None:
    """Forgets what depends on the list of operators; schemas never change."""
    op_types.cache_clear()


@cache
def defaults(op_type: str) -> Mapping[str, Any]:
    return {attr["name"]: attr["default"] for attr in op_schema(op_type)["attrs"] if not attr["required"]}


def typed_attrs(op_type: str, attrs: Mapping[str, Any]) -> TypedAttrs:
    """Python values converted to the attribute types of the schema."""
    types = attr_types(op_type)
    result = []
    for name, value in attrs.items():
        attr_type = types.get(name)
        if attr_type is None:
            attr_type = dtypes.guessed_type(name, value)
        result.append((name, attr_type, dtypes.typed(name, attr_type, value)))
    return result
