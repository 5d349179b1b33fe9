"""p_norm: Out = (sum of |X|^p)^(1/p) along one axis, or of all elements."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x, p = np.abs(inputs["X"]), float(np.float32(attrs["porder"]))
    axis = None if attrs["asvector"] or x.ndim == 0 else attrs["axis"]
    how = {"axis": axis, "keepdims": attrs["keepdim"]}
    if p == 0:
        return {"Out": np.asarray((x != 0).sum(**how)).astype("float64")}
    if np.isinf(p):
        return {"Out": np.asarray(x.max(initial=0, **how) if p > 0 else x.min(initial=np.inf, **how))}
    return {"Out": np.asarray((x**p).sum(**how) ** (1 / p))}


def far_from_zero(*shape):
    x = array(*shape)
    return {"X": x + 0.2 * np.sign(x)}


test_p_norm = op_tests(
    "p_norm",
    reference,
    cases={
        **{f"order {p}": (far_from_zero(4, 5), {"porder": p}) for p in (2.0, 1.0, 3.0, 0.5, -1.5, np.inf, -np.inf)},
        "first axis": (far_from_zero(3, 4), {"axis": 0}),
        "middle axis, kept": (far_from_zero(2, 3, 4), {"axis": 1, "keepdim": True, "porder": 3.0}),
        "as a vector": (far_from_zero(2, 3), {"asvector": True}),
        "as a vector, kept": (far_from_zero(2, 3), {"asvector": True, "keepdim": True}),
        "number": (far_from_zero(), {}),
        "one element": (far_from_zero(1), {"porder": 1.5}),
        "no rows": (far_from_zero(0, 4), {}),
        "rows of nothing": (far_from_zero(4, 0), {}),
        "no largest": (far_from_zero(4, 0), {"porder": np.inf}),
    },
    gradients=["X"],
    refusals={
        "no such axis": ({"X": array(3, 4)}, {"axis": 2}, pm.ShapeError, "axis 2"),
        "order NaN": ({"X": array(3, 4)}, {"porder": np.nan}, pm.Error, "porder"),
        "negative epsilon": ({"X": array(3, 4)}, {"epsilon": -1.0}, pm.ProgramError, "epsilon -1"),
    },
)

SOME_ZEROS = {"X": array(3, 4) * (array(3, 4, seed=1) > 0)}
test_zeros = op_tests("p_norm", reference, {"order 0": (SOME_ZEROS, {"porder": 0.0}), "order 2": (SOME_ZEROS, {})})


def test_no_slope_at_zero():
    x = np.zeros((1, 3))
    inputs = {"X": x, "Out": np.zeros(1), "Out@GRAD": np.ones(1)}
    for p in (0.5, 1.0, 2.0, 3.0, np.inf, 0.0):
        np.testing.assert_array_equal(run_op("p_norm_grad", inputs, {"porder": p})["X@GRAD"], x)
