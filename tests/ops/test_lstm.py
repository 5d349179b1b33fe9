"""lstm: LSTM over sequences, row by row."""

import itertools

import numpy as np

import paddle_mini as pm
from families.recurrence import ACTIVATIONS, cases_of, left_out_tests, rows_of_batches
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x, weight, offsets = inputs["Input"].array, inputs["Weight"], inputs["Input"].lod[-1]
    d = weight.shape[0]
    gate, activation, candidate = (ACTIVATIONS[attrs[name + "_activation"]] for name in ("gate", "cell", "candidate"))
    bias = inputs["Bias"][0]
    wi, wf, wo = np.split(bias[4 * d :], 3) if attrs["use_peepholes"] else np.zeros((3, d))
    hidden, cell = np.zeros((2, len(x), d))
    for s, (begin, end) in enumerate(itertools.pairwise(offsets)):
        h, c = (inputs[port][s] if port in inputs else np.zeros(d) for port in ("H0", "C0"))
        for row in range(begin, end)[:: -1 if attrs["is_reverse"] else 1]:
            g, i, f, o = np.split(x[row] + h @ weight + bias[: 4 * d], 4)
            c = gate(f + wf * c) * c + gate(i + wi * c) * candidate(g)
            h = gate(o + wo * c) * activation(c)
            hidden[row], cell[row] = h, c
    return {"Hidden": pm.LoDTensor(hidden, inputs["Input"].lod), "Cell": pm.LoDTensor(cell, inputs["Input"].lod)}


def case(lod, size=3, first=True, **attrs):
    rows, count = lod[-1][-1], len(lod[-1]) - 1
    inputs = {
        "Input": pm.LoDTensor(array(rows, 4 * size), lod),
        "Weight": array(size, 4 * size, seed=1),
        "Bias": array(1, (7 if attrs.get("use_peepholes", True) else 4) * size),
    }
    return ({**inputs, "H0": array(count, size, seed=2), "C0": array(count, size, seed=3)} if first else inputs), attrs


plain = case([[0, 2, 5, 6]])[0]
EVERY_OUTPUT = ["Hidden", "Cell", "BatchGate", "BatchCellPreAct"]

test_lstm = op_tests(
    "lstm",
    reference,
    cases={
        **cases_of(case),
        "no peepholes, no first state": case([[0, 2, 5, 6]], first=False, use_peepholes=False),
        "no peepholes": case([[0, 2, 5]], use_peepholes=False, is_reverse=True),
        "other activations": case([[0, 1, 4]], gate_activation="tanh", cell_activation="relu", candidate_activation="sigmoid"),
        "identity": case([[0, 1, 4]], cell_activation="identity", candidate_activation="identity"),
    },
    gradients=["Input", "Weight", "Bias", "H0", "C0"],
    gradient_of=["Hidden", "Cell"],
    unchecked=["BatchGate", "BatchCellPreAct"],
    refusals={
        "no lod": ({**plain, "Input": array(6, 12)}, {}, pm.ShapeError, "Input no sequences"),
        "a weight of another shape": ({**plain, "Weight": array(12, 3)}, {}, pm.ShapeError, "it must have"),
        "first cells of another count": ({**plain, "C0": array(2, 3)}, {}, pm.ShapeError, "C0 [3, 3]"),
        "bias without peepholes": ({**plain, "Bias": array(1, 12)}, {}, pm.ShapeError, "Bias [1, 21]"),
        "an activation that is none": (plain, {"gate_activation": "elu"}, pm.ProgramError, "gate_activation"),
    },
    tolerance={"float32": 1e-5},  # sums of products in another order, over several steps
)
test_what_only_the_gradient_reads_may_be_left_out = left_out_tests("lstm", plain, ["Hidden", "Cell"], EVERY_OUTPUT[2:])


def test_the_lod_of_the_gates_says_where_each_row_came_from():
    # starts of the steps, rows in their order, sequences in their order
    for rows, outputs in rows_of_batches("lstm", plain, EVERY_OUTPUT):
        assert outputs["BatchGate"].lod == [[0, 3, 5, 6], rows, [1, 0, 2]]


def test_gradients_do_not_depend_on_the_size():
    # PaddlePaddle's float32 gradients of Input, Weight and Bias are zero where the size is a multiple of 8.
    inputs, _ = case([[0, 2, 5]], 8)
    grad = {"Hidden@GRAD": array(5, 8)}
    results = {}
    for dtype in ("float32", "float64"):
        cast = {
            port: pm.LoDTensor(value.array.astype(dtype), value.lod) if isinstance(value, pm.LoDTensor) else value.astype(dtype)
            for port, value in {**inputs, **grad}.items()
        }
        forward = run_op("lstm", {port: cast[port] for port in inputs}, {}, EVERY_OUTPUT)
        forward["BatchGate"] = forward["BatchGate"].array
        results[dtype] = run_op("lstm_grad", {**cast, **forward}, {}, ["Input@GRAD", "Weight@GRAD", "Bias@GRAD"])
    for port, value in results["float64"].items():
        single = results["float32"][port]
        np.testing.assert_allclose(getattr(single, "array", single), getattr(value, "array", value), atol=1e-5)
