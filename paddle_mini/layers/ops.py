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
acos = layer("acos")
acosh = layer("acosh")
asin = layer("asin")
asinh = layer("asinh")
atan = layer("atan")
atanh = layer("atanh")
bce_loss = layer("bce_loss")
bitwise_and = layer("bitwise_and")
bitwise_not = layer("bitwise_not")
bitwise_or = layer("bitwise_or")
bitwise_xor = layer("bitwise_xor")
brelu = layer("brelu")
ceil = layer("ceil")
celu = layer("celu")
clip = layer("clip", "Min", "Max")
clip_by_norm = layer("clip_by_norm")
cos = layer("cos")
cosh = layer("cosh")
elementwise_add = layer("elementwise_add")
elementwise_div = layer("elementwise_div")
elementwise_floordiv = layer("elementwise_floordiv")
elementwise_fmax = layer("elementwise_fmax")
elementwise_fmin = layer("elementwise_fmin")
elementwise_max = layer("elementwise_max")
elementwise_min = layer("elementwise_min")
elementwise_mod = layer("elementwise_mod")
elementwise_mul = layer("elementwise_mul")
elementwise_pow = layer("elementwise_pow")
elementwise_sub = layer("elementwise_sub")
elu = layer("elu")
equal = layer("equal")
erf = layer("erf")
exp = layer("exp")
expm1 = layer("expm1")
floor = layer("floor")
gelu = layer("gelu")
get_tensor_from_selected_rows = layer("get_tensor_from_selected_rows")
greater_equal = layer("greater_equal")
greater_than = layer("greater_than")
hard_shrink = layer("hard_shrink")
hard_sigmoid = layer("hard_sigmoid")
hard_swish = layer("hard_swish")
hinge_loss = layer("hinge_loss")
isfinite = layer("isfinite_v2")
isinf = layer("isinf_v2")
isnan = layer("isnan_v2")
kldiv_loss = layer("kldiv_loss")
leaky_relu = layer("leaky_relu")
less_equal = layer("less_equal")
less_than = layer("less_than")
log = layer("log")
log10 = layer("log10")
log1p = layer("log1p")
log2 = layer("log2")
log_softmax = layer("log_softmax")
logical_and = layer("logical_and")
logical_not = layer("logical_not")
logical_or = layer("logical_or")
logical_xor = layer("logical_xor")
logsigmoid = layer("logsigmoid")
lookup_table = layer("lookup_table")
mean = layer("mean")
merge_selected_rows = layer("merge_selected_rows")
mish = layer("mish")
mul = layer("mul")
not_equal = layer("not_equal")
pixel_shuffle = layer("pixel_shuffle")
rank_loss = layer("rank_loss")
reciprocal = layer("reciprocal")
relu = layer("relu")
relu6 = layer("relu6")
round = layer("round")
rsqrt = layer("rsqrt")
scale = layer("scale", "ScaleTensor")
selu = layer("selu")
shape = layer("shape")
sigmoid = layer("sigmoid")
sigmoid_cross_entropy_with_logits = layer("sigmoid_cross_entropy_with_logits")
sign = layer("sign")
silu = layer("silu")
sin = layer("sin")
sinh = layer("sinh")
softmax = layer("softmax")
softplus = layer("softplus")
softsign = layer("softsign")
sqrt = layer("sqrt")
square = layer("square")
squared_l2_norm = layer("squared_l2_norm")
stanh = layer("stanh")
swish = layer("swish")
tan = layer("tan")
tanh = layer("tanh")
tanh_shrink = layer("tanh_shrink")
thresholded_relu = layer("thresholded_relu")
trunc = layer("trunc")
