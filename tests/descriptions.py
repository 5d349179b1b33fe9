# Programs as plain data, for tests of invalid descriptions.
from __future__ import annotations

from typing import Any

from paddle_mini import _core

INT, FLOAT, STRING, INTS, BLOCK = 0, 1, 2, 3, 8


def var(name: str, shape: Any = (), dtype: Any = "float32", **facts: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kind": 7,
        "dtype": dtype,
        "shape": list(shape),
        "lod_level": 0,
        "persistable": False,
        "need_check_feed": False,
        "is_parameter": None,
        "stop_gradient": None,
        "unknown": b"",
        **facts,
    }


def op(type: str, inputs: dict[str, list[str]], outputs: dict[str, list[str]], *attrs: Any) -> dict[str, Any]:
    return {
        "type": type,
        "inputs": list(inputs.items()),
        "outputs": list(outputs.items()),
        "attrs": list(attrs),
        "is_target": False,
        "unknown": b"",
    }


def block(vars: list[Any], ops: list[Any], idx: int = 0, parent: int = -1) -> dict[str, Any]:
    return {"idx": idx, "parent_idx": parent, "forward_block_idx": -1, "vars": vars, "ops": ops, "unknown": b""}


def program_bytes(*blocks: Any) -> bytes:
    return _core.encode_program({"version": None, "op_versions": [], "unknown": b"", "blocks": list(blocks)})


def program(vars: list[Any], ops: list[Any]) -> _core.Program:
    return _core.Program(program_bytes(block(vars, ops)))
