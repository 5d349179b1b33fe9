# Operators on integers that ONNX Runtime's quantizers add to those of ONNX: replaced by operators on floats, whose inputs are
# dequantized before and whose result is quantized after.
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .order import inner_graphs, set_nodes

# Operators of one or of two inputs, each followed by its scale and its zero point; those of the result come last.
_UNARY = {
    "QLinearAveragePool": "AveragePool",
    "QLinearGlobalAveragePool": "GlobalAveragePool",
    "QLinearLeakyRelu": "LeakyRelu",
    "QLinearSigmoid": "Sigmoid",
    "QLinearSoftmax": "Softmax",
}
_BINARY = {"QLinearAdd": "Add", "QLinearMul": "Mul"}
_SAME = ("DequantizeLinear", "QuantizeLinear")  # in ONNX Runtime's domain they had 16 bits before ONNX's own
_KNOWN = {*_UNARY, *_BINARY, *_SAME, "QGemm", "QLinearConcat"}


def replace_integers(graph: Any) -> None:
    """Replaces such nodes of a graph, also in its inner graphs; nodes that mean something else stay, and are refused."""
    for node in graph.node:
        for inner in inner_graphs(node):
            replace_integers(inner)
    if any(map(_is_replaced, graph.node)):
        nodes = [part for node in graph.node for part in (_in_floats(node) if _is_replaced(node) else [node])]
        set_nodes(graph, nodes)


def _attrs(node: Any) -> dict[str, Any]:
    from onnx import helper

    return {attr.name: helper.get_attribute_value(attr) for attr in node.attribute}


def _is_replaced(node: Any) -> bool:
    if node.domain != "com.microsoft" or node.op_type not in _KNOWN:
        return False
    attrs = _attrs(node)
    return not attrs.get("channels_last") and attrs.get("opset", 13) >= 13


def _in_floats(node: Any) -> Iterator[Any]:
    from onnx import helper

    names, made = list(node.input), node.output[0]
    attrs = {name: value for name, value in _attrs(node).items() if name not in ("channels_last", "opset")}
    if node.op_type in _SAME:
        yield helper.make_node(node.op_type, names, [made], **attrs)
        return
    first = 2 if node.op_type == "QLinearConcat" else 0
    end = {**dict.fromkeys(_UNARY, 3), "QLinearConcat": len(names)}.get(node.op_type, 6)
    floats = [f"{made}.float_{place}" for place in range(first, end, 3)]
    for place, name in zip(range(first, end, 3), floats):
        axis = int(node.op_type == "QGemm" and not attrs.get("transB"))
        yield helper.make_node("DequantizeLinear", names[place : place + 3], [name], axis=axis)
    op_type = {**_UNARY, **_BINARY, "QLinearConcat": "Concat", "QGemm": "Gemm"}[node.op_type]
    if node.op_type == "QGemm" and len(names) > 6 and names[6]:
        # The scale of C is that of the products.
        floats.append(f"{made}.float_c")
        yield helper.make_node("Cast", [names[6]], [f"{made}.c"], to=1)
        yield helper.make_node("Mul", [names[1], names[4]], [f"{made}.scale"])
        yield helper.make_node("Mul", [f"{made}.c", f"{made}.scale"], [floats[-1]])
        attrs["beta"] = attrs.get("alpha", 1.0)
    quantized = names[:2] if first else names[end + (node.op_type == "QGemm") :]
    result = f"{made}.float" if any(quantized) else made
    yield helper.make_node(op_type, floats, [result], **attrs)
    if any(quantized):
        yield helper.make_node("QuantizeLinear", [result, *quantized], [made])
