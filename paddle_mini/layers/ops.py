# Layers that are single operators: signature and documentation come from the operator's schema in C++.
from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from .. import dtypes
from .._core import printable
from ..schemas import op_schema
from ..variable import Variable
from .emit import emit


def layer(op_type: str, *hidden: str, **called: str) -> Callable[..., Variable]:
    """The layer function of an operator: input ports in lower case and attributes that it needs, then
    other attributes by keyword. `hidden` ports and attributes are not parameters; `called` maps which
    have another name as a parameter."""
    schema = op_schema(op_type)
    ports = {
        called.get(port["name"], port["name"].lower()): port["name"] for port in schema["inputs"] if port["name"] not in hidden
    }
    attrs = {called.get(attr["name"], attr["name"]): attr for attr in schema["attrs"] if attr["name"] not in hidden}
    signature = _signature(schema, ports, attrs)

    def function(*args: Any, **kwargs: Any) -> Variable:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{op_type}(): {printable(str(error))}") from None
        name = given.pop("name", None)
        inputs = {port: given.pop(parameter, None) for parameter, port in ports.items()}
        return emit(op_type, inputs, {attrs[parameter]["name"]: value for parameter, value in given.items()}, name=name)

    function.__name__ = function.__qualname__ = op_type
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = _doc(schema, ports, attrs)
    return function


def _signature(schema: dict[str, Any], ports: dict[str, str], attrs: dict[str, dict[str, Any]]) -> inspect.Signature:
    optional = {port["name"]: port["optional"] for port in schema["inputs"]}
    by_position = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(parameter, by_position, annotation=Variable) for parameter, port in ports.items() if not optional[port]
    ]
    parameters += [inspect.Parameter(parameter, by_position) for parameter, attr in attrs.items() if attr["required"]]
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters += [inspect.Parameter(parameter, kind, default=None) for parameter, port in ports.items() if optional[port]]
    parameters += [
        inspect.Parameter(parameter, kind, default=_shown(attr)) for parameter, attr in attrs.items() if not attr["required"]
    ]
    parameters.append(inspect.Parameter("name", kind, default=None))
    return inspect.Signature(parameters, return_annotation=Variable)


def _doc(schema: dict[str, Any], ports: dict[str, str], attrs: dict[str, dict[str, Any]]) -> str:
    described = {port["name"]: port["doc"] for port in schema["inputs"]}
    # The schema names ports; the caller of the function knows parameters.
    called = {port: parameter for parameter, port in ports.items()} | {
        attr["name"]: parameter for parameter, attr in attrs.items()
    }
    called = {port: parameter for port, parameter in called.items() if parameter != port.lower()}
    words = re.compile(rf"(?<![\w'])({'|'.join(map(re.escape, called)) or '(?!)'})(?![\w'])")

    def renamed(text: str) -> str:
        return words.sub(lambda match: called[match.group()], text)

    lines = [renamed(schema["doc"]), ""]
    lines += [f"{parameter}: {renamed(described[port])}" for parameter, port in ports.items()]
    lines += [f"{parameter}: {renamed(attr['doc'])}" for parameter, attr in attrs.items()]
    lines.append("name: beginning of the names of its variables")
    out = schema["outputs"][0]
    lines += [
        "",
        f"Returns {out['name']}: {renamed(out['doc'])}.",
        f"Element types: {', '.join(schema['dtypes']) or 'any'}.",
        "Raises ShapeError when shapes or element types do not fit, ProgramError when an attribute does not.",
    ]
    return "\n".join(lines)


def _shown(attr: dict[str, Any]) -> Any:
    # 0.9, not the float32 nearest to it
    if attr["type"] == dtypes.FLOAT:
        return float(f"{attr['default']:.7g}")
    return attr["default"]


abs = layer("abs")
acos = layer("acos")
acosh = layer("acosh")
addmm = layer("addmm", Beta="beta", Alpha="alpha")
asin = layer("asin")
asinh = layer("asinh")
atan = layer("atan")
atanh = layer("atanh")
bce_loss = layer("bce_loss")
bitwise_and = layer("bitwise_and")
bitwise_not = layer("bitwise_not")
bitwise_or = layer("bitwise_or")
bitwise_xor = layer("bitwise_xor")
bmm = layer("bmm")
bpr_loss = layer("bpr_loss", X="input")
brelu = layer("brelu")
ceil = layer("ceil")
celu = layer("celu")
channel_shuffle = layer("channel_shuffle")
clip = layer("clip", "Min", "Max")
clip_by_norm = layer("clip_by_norm")
continuous_value_model = layer("cvm", X="input")
cos = layer("cos")
cosh = layer("cosh")
cross = layer("cross", dim="axis")
cumprod = layer("cumprod")
diag = layer("diag_v2")
dist = layer("dist")
dot = layer("dot")
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
equal_all = layer("equal_all")
erf = layer("erf")
exp = layer("exp")
expm1 = layer("expm1")
floor = layer("floor")
gather_nd = layer("gather_nd", X="input")
gather_tree = layer("gather_tree")
gelu = layer("gelu")
get_tensor_from_selected_rows = layer("get_tensor_from_selected_rows")
greater_equal = layer("greater_equal")
greater_than = layer("greater_than")
grid_sampler = layer("grid_sampler")
hard_shrink = layer("hard_shrink")
hard_sigmoid = layer("hard_sigmoid")
hard_swish = layer("hard_swish")
hinge_loss = layer("hinge_loss")
index_sample = layer("index_sample")
is_empty = layer("is_empty")
isfinite = layer("isfinite_v2")
isinf = layer("isinf_v2")
isnan = layer("isnan_v2")
kldiv_loss = layer("kldiv_loss")
kron = layer("kron")
l1_norm = layer("l1_norm")
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
mv = layer("mv")
not_equal = layer("not_equal")
pixel_shuffle = layer("pixel_shuffle")
pixel_unshuffle = layer("pixel_unshuffle")
rank_loss = layer("rank_loss")
reciprocal = layer("reciprocal")
relu = layer("relu")
relu6 = layer("relu6")
round = layer("round")
rsqrt = layer("rsqrt")
scale = layer("scale", "ScaleTensor")
scatter = layer("scatter", X="input", Ids="index")
scatter_nd_add = layer("scatter_nd_add", X="ref")
searchsorted = layer("searchsorted", SortedSequence="sorted_sequence")
selu = layer("selu")
shape = layer("shape")
shard_index = layer("shard_index", X="input")
sigmoid = layer("sigmoid")
sigmoid_cross_entropy_with_logits = layer("sigmoid_cross_entropy_with_logits")
sign = layer("sign")
silu = layer("silu")
sin = layer("sin")
sinh = layer("sinh")
size = layer("size")
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
teacher_student_sigmoid_loss = layer("teacher_student_sigmoid_loss", X="input")
temporal_shift = layer("temporal_shift")
thresholded_relu = layer("thresholded_relu")
trace = layer("trace", Input="x")
trunc = layer("trunc")
