# Schemas of operators with one fact changed, for tests that must detect a wrong schema.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paddle_mini import _core
from paddle_mini.schemas import op_schema


@contextmanager
def altered(op_type: str, facts: dict[str, Any]) -> Iterator[None]:
    """Inside the context, the operator's schema has these facts, by the names of op_schema(); "inputs.list" are the
    names of the inputs that are lists. dtype_from is (port or "", whether it is an output); control is the address of a
    function, 0 for none."""
    before = {}
    try:
        for fact, value in facts.items():
            before[fact] = _core.alter_schema(op_type, fact, value)
        op_schema.cache_clear()
        yield
    finally:
        for fact, value in reversed(before.items()):
            _core.alter_schema(op_type, fact, value)
        op_schema.cache_clear()
