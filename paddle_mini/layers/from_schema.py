# layer: makes the layer function of an operator, with signature and documentation, from its schema.
from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .. import dtypes
from .._core import printable
from ..arithmetic import as_operand
from ..errors import listed
from ..schemas import op_schema
from ..variable import Variable
from .emit import at_users_line, emit, emit_all
from .examples import example
from .shared_arguments import ARGUMENTS, ERRORS

_HOME = f"{__package__}.ops"
_WORD = re.compile(r"((?<![\w'])[A-Za-z_]\w*(?!\w|'(?!s\b)))")
_TYPES = {
    dtypes.INT: "int",
    dtypes.LONG: "int",
    dtypes.FLOAT: "float",
    dtypes.FLOAT64: "float",
    dtypes.STRING: "str",
    dtypes.BOOLEAN: "bool",
    dtypes.INTS: "Sequence[int]",
    dtypes.LONGS: "Sequence[int]",
    dtypes.FLOATS: "Sequence[float]",
    dtypes.FLOAT64S: "Sequence[float]",
    dtypes.STRINGS: "Sequence[str]",
    dtypes.BOOLEANS: "Sequence[bool]",
}

# Operators whose Y may be a number.
_COMPARISONS = ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")

Schema = Mapping[str, Any]


def layer(op_type: str, *hidden: str, **called: str) -> Callable[..., Variable]:
    """The layer function of an operator: input ports in lower case and attributes that it needs, then
    other attributes by keyword. `hidden` ports and attributes are not parameters; `called` maps which
    have another name as a parameter."""
    return made_layer(op_type, hidden, called, _HOME, example(op_type))


def made_layer(
    op_type: str,
    hidden: Collection[str] = (),
    called: Mapping[str, str] = MappingProxyType({}),
    home: str = _HOME,
    shown_example: Sequence[str] = (),
    several: bool = False,
) -> Callable[..., Any]:
    """The same for any operator: `home` is the module of the function, `shown_example` has the lines of its example;
    `several`: the function returns the variables of all outputs, as a list if there are several."""
    schema = op_schema(op_type)
    ports = {called.get(port["name"], port["name"].lower()): port for port in schema["inputs"] if port["name"] not in hidden}
    attrs = {called.get(attr["name"], attr["name"]): attr for attr in schema["attrs"] if attr["name"] not in hidden}
    if op_type in _COMPARISONS:
        ports["y"] = {**ports["y"], "doc": f"{ports['y']['doc']}, or a number", "number": True}
    signature = _signature(ports, attrs)

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{op_type}(): {printable(str(error))}{_named_ones(signature, len(args))}") from None
        name = given.pop("name", None)
        inputs = {port["name"]: given.pop(parameter, None) for parameter, port in ports.items()}
        if op_type in _COMPARISONS and isinstance(inputs["X"], Variable):
            with at_users_line():
                inputs["Y"] = as_operand(inputs["X"], inputs["Y"])
        named = {attrs[parameter]["name"]: value for parameter, value in given.items()}
        if not several or len(schema["outputs"]) == 1:
            return emit(op_type, inputs, named, name=name)
        return list(emit_all(op_type, inputs, named, name).values())

    function.__name__ = function.__qualname__ = op_type
    function.__module__ = home
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = _doc(schema, ports, attrs, shown_example)
    return function


def _signature(ports: Mapping[str, Schema], attrs: Mapping[str, Schema]) -> inspect.Signature:
    by_position, by_keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    types = {name: "Sequence[Variable]" if port["list"] else "Variable" for name, port in ports.items()}
    types |= {name: "Variable | float" for name, port in ports.items() if "number" in port}
    types |= {name: _attr_type(attr) for name, attr in attrs.items()}
    needed = [name for name, port in ports.items() if not port["optional"]]
    needed += [name for name, attr in attrs.items() if attr["required"]]
    defaults = {name: None for name, port in ports.items() if port["optional"]}
    types |= {name: f"{types[name]} | None" for name in defaults}
    defaults |= {name: _shown(attr) for name, attr in attrs.items() if not attr["required"]}
    parameters = [inspect.Parameter(name, by_position, annotation=types[name]) for name in needed]
    parameters += [inspect.Parameter(name, by_keyword, default=defaults[name], annotation=types[name]) for name in defaults]
    parameters.append(inspect.Parameter("name", by_keyword, default=None, annotation="str | None"))
    return inspect.Signature(parameters, return_annotation="Variable")


def _named_ones(signature: inspect.Signature, given: int) -> str:
    """For the error of a call with more arguments by position than there are: those that are given by name."""
    by_position = [one.name for one in signature.parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
    if given <= len(by_position):
        return ""
    by_name = [f"{name}=" for name in signature.parameters if name not in by_position]
    return f"; by position it takes {listed(by_position) or 'none'}, by name {listed(by_name)}"


def _attr_type(attr: Schema) -> str:
    return "str | int" if attr["type"] == dtypes.INT and attr["name"].endswith("dtype") else _TYPES[attr["type"]]


def _doc(schema: Schema, ports: Mapping[str, Schema], attrs: Mapping[str, Schema], lines: Sequence[str]) -> str:
    # The schema names ports; the caller of the function knows parameters.
    called = {port["name"]: parameter for parameter, port in ports.items()}
    called |= {attr["name"]: parameter for parameter, attr in attrs.items()}

    def renamed(text: str) -> str:
        pieces = _WORD.split(text)  # every other one is a word; faster than sub, which calls a function for each
        pieces[1::2] = [called.get(word, word) for word in pieces[1::2]]
        return "".join(pieces)

    out = schema["outputs"][0]
    wider = f"; computed in a wider one: {', '.join(schema['widened'])}" if schema["widened"] else ""
    return "\n".join(
        [
            renamed(schema["doc"]),
            "",
            f"Element types: {', '.join(schema['dtypes']) or 'any'}{wider}.",
            "",
            "Args:",
            *(f"    {name}: {renamed(described['doc'])}" for name, described in {**ports, **attrs}.items()),
            f"    name: {ARGUMENTS['name']}",
            "Returns:",
            f"    {out['name']}: {renamed(out['doc'])}.",
            "Raises:",
            *(f"    {kind}: for {cause}" for kind, cause in ERRORS.items()),
            *(["Example:"] if lines else []),
            *("    " + line for line in lines),
        ]
    )


def _shown(attr: Schema) -> Any:
    # 0.9, not the float32 nearest to it
    if attr["type"] == dtypes.FLOAT:
        return float(f"{attr['default']:.7g}")
    return attr["default"]
