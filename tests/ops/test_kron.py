"""kron: the Kronecker product: each element of X times the whole of Y."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x, y = inputs["X"], inputs["Y"]
    rank = max(x.ndim, y.ndim)
    x, y = (v.reshape((1,) * (rank - v.ndim) + v.shape) for v in (x, y))
    pairs = [size for both in zip(x.shape, y.shape) for size in both]
    out = x.reshape([s for size in x.shape for s in (size, 1)]) * y.reshape([s for size in y.shape for s in (1, size)])
    return {"Out": out.reshape([pairs[i] * pairs[i + 1] for i in range(0, 2 * rank, 2)])}


def pair(x, y):
    return {"X": array(*x), "Y": array(*y, seed=1)}, {}


test_kron = op_tests(
    "kron",
    reference,
    cases={
        "vectors": pair((3,), (4,)),
        "matrices": pair((2, 3), (4, 5)),
        "more axes of Y": pair((3,), (2, 4)),
        "more axes of X": pair((2, 3, 2), (4,)),
        "eight axes": pair((2, 1, 1, 1, 1, 1, 1, 2), (1, 2, 1, 1, 1, 1, 3, 2)),
        "numbers": pair((), ()),
        "one element": pair((1,), (1,)),
        "number by vector": pair((), (3,)),
        "no rows": pair((0, 3), (2, 2)),
        "nothing of Y": pair((2, 3), (2, 0)),
    },
    gradients=["X", "Y"],
    values_only={"int64": ({"X": ints(3), "Y": ints(2, 2)}, {})},
    refusals={"other types": ({"X": array(3), "Y": ints(3)}, {}, pm.ShapeError, "X Y int64")},
)

assert np.array_equal(reference({"X": array(2, 3), "Y": array(4, 5)}, {})["Out"], np.kron(array(2, 3), array(4, 5)))
