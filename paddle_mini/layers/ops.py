# One line an operator that is a layer: its signature and docs are those of its record in C++.
from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List

from .. import dtypes
from ..contracts import contract
from ..variable import Variable
from .emit import emit

_REQUIRED = inspect.Parameter.empty


def layer(op_type: str, *hidden: str) -> Callable[..., Variable]:
    """The layer function of an operator: input ports in lower case, then attributes by keyword.
    `hidden` ports and attributes are no parameters."""
    record = contract(op_type)
    ports = {port["name"].lower(): port["name"] for port in record["inputs"] if port["name"] not in hidden}
    attrs = [attr for attr in record["attrs"] if attr["name"] not in hidden]
    signature = _signature(record, ports, attrs)

    def function(*args: Any, **kwargs: Any) -> Variable:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{op_type}(): {error}") from None
        name = given.pop("name", None)
        inputs = {port: given.pop(parameter, None) for parameter, port in ports.items()}
        return emit(op_type, inputs, given, name=name)

    function.__name__ = function.__qualname__ = op_type
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = _doc(record, ports, attrs)
    return function


def _signature(record: Dict[str, Any], ports: Dict[str, str], attrs: List[Dict[str, Any]]) -> inspect.Signature:
    optional = {port["name"]: port["optional"] for port in record["inputs"]}
    parameters = [inspect.Parameter(parameter, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Variable)
                  for parameter, port in ports.items() if not optional[port]]
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters += [inspect.Parameter(parameter, kind, default=None) for parameter, port in ports.items()
                   if optional[port]]
    parameters += [inspect.Parameter(attr["name"], kind, default=_REQUIRED if attr["required"] else _shown(attr))
                   for attr in attrs]
    parameters.append(inspect.Parameter("name", kind, default=None))
    return inspect.Signature(parameters, return_annotation=Variable)


def _doc(record: Dict[str, Any], ports: Dict[str, str], attrs: List[Dict[str, Any]]) -> str:
    described = {port["name"]: port["doc"] for port in record["inputs"]}
    lines = [record["doc"], ""]
    lines += [f"{parameter}: {described[port]}" for parameter, port in ports.items()]
    lines += [f"{attr['name']}: {attr['doc']}" for attr in attrs]
    lines.append("name: beginning of the names of its variables")
    out = record["outputs"][0]
    lines += ["", f"Returns {out['name']}: {out['doc']}.", f"Element types: {', '.join(record['dtypes']) or 'any'}.",
              "Raises ShapeError when shapes or element types do not fit, ProgramError when an attribute does not."]
    return "\n".join(lines)


def _shown(attr: Dict[str, Any]) -> Any:
    # 0.9, not the float32 nearest to it
    if attr["type"] == dtypes.FLOAT:
        return float(f"{attr['default']:.7g}")
    return attr["default"]


abs = layer("abs")
clip = layer("clip", "Min", "Max")
elementwise_add = layer("elementwise_add")
elementwise_div = layer("elementwise_div")
elementwise_max = layer("elementwise_max")
elementwise_min = layer("elementwise_min")
elementwise_mul = layer("elementwise_mul")
elementwise_sub = layer("elementwise_sub")
exp = layer("exp")
log = layer("log")
mean = layer("mean")
mul = layer("mul")
relu = layer("relu")
scale = layer("scale", "ScaleTensor")
sigmoid = layer("sigmoid")
sign = layer("sign")
softmax = layer("softmax")
sqrt = layer("sqrt")
square = layer("square")
squared_l2_norm = layer("squared_l2_norm")
tanh = layer("tanh")
