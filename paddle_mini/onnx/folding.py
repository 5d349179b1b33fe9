# Which nodes are computed while the graph is read, and how large their results may become.
from __future__ import annotations

import numpy as np

# Operators of which computations of shapes consist: they are carried out while the graph is read.
FOLDED = frozenset(
    """Abs Add And Cast CastLike Ceil Concat ConstantOfShape CumSum Div Equal Expand Flatten Floor Gather GatherElements Greater
    GreaterOrEqual Less LessOrEqual Max Min Mod Mul Neg NonZero Not Or Pow Range ReduceMax ReduceMin ReduceProd ReduceSum Reshape
    Round ScatterND Shape Size Slice Split Sqrt Squeeze Sub Tile Transpose Trilu Unsqueeze Where Xor""".split()
)
MOST_FOLDED = 1 << 22  # elements: a small file must not make a large program


def most_elements(op_type: str, inputs: list[np.ndarray]) -> float:
    """A bound for the number of elements of the result: inputs are broadcast, or the last one is a shape or has repetitions."""
    bound = float(np.prod([max(array.size, 1) for array in inputs], dtype=np.float64))
    if op_type == "Range":
        start, limit, step = (float(array.astype(np.float64).item()) for array in inputs)
        return abs(limit - start) / abs(step) if step else np.inf
    if op_type in ("ConstantOfShape", "Expand", "Tile"):
        bound *= float(np.prod(np.abs(inputs[-1].astype(np.float64)) + 1))
    return bound
