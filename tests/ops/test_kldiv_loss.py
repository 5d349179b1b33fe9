"""kldiv_loss: Loss = Target (log Target - X)."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x, target = inputs["X"], inputs["Target"]
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.where(target > 0, target * (np.log(target) - x), 0.0)
        reduction = attrs["reduction"]
        if reduction == "none":
            return {"Loss": loss}
        count = {"sum": 1, "mean": x.size, "batchmean": x.shape[0] if x.ndim else 1}[reduction]
        return {"Loss": np.asarray(np.sum(loss) / np.float64(count))}


def pair(*shape):
    return {"X": array(*shape, low=-3, high=0), "Target": array(*shape, low=-0.3, high=1, seed=1)}


test_kldiv_loss = op_tests(
    "kldiv_loss",
    reference,
    cases={
        "mean": (pair(5, 20), {}),
        "each": (pair(5, 20), {"reduction": "none"}),
        "sum": (pair(2, 3, 4), {"reduction": "sum"}),
        "mean of the batch": (pair(5, 20), {"reduction": "batchmean"}),
        "no target": ({"X": array(3), "Target": np.array([0.0, 1.0, -1.0])}, {"reduction": "none"}),
        "one element": (pair(), {}),
        "no rows": (pair(0, 4), {"reduction": "sum"}),
        "no rows, each": (pair(0, 4), {"reduction": "none"}),
    },
    gradients=["X"],
    refusals={
        "another shape": ({"X": array(3), "Target": array(4)}, {}, pm.ShapeError, "X [3] Target [4]"),
        "another dtype": ({"X": array(3), "Target": ints(3)}, {}, pm.ShapeError, "Target int64"),
        "no batch": (pair(), {"reduction": "batchmean"}, pm.ShapeError, "no dimensions"),
        "no such reduction": (pair(3), {"reduction": "max"}, pm.ProgramError, "reduction max"),
    },
)


def test_mean_of_nothing_is_not_a_number():
    assert np.isnan(run_op("kldiv_loss", pair(0, 4))["Loss"])
