"""matmul: Out = alpha X Y, as before PaddlePaddle 2.0."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def matrix(x, row, transpose):
    if x.ndim == 1:
        x = x[None, :] if row else x[:, None]
    return np.swapaxes(x, -1, -2) if transpose else x


def reference(inputs, attrs):
    x, y = inputs["X"], inputs["Y"]
    a, b = matrix(x, True, attrs["transpose_X"]), matrix(y, False, attrs["transpose_Y"])
    stack = a.shape[:-2] or b.shape[:-2]
    flat = [m.reshape(-1, *m.shape[-2:]) if m.ndim > 2 and m.size else m for m in (a, b)]
    out = np.float64(np.float32(attrs["alpha"])) * np.matmul(*flat)
    shape = list(stack) + list(out.shape[-2:])
    if x.ndim == 1 and shape[-2] == 1:
        del shape[-2]
    if y.ndim == 1 and shape[-1] == 1:
        del shape[-1]
    return {"Out": out.reshape(shape)}


SHAPES = {
    "matrices": ((3, 4), (4, 5)),
    "stacks": ((2, 3, 4), (2, 4, 5)),
    "stacks of stacks": ((2, 3, 4, 5), (2, 3, 5, 6)),
    "stacks of other axes": ((2, 3, 4, 5), (6, 5, 6)),
    "stack by matrix": ((2, 3, 4), (4, 5)),
    "matrix by stack": ((3, 4), (2, 4, 5)),
    "one element": ((1, 1), (1, 1)),
    "no rows": ((0, 4), (4, 5)),
    "nothing to add": ((3, 0), (0, 5)),
}


def case(x, y, tx=False, ty=False, **attrs):
    swap = lambda shape, yes: shape[:-2] + (shape[-1], shape[-2]) if yes else shape
    return ({"X": array(*swap(x, tx), seed=1), "Y": array(*swap(y, ty), seed=2)}, {"transpose_X": tx, "transpose_Y": ty, **attrs})


VECTOR, OTHER = array(4), array(4, seed=1)

test_matmul = op_tests(
    "matmul",
    reference,
    cases={
        **{
            f"{name} {'T' if tx else 'N'}{'T' if ty else 'N'}": case(x, y, tx, ty)
            for name, (x, y) in SHAPES.items()
            for tx in (False, True)
            for ty in (False, True)
        },
        "alpha": case((3, 4), (4, 5), alpha=0.3),
        "alpha and stack": case((2, 3, 4), (2, 4, 5), True, True, alpha=-2.0),
        "vectors": ({"X": VECTOR, "Y": OTHER}, {}),
        "vectors, a column by a row": ({"X": VECTOR, "Y": array(3)}, {"transpose_X": True, "transpose_Y": True}),
        "vector by matrix": ({"X": VECTOR, "Y": array(4, 5)}, {}),
        "column by matrix": ({"X": VECTOR, "Y": array(1, 5)}, {"transpose_X": True}),
        "matrix by vector": ({"X": array(3, 4), "Y": VECTOR}, {}),
        "stack by vector": ({"X": array(2, 3, 4), "Y": VECTOR}, {}),
        "vector by stack": ({"X": VECTOR, "Y": array(2, 4, 5)}, {}),
    },
    gradients=["X", "Y"],
    refusals={
        "other width": ({"X": array(3, 4), "Y": array(5, 6)}, {}, pm.ShapeError, "X [3, 4] 4 Y [5, 6] 5"),
        "batches are not broadcast": ({"X": array(1, 3, 4), "Y": array(2, 4, 5)}, {}, pm.ShapeError, "1 2 matrices"),
        "number": ({"X": array(), "Y": array(3)}, {}, pm.ShapeError, "X [] at least one dimension"),
        "heads": ({"X": array(3, 4), "Y": array(4, 5)}, {"head_number": 2}, pm.ProgramError, "head_number 2"),
        "integers": ({"X": ints(3, 4), "Y": ints(4, 5)}, {}, pm.Error, "int64"),
    },
)
