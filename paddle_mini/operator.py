# Operator: type, ports with names of variables, attributes.
from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from . import callsite, dtypes
from .arguments import explained
from .renamed import answers_names
from .schemas import attr_types
from .transaction import before_setting

if TYPE_CHECKING:
    from .block import Block

EMPTY_NAME = "@EMPTY@"  # marks a missing variable in a list of names


def names_in_attrs(attrs: Iterable[tuple[int, Any]]) -> list[str]:
    """The variables that stand for values of attributes, as PaddlePaddle's programs have them."""
    values = list(attrs)
    one = [value for attr_type, value in values if attr_type == dtypes.VAR]
    return one + [name for attr_type, names in values if attr_type == dtypes.VARS for name in names]


@partial(answers_names, fixed=("block", "type"))
class Operator:
    """One step of a program. Change it through its methods, so that the program knows.

    block: the block that holds it. description: its type, ports, attributes and source lines, as describe() gives them.
    Block.append_op makes operators.
    Example:
        >>> y = pm.layers.leaky_relu(pm.layers.data("x", [-1, 8]), alpha=0.1)
        >>> op = pm.default_main_program().global_block().ops[0]
        >>> op.type, op.input("X"), op.attr("alpha")
        ('leaky_relu', ['x'], 0.10000000149011612)
        >>> op.set_attr("alpha", 0.2)
    """

    def __init__(self, block: Block, description: dict[str, Any]):
        other = dict(description)
        self.block = block
        self.type: str = other.pop("type")
        self._inputs: dict[str, list[str]] = {slot: list(names) for slot, names in other.pop("inputs")}
        self._outputs: dict[str, list[str]] = {slot: list(names) for slot, names in other.pop("outputs")}
        self._attrs: dict[str, tuple[int, Any]] = {name: (attr_type, value) for name, attr_type, value in other.pop("attrs")}
        self._other = other

    @property
    def inputs(self) -> dict[str, list[str]]:
        """Names of variables at each input port."""
        return {slot: list(names) for slot, names in self._inputs.items()}

    @property
    def outputs(self) -> dict[str, list[str]]:
        """Names of variables at each output port."""
        return {slot: list(names) for slot, names in self._outputs.items()}

    def input(self, port: str) -> list[str]:
        """The names of the variables of an input port; none if it is not used."""
        return list(self._inputs.get(port, ()))

    def output(self, port: str) -> list[str]:
        """The names of the variables of an output port; none if it is not used."""
        return list(self._outputs.get(port, ()))

    @property
    def input_names(self) -> list[str]:
        """Names of all variables that it reads, also those that stand for the value of an attribute."""
        names = [name for names in self._inputs.values() for name in names if name != EMPTY_NAME]
        return names + names_in_attrs(self._attrs.values())

    @property
    def output_names(self) -> list[str]:
        """Names of all variables that it writes."""
        return [name for names in self._outputs.values() for name in names if name != EMPTY_NAME]

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes by name: a copy."""
        return {name: value for name, (_, value) in self._attrs.items()}

    def attr(self, name: str, default: Any = None) -> Any:
        """The value of an attribute; default if the operator does not have it."""
        return self._attrs[name][1] if name in self._attrs else default

    @explained
    def set_attr(self, name: str, value: Any) -> None:
        """Sets an attribute; ProgramError when the value does not fit its type."""
        known = self._attrs.get(name)
        attr_type = known[0] if known else attr_types(self.type).get(name)
        if attr_type is None:
            attr_type = dtypes.guessed_type(name, value)
        typed = dtypes.typed(name, attr_type, value)
        before_setting(self._attrs, name)
        self._attrs[name] = (attr_type, typed)
        self.block.program.changed()

    def set_output(self, port: str, name: str) -> None:
        """Redirects an output port to another variable."""
        before_setting(self._outputs, port)
        self._outputs[port] = [name]
        self.block.program.changed()

    def rename(self, old: str, new: str) -> None:
        """Replaces a variable at all ports, and in attributes."""
        for slots in (self._inputs, self._outputs):
            before_setting(slots, *slots)
            for slot, names in slots.items():
                slots[slot] = [new if name == old else name for name in names]
        for attr, (attr_type, value) in self._attrs.items():
            if old in names_in_attrs([(attr_type, value)]):
                before_setting(self._attrs, attr)
                renamed = new if attr_type == dtypes.VAR else [new if name == old else name for name in value]
                self._attrs[attr] = (attr_type, renamed)
        self.block.program.changed()

    @property
    def callstack(self) -> list[str]:
        """The lines of the user's program that appended the operator, the innermost first."""
        return list(self.attr("op_callstack") or ())

    @property
    def index(self) -> int:
        """Position in its block."""
        return next(i for i, op in enumerate(self.block.ops) if op is self)

    def describe(self) -> dict[str, Any]:
        """The operator as the bindings read it: a dict with its type, ports and attributes."""
        attrs = [(name, attr_type, value) for name, (attr_type, value) in self._attrs.items()]
        return {
            "is_target": False,
            "unknown": b"",
            **self._other,
            "type": self.type,
            "inputs": list(self.inputs.items()),
            "outputs": list(self.outputs.items()),
            "attrs": attrs,
        }

    def __repr__(self) -> str:
        place = callsite.place_of(self.callstack)
        return f"<Operator {self.type} -> {', '.join(self.output_names)}{' at ' + place if place else ''}>"


def slots(ports: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """{"X": variable} as [("X", ["x"])]: takes variables, names and lists of them. None stands for no port;
    an empty list is a port without variables, which PaddlePaddle treats differently."""
    result: list[tuple[str, list[str]]] = []
    for port, value in ports.items():
        items = value if isinstance(value, (list, tuple)) else [value]
        names: list[Any] = [getattr(item, "name", item) for item in items if item is not None]
        if names or (isinstance(value, (list, tuple)) and not value):
            result.append((port, names))
    return result
