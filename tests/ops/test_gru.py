"""gru: GRU over sequences, row by row."""

import itertools

import numpy as np

import paddle_mini as pm
from families.recurrence import ACTIVATIONS, cases_of, left_out_tests, rows_of_batches
from harness import array, op_tests


def reference(inputs, attrs):
    x, weight, offsets = inputs["Input"].array, inputs["Weight"].ravel(), inputs["Input"].lod[-1]
    d = inputs["Weight"].shape[0]
    gate, activation = ACTIVATIONS[attrs["gate_activation"]], ACTIVATIONS[attrs["activation"]]
    x = x + inputs.get("Bias", 0)
    hidden = np.zeros((len(x), d))
    for s, (begin, end) in enumerate(itertools.pairwise(offsets)):
        h = inputs["H0"][s] if "H0" in inputs else np.zeros(d)
        for row in range(begin, end)[:: -1 if attrs["is_reverse"] else 1]:
            gates = gate(x[row, : 2 * d] + h @ weight[: 2 * d * d].reshape(d, 2 * d))
            u, r = gates[:d], gates[d:]
            c = activation(x[row, 2 * d :] + (r * h) @ weight[2 * d * d :].reshape(d, d))
            h = u * h + (1 - u) * c if attrs["origin_mode"] else (1 - u) * h + u * c
            hidden[row] = h
    return {"Hidden": pm.LoDTensor(hidden, inputs["Input"].lod)}


def case(lod, size=3, bias=True, first=True, **attrs):
    rows, count = lod[-1][-1], len(lod[-1]) - 1
    inputs = {"Input": pm.LoDTensor(array(rows, 3 * size), lod), "Weight": array(size, 3 * size, seed=1)}
    if bias:
        inputs["Bias"] = array(1, 3 * size)
    if first:
        inputs["H0"] = array(count, size, seed=2)
    return inputs, attrs


plain = case([[0, 2, 5, 6]])[0]
EVERY_OUTPUT = ["Hidden", "BatchGate", "BatchResetHiddenPrev", "BatchHidden"]

test_gru = op_tests(
    "gru",
    reference,
    cases={
        **cases_of(case),
        "no bias, no first state": case([[0, 2, 5, 6]], bias=False, first=False),
        "origin mode": case([[0, 1, 4]], origin_mode=True),
        "other activations": case([[0, 1, 4]], activation="relu", gate_activation="tanh"),
        "identity": case([[0, 1, 4]], activation="identity"),
    },
    gradients=["Input", "Weight", "Bias", "H0"],
    unchecked=["BatchGate", "BatchResetHiddenPrev", "BatchHidden"],
    gradient_of=["Hidden"],
    refusals={
        "no lod": ({**plain, "Input": array(6, 9)}, {}, pm.ShapeError, "Input no sequences"),
        "a weight of another shape": ({**plain, "Weight": array(9, 3)}, {}, pm.ShapeError, "it must have"),
        "first states of another count": ({**plain, "H0": array(2, 3)}, {}, pm.ShapeError, "H0 [3, 3]"),
        "bias of another shape": ({**plain, "Bias": array(9)}, {}, pm.ShapeError, "Bias"),
        "an activation that is none": (plain, {"activation": "elu"}, pm.ProgramError, "activation"),
    },
    tolerance={"float32": 1e-5},  # sums of products in another order, over several steps
)
test_what_only_the_gradient_reads_may_be_left_out = left_out_tests("gru", plain, ["Hidden"], EVERY_OUTPUT[1:])


def test_the_lod_of_batches_says_where_each_row_came_from():
    # starts of the steps, rows in their order, sequences in their order
    for rows, outputs in rows_of_batches("gru", plain, EVERY_OUTPUT):
        for port in ("BatchGate", "BatchHidden"):
            assert outputs[port].lod == [[0, 3, 5, 6], rows, [1, 0, 2]]
        np.testing.assert_array_equal(outputs["BatchHidden"].array, outputs["Hidden"].array[rows])
