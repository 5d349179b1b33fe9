"""c_allreduce_sum: Out = the sum of X over all replicas; of one replica, X. Several: tests/devices/test_parallel.py."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": inputs["X"]}


test_c_allreduce_sum = op_tests(
    "c_allreduce_sum",
    reference,
    cases={
        "matrix": ({"X": array(3, 4)}, {}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
        "a group": ({"X": array(5)}, {"ring_id": 1, "use_calc_stream": True}),
        "if wanted": ({"X": array(5), "Cond": np.array([True])}, {}),
        "if not wanted": ({"X": array(5), "Cond": np.array([False])}, {}),
    },
    gradients=["X"],
    values_only={dtype: ({"X": ints(3, 4).astype(dtype)}, {}) for dtype in ("int32", "int64")},
    refusals={
        "bools": ({"X": np.array([True])}, {}, pm.ShapeError, "no kernel for bool"),
        "several conditions": ({"X": array(5), "Cond": np.array([True, False])}, {}, pm.ShapeError, "must have one element"),
    },
)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves(dtype):
    program, scope = pm.Program(), pm.Scope()
    block = program.global_block()
    for name in ("x", "y"):
        block.create_var(name, dtype=dtype, shape=[3], persistable=True)
    block.append_op("c_allreduce_sum", {"X": "x"}, {"Out": "y"})
    bits = np.array([1, 2, 3], "float16") if dtype == "float16" else np.array([0x3F80, 0x4000, 0x4040], "uint16")
    scope.set("x", bits)
    pm.Executor().run(program, scope=scope)
    np.testing.assert_array_equal(scope.get("y"), bits)
