"""data_norm: columns normalized by sums over the data so far."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op


def skipped(x, slot):
    """The elements of slots whose first column is 0."""
    if slot <= 0:
        return np.zeros(x.shape, bool)
    return np.repeat(x[:, ::slot] == 0, slot, axis=1)


def reference(inputs, attrs):
    means = inputs["BatchSum"] / inputs["BatchSize"]
    scales = np.sqrt(inputs["BatchSize"] / inputs["BatchSquareSum"])
    y = (inputs["X"] - means) * scales
    if attrs["enable_scale_and_shift"]:
        y = y * inputs["scale_w"] + inputs["bias"]
    return {"Y": np.where(skipped(inputs["X"], attrs["slot_dim"]), 0, y), "Means": means, "Scales": scales}


def given(rows=3, columns=4, x=None, **others):
    x = array(rows, columns) if x is None else x
    sums = {"BatchSize": 10 + array(columns, seed=1), "BatchSum": array(columns, seed=2), "BatchSquareSum": 20 + array(columns)}
    return {"X": x, **sums, **others}


SLOTS = array(3, 4) * np.array([[1, 1, 0, 1], [0, 1, 1, 1], [1, 1, 1, 1]])
SHIFT = {"scale_w": 1 + array(4, seed=4), "bias": array(4, seed=5)}

test_data_norm = op_tests(
    "data_norm",
    reference,
    cases={
        "matrix": (given(), {}),
        "scale and shift": (given(**SHIFT), {"enable_scale_and_shift": True}),
        "one element": (given(1, 1), {}),
        "no rows": (given(0), {}),
    },
    gradients=["X", "scale_w", "bias"],
    gradient_of=["Y"],
    values_only={
        "slots": (given(x=SLOTS), {"slot_dim": 2}),
        "slots, scale and shift": (given(x=SLOTS, **SHIFT), {"slot_dim": 2, "enable_scale_and_shift": True}),
    },
    refusals={
        "a vector": (given() | {"X": array(3)}, {}, pm.ShapeError, "X 1 2"),
        "other columns": (given() | {"BatchSum": array(3)}, {}, pm.ShapeError, "BatchSum [3] 4 columns"),
        "no scale": (given(), {"enable_scale_and_shift": True}, pm.ProgramError, "scale_w enable_scale_and_shift"),
        "part of a slot": (given(), {"slot_dim": 3}, pm.ShapeError, "4 columns 3"),
    },
)


@pytest.mark.parametrize("slot", [-1, 2])
def test_gradients_of_sums(slot):
    """They are what the batch adds, per row of a slot; the expected ones are PaddlePaddle 2.6.2's formulas."""
    inputs, slope = given(x=SLOTS), array(3, 4, seed=6)
    made = run_op("data_norm", inputs, {"slot_dim": slot}, ["Y", "Means", "Scales"])
    made.pop("Y")
    ports = ["X@GRAD", "BatchSize@GRAD", "BatchSum@GRAD", "BatchSquareSum@GRAD"]
    attrs = {"slot_dim": slot, "epsilon": 0.25}
    found = run_op("data_norm_grad", {"X": inputs["X"], **made, "Y@GRAD": slope}, attrs, ports)
    left_out = skipped(SLOTS, slot)
    rows = np.ma.array(SLOTS, mask=left_out)
    np.testing.assert_allclose(found["X@GRAD"], np.where(left_out, 0, slope * made["Scales"]))
    counts = 3 - left_out.sum(0)
    parts = counts if slot > 0 else 1
    np.testing.assert_array_equal(found["BatchSize@GRAD"], counts / parts)
    np.testing.assert_allclose(found["BatchSum@GRAD"], rows.sum(0) / parts)
    np.testing.assert_allclose(found["BatchSquareSum@GRAD"], ((rows - made["Means"]) ** 2).sum(0) / parts + 0.25 * counts)
