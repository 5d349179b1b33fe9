# Records of operators with one fact changed, for tests that must notice a record that is wrong.
from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator

from paddle_mini import _core
from paddle_mini.contracts import contract


@contextmanager
def altered(op_type: str, **facts: Any) -> Iterator[None]:
    """Inside, the record of the operator says this: in_place, view, updates (lists of pairs of ports), takes_rows,
    reads_shape, optional_inputs, optional_outputs, input_lists, output_lists (lists of ports), tiled, checks_data,
    decides_lod, on_gpu (bool), dtype_from (port, whether it is an output)."""
    before = {}
    try:
        for fact, value in facts.items():
            before[fact] = _core.alter_record(op_type, fact, value)
        contract.cache_clear()
        yield
    finally:
        for fact, value in before.items():
            _core.alter_record(op_type, fact, value)
        contract.cache_clear()
