# diff: the lines in which two programs differ.
from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from .._core import ProgramError
from ..errors import shown
from ..program import Program
from ..show import call_text, program_lines


def diff(before: Program, after: Program) -> str:
    """The parameters, data and operators in which two programs differ, one a line: "- " those of `before` only, "+ " those of
    `after` only, with "@ " and the number of the operator or variable in `before` at the beginning of each place. "" for programs
    that are equal. Lines of code and attributes with default values do not count. ProgramError for other objects.

    Example:
        >>> kept = pm.layers.relu(pm.layers.data("x", shape=[-1, 2]))
        >>> before = pm.default_main_program().clone()
        >>> added = pm.layers.square(kept)
        >>> print(pm.diff(before, pm.default_main_program()))
        @ 2
        + square_0.tmp_0 float32[-1, 2] = square(X=relu_0.tmp_0)
    """
    for name, program in (("before", before), ("after", after)):
        if not isinstance(program, Program):
            raise ProgramError(f"diff: {name} is {shown(program)}, it must be a Program")
    old, new = (program_lines(program, _in_full) for program in (before, after))
    lines: list[str] = []
    for tag, first, last, new_first, new_last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            lines.append(f"@ {first}")
            lines += [f"- {line}" for line in old[first:last]]
            lines += [f"+ {line}" for line in new[new_first:new_last]]
    return "\n".join(lines)


def _in_full(op: Any) -> str:
    """Operators with one text have the same effect: no element and no digit may be left out."""
    return call_text(op, in_full=True)
