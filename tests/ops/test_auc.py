"""auc: the area under the ROC curve of all batches so far, or of the last few."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def area(pos, neg):
    pos, neg = np.cumsum(pos[::-1]), np.cumsum(neg[::-1])
    steps = np.abs(np.diff(np.concatenate([[0], neg])))
    total = float(np.sum(steps * (pos + np.concatenate([[0], pos[:-1]]))) / 2)
    return total / pos[-1] / neg[-1] if pos[-1] > 0 and neg[-1] > 0 else total


def reference(inputs, attrs):
    buckets, steps, label = attrs["num_thresholds"] + 1, attrs["slide_steps"], inputs["Label"].reshape(-1)
    scores = inputs["Predict"][:, -1]
    bins = (scores.astype("float32") * np.float32(buckets - 1)).astype("int64")
    counts = "InsTagWeight" not in inputs or bool(inputs["InsTagWeight"].reshape(-1)[0] != 0)
    out, sums = {}, []
    ring = int(inputs["StatPos"].reshape(-1)[-1]) % steps if steps else 0
    for port, chosen in (("StatPos", label > 0), ("StatNeg", label == 0)):
        stat = inputs[port].reshape(-1).copy()
        batch = np.bincount(bins[chosen], minlength=buckets)
        rows = stat[: (steps + 1) * buckets].reshape(steps + 1, buckets)  # a view
        if steps:
            rows[-1] -= rows[ring]
            rows[ring] = batch
            stat[-1] += 1
        if counts:
            rows[-1] += batch
        out[port + "Out"] = stat.reshape(inputs[port].shape)
        sums.append(rows[-1])
    return {**out, "sums": sums}


def counts(inputs, attrs):
    return {port: value for port, value in reference(inputs, attrs).items() if port != "sums"}


def batch(rows, buckets, steps, columns=2, **more):
    scores = ints(rows, columns, high=101).astype("float32") / 128  # integer bins in any dtype
    size = (steps + 1) * buckets + (1 if steps else 0)
    stat = {port: ints(size, high=5, seed=i) for i, port in enumerate(("StatPos", "StatNeg"))}
    if steps:
        for value in stat.values():  # sums are those of the ring
            value[steps * buckets : -1] = value[: steps * buckets].reshape(steps, buckets).sum(axis=0)
            value[-1] = 7
    else:
        stat = {port: value.reshape(1, -1) for port, value in stat.items()}
    return {"Predict": scores.astype("float64"), "Label": ints(rows, 1, high=2, seed=1), **stat, **more}


ALL = {"num_thresholds": 127, "slide_steps": 0}

CASES = {
    "all batches": (batch(30, 128, 0), ALL),
    "one column": (batch(30, 128, 0, columns=1), ALL),
    "int32": ({**batch(30, 128, 0), "Label": ints(30, 1, high=2, dtype="int32")}, ALL),
    "labels of one axis": ({**batch(30, 128, 0), "Label": ints(30, low=-1, high=2)}, ALL),
    "default thresholds": (batch(9, 8192, 0), {"slide_steps": 0}),
    "last batch": (batch(30, 16, 1), {"num_thresholds": 15}),
    "last three batches": (batch(30, 16, 3), {"num_thresholds": 15, "slide_steps": 3}),
    "counts": ({**batch(30, 128, 0), "InsTagWeight": np.ones(1)}, ALL),
    "counts not": ({**batch(30, 128, 0), "InsTagWeight": np.zeros(1)}, ALL),
    "counts not, last batches": ({**batch(30, 16, 3), "InsTagWeight": np.zeros(1)}, {"num_thresholds": 15, "slide_steps": 3}),
    "one bin": (batch(4, 1, 0), {"num_thresholds": 0, "slide_steps": 0}),
    "one row": (batch(1, 128, 0), ALL),
    "no rows": (batch(0, 128, 0), ALL),
}

test_auc = op_tests(
    "auc",
    counts,
    cases=CASES,
    unchecked=["AUC"],  # float64 for every type of Predict
    refusals={
        "score above 1": ({**batch(2, 128, 0), "Predict": np.array([[0, 0.5], [0, 1.5]])}, ALL, pm.OpError, "1.5 row 1"),
        "no number": ({**batch(1, 128, 0), "Predict": np.array([[0, np.nan]])}, ALL, pm.OpError, "nan row 0"),
        "three columns": ({**batch(2, 128, 0), "Predict": array(2, 3, low=0)}, ALL, pm.ShapeError, "Predict [2, 3]"),
        "too few labels": ({**batch(2, 128, 0), "Label": ints(1, 1)}, ALL, pm.ShapeError, "Label [1, 1]"),
        "too few bins": (batch(2, 127, 0), ALL, pm.ShapeError, "StatPos [1, 127] 128"),
        "float bins": ({**batch(2, 128, 0), "StatNeg": array(1, 128)}, ALL, pm.ShapeError, "StatNeg float64"),
        "another curve": (batch(2, 128, 0), {**ALL, "curve": "PR"}, pm.ProgramError, "curve PR"),
    },
)


@pytest.mark.parametrize("name", CASES)
def test_area(name):
    inputs, attrs = CASES[name]
    found = run_op("auc", inputs, attrs)["AUC"]
    assert (found.shape, found.dtype) == ((), "float64")
    expected = area(*reference(inputs, {"num_thresholds": 8191, "slide_steps": 1, **attrs})["sums"])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_perfect_order_is_1_and_none_is_a_half():
    empty = {"StatPos": np.zeros((1, 128), "int64"), "StatNeg": np.zeros((1, 128), "int64")}
    label = np.array([[0], [0], [1], [1]])
    for scores, expected in (([0.1, 0.2, 0.8, 0.9], 1.0), ([0.5] * 4, 0.5), ([0.9, 0.8, 0.2, 0.1], 0.0)):
        predict = np.array(scores, "float32")[:, None]
        found = run_op("auc", {"Predict": predict, "Label": label, **empty}, ALL)["AUC"]
        assert found == expected
