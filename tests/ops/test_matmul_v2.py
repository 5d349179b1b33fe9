"""matmul_v2: Out = X Y, of matrices or of stacks of them."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def transposed(x, yes):
    return np.swapaxes(x, -1, -2) if yes and x.ndim > 1 else x


def reference(inputs, attrs):
    return {"Out": np.asarray(transposed(inputs["X"], attrs["trans_x"]) @ transposed(inputs["Y"], attrs["trans_y"]))}


SHAPES = {
    "matrices": ((3, 4), (4, 5)),
    "large": ((37, 70), (70, 41)),
    "stacks": ((2, 3, 4), (2, 4, 5)),
    "stacks of stacks": ((2, 3, 4, 5), (2, 3, 5, 6)),
    "stack by matrix": ((2, 3, 4), (4, 5)),
    "deep stack by matrix": ((2, 3, 4, 5), (5, 6)),
    "stack by a stack of one": ((2, 3, 4), (1, 4, 5)),
    "matrix by stack": ((3, 4), (2, 4, 5)),
    "broadcast batches": ((2, 1, 3, 4), (5, 4, 2)),
    "both broadcast": ((2, 1, 3, 4), (1, 5, 4, 2)),
    "one element": ((1, 1), (1, 1)),
    "no rows": ((0, 4), (4, 5)),
    "no stack": ((0, 3, 4), (4, 5)),
    "no stack of either": ((0, 3, 4), (1, 4, 5)),
    "no stack of Y": ((3, 4), (0, 4, 5)),
    "nothing to add": ((3, 0), (0, 5)),
}
VECTORS = {
    "vectors": ((4,), (4,)),
    "vector by matrix": ((4,), (4, 5)),
    "matrix by vector": ((3, 4), (4,)),
    "stack by vector": ((2, 3, 4), (4,)),
    "vector by stack": ((4,), (2, 4, 5)),
}


def case(x, y, trans_x=False, trans_y=False):
    swap = lambda shape, yes: shape[:-2] + (shape[-1], shape[-2]) if yes else shape
    return (
        {"X": array(*swap(x, trans_x), seed=1), "Y": array(*swap(y, trans_y), seed=2)},
        {"trans_x": trans_x, "trans_y": trans_y},
    )


test_matmul_v2 = op_tests(
    "matmul_v2",
    reference,
    cases={
        **{
            f"{name} {'T' if tx else 'N'}{'T' if ty else 'N'}": case(x, y, tx, ty)
            for name, (x, y) in SHAPES.items()
            for tx in (False, True)
            for ty in (False, True)
        },
        **{name: case(x, y) for name, (x, y) in VECTORS.items()},
        "a vector is not transposed": ({"X": array(4), "Y": array(4)}, {"trans_x": True, "trans_y": True}),
    },
    gradients=["X", "Y"],
    refusals={
        "other width": ({"X": array(3, 4), "Y": array(5, 6)}, {}, pm.ShapeError, "X [3, 4] 4 Y [5, 6] 5"),
        "other width transposed": (
            {"X": array(3, 4), "Y": array(4, 5)},
            {"trans_y": True},
            pm.ShapeError,
            "Y [4, 5] transposed 5",
        ),
        "other stack": ({"X": array(2, 3, 4), "Y": array(3, 4, 5)}, {}, pm.ShapeError, "2 3"),
        "number": ({"X": array(), "Y": array(3)}, {}, pm.ShapeError, "X [] at least one dimension"),
        "truth": ({"X": ints(3, 4) > 5, "Y": ints(4, 5) > 5}, {}, pm.Error, "bool"),
        "selected rows": ({"X": array(3, 4), "Y": Rows([1], array(1, 5), 4)}, {}, pm.ShapeError, "Y selected rows"),
    },
)


@pytest.mark.parametrize("trans_x", [False, True])
@pytest.mark.parametrize("trans_y", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [1, 2, 8, 15, 16, 27, 28, 29, 113])
def test_weights_that_are_never_written(rows, dtype, trans_x, trans_y):
    """The result has the same bits as with weights that are fed; sums are longer than a segment, columns fill no panel."""
    inputs, attrs = case((rows, 700), (700, 45), trans_x, trans_y)
    x, y = inputs["X"].astype(dtype), inputs["Y"].astype(dtype)
    main, scope, exe = pm.Program(), pm.Scope(), pm.Executor(pm.CPUPlace())
    block = main.global_block()
    block.create_var(name="x", shape=x.shape, dtype=dtype)
    outs = []
    for kept in (True, False):
        block.create_var(name=f"y{kept}", shape=y.shape, dtype=dtype, persistable=kept)
        outs.append(block.create_var(name=f"out{kept}", dtype=dtype))
        block.append_op("matmul_v2", {"X": ["x"], "Y": [f"y{kept}"]}, {"Out": [f"out{kept}"]}, attrs)
    scope.set("yTrue", y)
    of_kept, of_fed = exe.run(main, feed={"x": x, "yFalse": y}, fetch_list=outs, scope=scope)
    np.testing.assert_array_equal(of_kept, of_fed)
    wide = {"X": x.astype("float64"), "Y": y.astype("float64")}
    expected = reference(wide, attrs)["Out"]
    np.testing.assert_allclose(of_kept, expected, rtol=0, atol=(1e-5 if dtype == "float32" else 1e-13) * np.abs(expected).max())
