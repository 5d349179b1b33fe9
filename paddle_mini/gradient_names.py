# Names of gradients, as in PaddlePaddle: x@GRAD@RENAME@block0@0 and a sum where a variable is used more than once;
# grad/x@GRAD at a second call.
from __future__ import annotations

from typing import Any

from .operator import EMPTY_NAME

Description = dict[str, Any]


class GradientNames:
    """The name of the gradient of a variable, with a suffix if an earlier call has used the name."""

    def __init__(self, taken: set[str], mark: str):
        self.taken, self.mark = taken, mark

    def gradient(self, name: str) -> str:
        return self.mark + name if name in self.taken else name


def renamed(descriptions: list[Description], names: GradientNames) -> list[Description]:
    if not names.taken:
        return descriptions
    written = {name for description in descriptions for _, outs in description["outputs"] for name in outs}

    def slots(items: Any) -> Any:
        return [(slot, [names.gradient(name) if name in written else name for name in args]) for slot, args in items]

    return [
        {**description, "inputs": slots(description["inputs"]), "outputs": slots(description["outputs"])}
        for description in descriptions
    ]


def with_sums(descriptions: list[Description], block_index: int) -> list[Description]:
    """If a gradient is written more than once, each writer gets a separate name, and a sum is
    put before the first reader, or at the end."""
    result: list[Description] = []
    parts: dict[str, list[tuple[list[str], int, Any]]] = {}  # where each part of a gradient is written, and its line
    renames: dict[str, int] = {}

    def rename(names: list[str], i: int) -> None:
        number = renames.get(name, 0)
        renames[name] = number + 1
        names[i] = f"{name}@RENAME@block{block_index}@{number}"

    def add_up(name: str) -> None:
        places = parts.get(name, [])
        if len(places) < 2:
            return
        out, callstack = [name], places[-1][2]
        result.append(
            {
                "type": "sum",
                "inputs": [("X", [names[i] for names, i, _ in places])],
                "outputs": [("Out", out)],
                "attrs": {"op_callstack": callstack} if callstack else {},
            }
        )
        parts[name] = [(out, 0, callstack)]

    for description in descriptions:
        for name in [name for _, names in description["inputs"] for name in names]:
            add_up(name)
        outputs = [(slot, list(names)) for slot, names in description["outputs"]]
        result.append({**description, "outputs": outputs})
        for names, i, name in [(written, i, name) for _, written in outputs for i, name in enumerate(written)]:
            if name == EMPTY_NAME:
                continue
            if description["type"] == "write_to_array" or any(name in read for _, read in description["inputs"]):
                # An element is added to what the array has; a loop turns the gradient of what it wrote into
                # that of what it read.
                add_up(name)
                parts[name] = [(names, i, description["attrs"].get("op_callstack"))]
                continue
            places = parts.setdefault(name, [])
            places.append((names, i, description["attrs"].get("op_callstack")))
            if len(places) == 2:
                rename(*places[0][:2])
            if len(places) >= 2:
                rename(names, i)
    for name in list(parts):
        add_up(name)
    return result
