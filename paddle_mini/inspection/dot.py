# A program as a graph in the language of Graphviz.
from __future__ import annotations

from typing import Any

from .._core import printable
from ..callsite import place_of
from ..variable import Parameter, Variable

_STYLES = {
    "parameter": 'shape=box, style="rounded,filled", fillcolor="#d9e8fb"',
    "state": 'shape=box, style="rounded,filled", fillcolor="#eeeeee"',
    "data": 'shape=ellipse, style=filled, fillcolor="#e2f3dc"',
    "value": "shape=plaintext",
    "operator": 'shape=box, style=filled, fillcolor="#fdf0d5"',
}


def dot_text(program: Any) -> str:
    """A node for each operator and for each value that one writes: a variable that is written twice has two, so that the graph
    of a step has no cycles. Inner blocks are clusters."""
    return _Graph().text(program)


class _Graph:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.nodes: dict[tuple[int, str], str] = {}  # the newest value of each variable
        self.count = 0

    def text(self, program: Any) -> str:
        for block in program.blocks:
            if block.idx:
                label = _quoted(f"block {block.idx} in block {block.parent_idx}")
                self.lines.append(f"  subgraph cluster_{block.idx} {{ label={label};")
            for op in block.ops:
                self._add_operator(op)
            if block.idx:
                self.lines.append("  }")
        header = ["digraph program {", "  rankdir=TB;", '  node [fontname="Helvetica", fontsize=10];']
        return "\n".join([*header, *self.lines, "}"]) + "\n"

    def _add_operator(self, op: Any) -> None:
        place = place_of(op.callstack)
        node = self._node("operator", f"{printable(op.type)}\n{place}" if place else printable(op.type))
        for port, names in op.inputs.items():
            for var in self._variables(op.block, names):
                key = (var.block.idx, var.name)
                if key not in self.nodes:
                    self.nodes[key] = self._value(var)
                self.lines.append(f"  {self.nodes[key]} -> {node} [label={_quoted(printable(port))}, fontsize=8];")
        for port, names in op.outputs.items():
            for var in self._variables(op.block, names):
                self.nodes[var.block.idx, var.name] = self._value(var)
                target = self.nodes[var.block.idx, var.name]
                self.lines.append(f"  {node} -> {target} [label={_quoted(printable(port))}, fontsize=8];")

    def _variables(self, block: Any, names: list[str]) -> list[Variable]:
        found = [block.find_var(name) for name in names]
        return [var for var in found if var is not None]

    def _value(self, var: Variable) -> str:
        kind = "parameter" if isinstance(var, Parameter) else "state" if var.persistable else "value"
        text = printable(str(var), 4 * len(str(var)))
        return self._node("data" if var.need_check_feed else kind, text.replace(" ", "\n", 1))

    def _node(self, kind: str, label: str) -> str:
        self.count += 1
        self.lines.append(f"  n{self.count} [label={_quoted(label)}, {_STYLES[kind]}];")
        return f"n{self.count}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
