# Names of gradients, as in PaddlePaddle: x@GRAD@RENAME@block0@0 and a sum where a variable is used more than once;
# grad/x@GRAD at a second call.
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .operator import EMPTY_NAME

Description = dict[str, Any]


GRAD = "@GRAD"
# In a description: gradients that end with its operator, because the variables are written there; without an operator, its type
# is "".
ENDS = "ends"

# While operators are made, this follows the names of variables of the program: x@GRAD\0 is a variable that an earlier
# call made, and x\0@GRAD is the gradient of x that this call makes.
_MARK = "\0"


_EARLIER = re.compile("(grad/)*")


def calls_before(names: Iterable[str]) -> int:
    """How many calls have appended gradients to a program with these variables."""
    return max((1 + _EARLIER.match(name)[0].count("/") for name in names if GRAD in name), default=0)  # type: ignore[index]


class GradientNames:
    """The name of the gradient of a variable, with a prefix if an earlier call has used the name."""

    def __init__(self, taken: set[str], prefix: str):
        self.taken, self.prefix = taken, prefix

    def gradient(self, name: str) -> str:
        return self.prefix + name if name in self.taken else name

    def final(self, name: str) -> str:
        """The name in the program."""
        if name.endswith(_MARK + GRAD):
            return self.gradient(name.replace(_MARK, ""))
        return name.removesuffix(_MARK)


def marked(description: Description) -> Description:
    """A description of an operator, whose gradient can be told from variables named like gradients."""

    def slots(items: Any) -> Any:
        return [(slot, [name if name == EMPTY_NAME else name + _MARK for name in names]) for slot, names in items]

    return {**description, "inputs": slots(description["inputs"]), "outputs": slots(description["outputs"])}


def gradient_of(name: str) -> str:
    """The name of the gradient of a variable, while operators are made."""
    return name + _MARK + GRAD


def is_marked(name: str) -> bool:
    """Whether `marked` has marked it as a variable of the program."""
    return name.endswith(_MARK)


def variable_name(name: str) -> str:
    """The name in the program of a variable that `marked` has marked."""
    return name.removesuffix(_MARK)


def plain(name: str) -> str:
    """The variable of which a name is the gradient that this call makes; "" if it is another name."""
    return name[: -len(_MARK + GRAD)] if name.endswith(_MARK + GRAD) else ""


def finished(descriptions: list[Description], names: GradientNames) -> list[Description]:
    """The descriptions with the names in the program."""

    def slots(items: Any) -> Any:
        return [(slot, [names.final(name) for name in args]) for slot, args in items]

    return [
        {
            **description,
            "inputs": slots(description["inputs"]),
            "outputs": slots(description["outputs"]),
            ENDS: list(map(names.final, description.get(ENDS, ()))),
        }
        for description in descriptions
    ]


def with_sums(descriptions: list[Description], block_index: int, entering: Iterable[str] = ()) -> list[Description]:
    """If a gradient is written more than once, each writer gets a separate name, and a sum is
    put before the first reader, or at the end. `entering` are gradients that have a value before the first operator."""
    result: list[Description] = []
    given = {name: [name] for name in entering}
    # Where each part of a gradient is written, and its line.
    parts: dict[str, list[tuple[list[str], int, Any]]] = {name: [(names, 0, None)] for name, names in given.items()}
    renames: dict[str, int] = {}

    def rename(names: list[str], i: int) -> None:
        if names is given.get(name):
            return
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
        if description["type"]:
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
        for name in description.get(ENDS, ()):
            add_up(name)
            parts.pop(name, None)
    for name in list(parts):
        add_up(name)
    return result
