"""rnn: layers of LSTM, GRU or simple cells, against loops over steps."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from split_loops import MANY, with_each

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cell(mode, x, h, c, wi, wh, bi, bh):
    a, s = wi @ x + bi, wh @ h + bh
    if mode == "LSTM":
        i, f, g, o = np.split(a + s, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    if mode == "GRU":
        (ar, az, an), (sr, sz, sn) = np.split(a, 3), np.split(s, 3)
        z = sigmoid(az + sz)
        return (1 - z) * np.tanh(an + sigmoid(ar + sr) * sn) + z * h, c
    return (np.tanh(a + s) if mode == "RNN_TANH" else np.maximum(a + s, 0)), c


def reference(inputs, attrs):
    x, mode, hidden = inputs["Input"], attrs["mode"], attrs["hidden_size"]
    directions, layers = 1 + attrs["is_bidirec"], attrs["num_layers"]
    steps, batch = x.shape[:2]
    lengths = inputs.get("SequenceLength", np.full(batch, steps))
    weights, last = inputs["WeightList"], [np.array(state) for state in inputs["PreState"]]
    for layer in range(layers):
        out = np.zeros((steps, batch, directions * hidden))
        for d in range(directions):
            run = layer * directions + d
            own = weights[2 * run : 2 * run + 2] + weights[2 * (layers * directions + run) :][:2]
            for b in range(batch):
                h, c = last[0][run, b], last[-1][run, b]
                length = min(max(int(lengths[b]), 0), steps)
                for t in range(length)[:: -1 if d else 1]:
                    h, c = cell(mode, x[t, b], h, c, *own)
                    out[t, b, d * hidden : (d + 1) * hidden] = h
                last[-1][run, b], last[0][run, b] = c, h
        x = out
    return {"Out": x, "State": last}


def case(mode, steps=3, batch=2, size=3, hidden=2, layers=1, directions=1, lengths=None, **attrs):
    gates, runs = GATES[mode] * hidden, layers * directions
    weights, biases = [], []
    for run in range(runs):
        inner = size if run < directions else hidden * directions
        weights += [array(gates, inner, seed=4 * run), array(gates, hidden, seed=4 * run + 1)]
        biases += [array(gates, seed=4 * run + 2), array(gates, seed=4 * run + 3)]
    states = [array(runs, batch, hidden, seed=50 + i) for i in range(2 if mode == "LSTM" else 1)]
    inputs = {"Input": array(steps, batch, size), "PreState": states, "WeightList": weights + biases}
    if lengths is not None:
        inputs["SequenceLength"] = np.array(lengths, "int32")
    return inputs, {
        "mode": mode,
        "hidden_size": hidden,
        "num_layers": layers,
        "is_bidirec": directions == 2,
        "input_size": size,
        **attrs,
    }


def changed(inputs, attrs, **ports):
    return {**inputs, **ports}, attrs


CASES = {
    **{mode: case(mode) for mode in GATES},
    **{mode + " two directions, two layers, lengths": case(mode, 4, 3, 3, 3, 2, 2, [2, 4, 3]) for mode in GATES},
    "three layers": case("LSTM", layers=3),
    "wider than registers": case("LSTM", 3, 5, 19, 21, 2),
    "gru wider than registers": case("GRU", 2, 9, 35, 17, 1, 2),
    "empty and too long sequences": case("LSTM", 3, 4, lengths=[0, 9, -1, 1], directions=2),
    "one element": case("GRU", 1, 1, 1, 1),
    "no steps": case("LSTM", steps=0),
    "no batch": case("GRU", batch=0, layers=2),
    "no elements": case("RNN_TANH", size=0),
    "testing keeps all": case("LSTM", layers=2, is_test=True, dropout_prob=0.5),
}
plain = case("LSTM")

test_rnn = op_tests(
    "rnn",
    reference,
    CASES,
    gradients=["Input", "PreState", "WeightList"],
    unchecked=["Reserve", "DropoutState"],
    refusals={
        "a matrix": (*changed(*plain, Input=array(3, 2)), pm.ShapeError, "Input 3"),
        "one state of two": (*changed(*plain, PreState=plain[0]["PreState"][:1]), pm.ShapeError, "PreState 2"),
        "a state of another size": (*changed(*plain, PreState=[array(1, 2, 3)] * 2), pm.ShapeError, "PreState[0]"),
        "a weight too few": (*changed(*plain, WeightList=plain[0]["WeightList"][:3]), pm.ShapeError, "WeightList 4"),
        "a weight of another size": (*changed(*plain, WeightList=[array(3, 3)] * 4), pm.ShapeError, "WeightList[0]"),
        "no cells": (plain[0], {**plain[1], "num_layers": 0}, pm.ProgramError, "num_layers"),
        "another mode": (plain[0], {**plain[1], "mode": "PEEP"}, pm.ProgramError, "mode"),
        "lengths of another batch": (*changed(*plain, SequenceLength=ints(3)), pm.ShapeError, "SequenceLength"),
        "lengths that are not integers": (*changed(*plain, SequenceLength=array(2)), pm.ShapeError, "int64"),
    },
    tolerance={"float32": 1e-5},  # sums of products in another order, over several steps
)


def test_dropout_lies_between_layers_and_repeats_with_its_seed():
    inputs, attrs = case("RNN_RELU", 1, 4, 3, 8, 2, dropout_prob=0.5, seed=3)
    inputs["WeightList"][2] = np.eye(8)
    inputs["WeightList"] = [np.abs(w) if i != 3 else w * 0 for i, w in enumerate(inputs["WeightList"])]
    inputs["WeightList"][6:] = [np.zeros(8)] * 2
    inputs["Input"] = np.abs(inputs["Input"])
    wanted = ["Out", "DropoutState"]
    kept = run_op("rnn", inputs, {**attrs, "is_test": True}, {"Out": 1, "State": 1, "Reserve": 1})["Out"]
    ports = {"Out": 1, "State": 1, "Reserve": 1, "DropoutState": 1}
    first, second = run_op("rnn", inputs, attrs, ports), run_op("rnn", inputs, attrs, ports)
    for port in wanted:
        np.testing.assert_array_equal(first[port], second[port])
    assert 0 < first["DropoutState"].sum() < first["DropoutState"].size
    np.testing.assert_allclose(first["Out"], kept * first["DropoutState"] * 2, rtol=1e-12)


test_dropout_gradient = op_tests(
    "rnn",
    lambda inputs, attrs: {"State": inputs["PreState"]},
    {"dropout": case("LSTM", layers=3, dropout_prob=0.4, seed=5)},
    gradients=["Input", "PreState", "WeightList"],
    unchecked=["Out", "Reserve", "DropoutState"],
    tolerance={"float32": 9, "float64": 9},  # only the gradient is asked for here
)


@pytest.mark.parametrize("mode", GATES)
def test_padding_does_not_matter(mode):
    inputs, attrs = case(mode, 4, 2, directions=2, lengths=[2, 3])
    ports = {"Out": 1, "State": len(inputs["PreState"]), "Reserve": 1}
    first = run_op("rnn", inputs, attrs, ports)
    inputs["Input"][2:, 0] = 1e9
    second = run_op("rnn", inputs, attrs, ports)
    np.testing.assert_array_equal(first["Out"], second["Out"])
    for one, other in zip(first["State"], second["State"]):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("mode", GATES)
def test_a_single_sequence_has_the_same_bits_for_any_threads(mode):
    """The product of each step is split by columns."""
    inputs, attrs = case(mode, 3, 1, 20, 130)
    inputs = {
        name: [np.float32(item) for item in value] if isinstance(value, list) else np.float32(value)
        for name, value in inputs.items()
    }
    ports = {"Out": 1, "State": len(inputs["PreState"]), "Reserve": 1}
    one, *others = with_each(MANY, lambda: run_op("rnn", inputs, attrs, ports)["Out"].tobytes())
    assert others == [one] * len(others)
