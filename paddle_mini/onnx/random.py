# Converters of random numbers: this runtime's generator draws them, which pm.seed sets.
from __future__ import annotations

from typing import Any

from ..variable import Variable
from .node import Node, converter
from .tensors import element_type


def _drawn(n: Node, op_type: str, attrs: dict[str, Any]) -> Variable:
    """Numbers of the shape that an attribute gives, or of that of the input."""
    number = n.attr("dtype")
    dtype = n.x().dtype if number is None else element_type(number)
    attrs = {**attrs, "seed": 0, "dtype": dtype if dtype == "float64" else "float32"}
    if not n.inputs:
        return n.cast(n.emit(op_type, {}, {**attrs, "shape": list(n.attr("shape"))}), dtype)
    x = n.x()
    if not x.shape:
        return n.cast(n.reshape(n.emit(op_type, {}, {**attrs, "shape": [1]}), []), dtype)
    made = n.emit(op_type, {"ShapeTensor": n.emit("shape", {"Input": x})}, attrs)
    made.set_info({**made.info(), "shape": list(x.shape)})
    return n.cast(made, dtype)


@converter("RandomNormal", "RandomNormalLike")
def normal(n: Node) -> Variable:
    return _drawn(n, "gaussian_random", {"mean": n.attr("mean"), "std": n.attr("scale")})


@converter("RandomUniform", "RandomUniformLike")
def uniform(n: Node) -> Variable:
    return _drawn(n, "uniform_random", {"min": n.attr("low"), "max": n.attr("high")})
