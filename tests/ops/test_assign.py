"""assign: Out = X."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": inputs["X"]}


test_assign = op_tests(
    "assign",
    reference,
    cases={"matrix": ({"X": array(3, 4)}, {}), "one element": ({"X": array()}, {}), "no rows": ({"X": array(0, 4)}, {})},
    gradients=["X"],
    values_only={
        **{
            dtype: ({"X": ints(3, 4, high=2).astype(dtype)}, {}) for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64")
        },
        "nan": ({"X": np.array([np.nan, np.inf])}, {}),
        "selected rows": ({"X": Rows([4, 1, 4], array(3, 5), 6)}, {}),
        "no selected rows": ({"X": Rows([], array(0, 5), 6)}, {}),
    },
)


def test_a_copy_stays_when_the_original_changes():
    """In this way averages save the raw parameters while others are bound."""
    program, scope = pm.Program(), pm.Scope()
    block = program.global_block()
    for name in ("w", "saved"):
        block.create_var(name, dtype="float32", shape=[3], persistable=True)
    scope.set("w", np.ones(3, "float32"))
    block.append_op("assign", {"X": "w"}, {"Out": "saved"}, {})
    block.append_op("scale", {"X": "w"}, {"Out": "w"}, {"scale": 5.0})
    pm.Executor(pm.CPUPlace()).run(program, scope=scope)
    np.testing.assert_array_equal(scope.get("saved"), np.ones(3))
    np.testing.assert_array_equal(scope.get("w"), np.full(3, 5))
