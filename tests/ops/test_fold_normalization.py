"""fold_normalization: the weights of a product with the normalization after it."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    weights, axis, groups = inputs["Filter"], attrs["axis"], attrs["groups"]
    count = weights.shape[axis] * groups
    k = np.full(count, float(np.float32(attrs["factor"]))) * inputs.get("Scale", np.ones(count)).reshape(-1)
    if "Variance" in inputs:
        k = k / np.sqrt(inputs["Variance"] + float(np.float32(attrs["epsilon"])))
    bias = inputs.get("Bias", np.zeros(count)).reshape(-1) - inputs.get("Mean", 0)
    shifted = bias * k + inputs.get("Shift", 0) + float(np.float32(attrs["offset"]))
    outer = int(np.prod(weights.shape[:axis]))
    by_group = weights.reshape(groups if outer else 1, outer // groups, weights.shape[axis], -1 if weights.size else 0)
    out = by_group * k.reshape(-1, 1, weights.shape[axis], 1) if outer else weights
    return {"FilterOut": out.reshape(weights.shape), "BiasOut": shifted}


def channels(count, *ports):
    every = {port: array(count, seed=i + 1) for i, port in enumerate(["Bias", "Scale", "Shift", "Mean"])}
    every["Variance"] = np.abs(array(count, seed=9)) + 0.1
    return {port: every[port] for port in ports or every}


FILTER = {"Filter": array(5, 3, 2, 2)}
TRANSPOSED = {"Filter": array(4, 3, 2, 2)}
ONE = {"axis": 0, "groups": 1}

test_fold_normalization = op_tests(
    "fold_normalization",
    reference,
    cases={
        "convolution": ({**FILTER, **channels(5)}, {**ONE, "epsilon": 1e-3, "factor": 1.0, "offset": 0.0}),
        "no bias": ({**FILTER, **channels(5, "Scale", "Shift", "Mean", "Variance")}, {**ONE, "epsilon": 0.5}),
        "only statistics": ({**FILTER, **channels(5, "Mean", "Variance")}, ONE),
        "scale and shift": ({**FILTER, **channels(5, "Scale", "Shift")}, {**ONE, "epsilon": 1.0}),
        "a number": ({**FILTER, **channels(5, "Bias")}, {**ONE, "factor": -2.5, "offset": 0.25}),
        "a bias of another shape": ({**FILTER, "Bias": array(1, 5, 1, 1)}, {**ONE, "factor": 3.0}),
        "transposed": ({**TRANSPOSED, **channels(3)}, {"axis": 1, "groups": 1}),
        "transposed in groups": ({**TRANSPOSED, **channels(6)}, {"axis": 1, "groups": 2}),
        "matrix": ({"Filter": array(4, 3), **channels(3)}, {"axis": 1, "groups": 1}),
        "one element": ({"Filter": array(1), **channels(1)}, ONE),
        "no window": ({"Filter": np.zeros((2, 3, 0)), **channels(2)}, ONE),
    },
    refusals={
        "no such axis": (FILTER, {"axis": 4}, pm.ShapeError, "Filter [5, 3, 2, 2] axis 4"),
        "negative axis": (FILTER, {"axis": -1}, pm.ProgramError, "axis -1"),
        "groups that do not divide": (FILTER, {"axis": 1, "groups": 2}, pm.ShapeError, "Filter [5, 3, 2, 2] 2 groups"),
        "too few scales": ({**FILTER, "Scale": array(4)}, ONE, pm.ShapeError, "Scale [4] 5"),
        "scales of one group": ({**TRANSPOSED, "Scale": array(3)}, {"axis": 1, "groups": 2}, pm.ShapeError, "Scale [3] 6"),
        "negative epsilon": (FILTER, {"epsilon": -1.0}, pm.ProgramError, "epsilon -1"),
        "no groups": (FILTER, {"groups": 0}, pm.ProgramError, "groups 0"),
    },
)
