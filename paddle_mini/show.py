# A program as text, one line an operator.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import callsite, dtypes
from ._core import ProgramError, printable
from .schemas import GENERIC, defaults

_LONGEST_LIST = 8


def program_text(program: Any) -> str:
    """Parameters and data first, then operators:

    param fc_0.w_0 float32[64, 128]
    data  x float32[-1, 64]
    fc_0.tmp_0 float32[-1, 128] = mul(X=x, Y=fc_0.w_0)  # train.py:12
    """
    return "\n".join(program_lines(program, operator_text))


def program_lines(program: Any, text_of: Callable[[Any], str]) -> list[str]:
    """The lines of program_text, with operators as text_of shows them."""
    lines: list[str] = []
    for block in program.blocks:
        if len(program.blocks) > 1:
            lines.append(f"block {block.idx}" + (f" in block {block.parent_idx}" if block.parent_idx >= 0 else ""))
        indent = "  " if len(program.blocks) > 1 else ""
        lines += [indent + line for line in _variable_lines(block)]
        lines += [indent + text_of(op) for op in block.ops]
    return [printable(line, 4 * len(line)) for line in lines]


def operator_text(op: Any) -> str:
    """h float32[-1, 128] = mul(X=x, Y=fc_0.w_0)  # train.py:12"""
    place = callsite.place_of(op.callstack)
    return call_text(op) + (f"  # {place}" if place else "")


def call_text(op: Any, in_full: bool = False) -> str:
    """operator_text without the user's line. in_full: with all elements of lists and all digits."""
    read = set(op.input_names)
    # Variables that are changed in place appear in the first line.
    outputs = [name if name in read else _shown(op.block, name) for name in op.output_names]
    arguments = [f"{port}={_names(names)}" for port, names in op.inputs.items() if names]
    arguments += [f"{name}={_value(name, value, in_full)}" for name, value in _telling_attrs(op)]
    if op.attr("op_device"):
        arguments.append(f"device='{op.attr('op_device')}'")
    return (f"{', '.join(outputs)} = " if outputs else "") + f"{op.type}({', '.join(arguments)})"


def provenance_text(facts: dict[str, Any]) -> str:
    """A program's provenance, in one line."""
    return ", ".join(f"{name} {_value(name, value)}" for name, value in facts.items())


def _shown(block: Any, name: str) -> str:
    var = block.find_var(name)
    return name if var is None else str(var)


def _variable_lines(block: Any) -> list[str]:
    lines = []
    variables = list(block.vars.values())
    parameters = {var.name: var for var in variables if getattr(var, "trainable", None) is not None}
    lines += [f"param {var}{'' if var.trainable else ' frozen'}" for var in parameters.values()]
    written = {name for op in block.ops for name in op.output_names}
    for var in variables:
        if var.kind not in (dtypes.TENSOR, dtypes.SELECTED_ROWS) or var.name in parameters:
            continue
        if var.persistable and var.name not in written:
            lines.append(f"state {var}")
        elif var.need_check_feed:
            lines.append(f"data  {var}")
    return lines


def _telling_attrs(op: Any) -> list[Any]:
    try:
        default_values = defaults(op.type)
    except ProgramError:  # an operator of another build
        default_values = {}
    return [
        (name, value)
        for name, value in op.attrs.items()
        if name not in GENERIC and not (name in default_values and default_values[name] == value)
    ]


def _names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _value(name: str, value: Any, in_full: bool = False) -> str:
    if name.endswith("dtype") and isinstance(value, int) and value in dtypes.NAMES:
        return repr(dtypes.NAMES[value])
    if isinstance(value, float) and not in_full:
        return f"{value:.8g}"
    if isinstance(value, list):
        shown = [_value("", item, in_full) for item in value[: None if in_full else _LONGEST_LIST]]
        return f"[{', '.join(shown)}{f', … {len(value)} in all' if len(shown) < len(value) else ''}]"
    return repr(value)
