"""Recurrent networks of the operator rnn train on a device as on the CPU, and larger ones give the same."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.testing.one_op import OneOp, array

L = pm.layers
STEPS, BATCH, INPUTS = 5, 6, 4
GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
ROUNDING = {"float32": 2e-5, "float64": 1e-11}


def recurrent(x, mode, hidden, before, after, lengths=None, **attrs):
    """The output of two layers in both directions over x [time, batch, elements]."""
    shapes = [[GATES[mode] * hidden, size] for inputs in (x.shape[2], 2 * hidden) for _ in range(2) for size in (inputs, hidden)]
    shapes += [[GATES[mode] * hidden]] * 8
    weights = [L.create_parameter(shape, x.dtype, name=f"{mode}.{i}") for i, shape in enumerate(shapes)]
    inputs = {
        "Input": x,
        "PreState": before,
        "WeightList": weights,
        **({"SequenceLength": lengths} if lengths is not None else {}),
    }
    block = pm.default_main_program().global_block()
    outputs = {"Out": "outputs", "State": after, "Reserve": "reserve", "DropoutState": "kept"}
    shape = {"mode": mode, "hidden_size": hidden, "num_layers": 2, "is_bidirec": True}
    block.append_op("rnn", inputs, outputs, {**shape, **attrs})
    return block.var("outputs")


def trained(place, mode, dtype):
    """Losses and values of a classifier whose dropout has a seed, and whose sequences have other lengths in each step."""
    main, startup, scope, exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor(place)
    with pm.program_guard(main, startup):
        x, label = L.data("x", [STEPS, BATCH, INPUTS], dtype=dtype), L.data("label", [BATCH, 1], dtype="int64")
        lengths = L.data("lengths", [BATCH], dtype="int64")
        states = range(2 if mode == "LSTM" else 1)
        before = [L.create_parameter([4, BATCH, 8], dtype, name=f"before.{i}") for i in states]
        after = [f"after.{i}" for i in states]
        outputs = recurrent(x, mode, 8, before, after, lengths, dropout_prob=0.25, seed=7)
        flat = L.reshape(L.transpose(outputs, [1, 0, 2]), [BATCH, STEPS * 16])
        loss = L.mean(L.softmax_with_cross_entropy(L.fc(flat, 3), label))
        pm.optimizer.Momentum(0.2, 0.9).minimize(loss)
    pm.seed(3)
    exe.run(startup, scope=scope)
    random, losses = np.random.RandomState(1), []
    for _ in range(6):  # on a GPU without dropout, the last ones would be recorded
        feed = {"x": random.randn(STEPS, BATCH, INPUTS).astype(dtype), "label": random.randint(0, 3, (BATCH, 1))}
        losses += exe.run(main, {**feed, "lengths": random.randint(0, STEPS + 1, BATCH)}, [loss], scope)
    return np.array(losses), {name: scope.get(name) for name in sorted(p.name for p in main.all_parameters())}


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("mode", GATES)
def test_training_is_that_of_the_cpu(place, mode, dtype):
    (found, there), (expected, here) = trained(place, mode, dtype), trained(pm.CPUPlace(), mode, dtype)
    np.testing.assert_allclose(found, expected, 50 * ROUNDING[dtype])
    for name, value in here.items():
        np.testing.assert_allclose(there[name], value, 0, 50 * ROUNDING[dtype], err_msg=name)


def carried(place, mode):
    """States that a program carries from run to run in one variable, one step of the sequence at a time."""
    main, startup, scope, exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor(place)
    with pm.program_guard(main, startup):
        names = [f"state.{i}" for i in range(2 if mode == "LSTM" else 1)]
        states = [L.create_global_var([4, 3, 40], 0.5, "float32", persistable=True, name=name) for name in names]
        outputs = recurrent(L.data("x", [1, 3, INPUTS]), mode, 40, states, names)
    pm.seed(3)
    exe.run(startup, scope=scope)
    feeds = np.random.RandomState(1).randn(6, 1, 3, INPUTS).astype("float32")
    return [exe.run(main, {"x": x}, [outputs], scope)[0] for x in feeds], [scope.get(name) for name in names]


@pytest.mark.parametrize("mode", GATES)
def test_states_may_replace_those_before(place, mode):
    for found, expected in zip(carried(place, mode), carried(pm.CPUPlace(), mode)):
        np.testing.assert_allclose(found, expected, 2e-5, 2e-5)


@pytest.mark.parametrize("mode", GATES)
def test_large_batches(place, mode):
    """More sequences and units than a step has as one kernel (cpp/math/gpu/rnn_layer.cu)."""
    batch, hidden, count = 130, 127, 2 if mode == "LSTM" else 1
    shapes = [(GATES[mode] * hidden, 3), (GATES[mode] * hidden, hidden), *[(GATES[mode] * hidden,)] * 2]
    inputs = {
        "Input": array(2, batch, 3).astype("float32"),
        "PreState": [array(1, batch, hidden, seed=i).astype("float32") for i in range(count)],
        "WeightList": [(array(*shape, seed=i + 2) * 0.1).astype("float32") for i, shape in enumerate(shapes)],
        "SequenceLength": np.arange(batch) % 3,
    }
    attrs, gradients = {"mode": mode, "hidden_size": hidden}, {"Input@GRAD": 1, "PreState@GRAD": count, "WeightList@GRAD": 4}
    made = OneOp("rnn", inputs, attrs, {"Out": 1, "State": count, "Reserve": 1})
    back = {**inputs, **{port: value for port, value in made.run().items() if port != "State"}}
    back["Out@GRAD"] = array(2, batch, hidden, seed=9).astype("float32")
    there = OneOp("rnn", inputs, attrs, {"Out": 1, "State": count, "Reserve": 1}, place=place).run()
    there.update(OneOp("rnn_grad", back, attrs, gradients, place=place).run())
    for port, value in {**made.run(), **OneOp("rnn_grad", back, attrs, gradients).run()}.items():
        for one, other in zip(*(items if isinstance(items, list) else [items] for items in (there[port], value))):
            np.testing.assert_allclose(one, other, 2e-5, 2e-5 * np.abs(other).max(), err_msg=port)
