"""Outputs do not depend on earlier contents of memory: the cases of all operators, and programs, give the same bits
whatever unwritten memory is filled with."""

import numpy as np
import pytest

import paddle_mini as pm
from altered_schemas import altered
from facts import all_facts, cases_of
from paddle_mini import _core
from paddle_mini.schemas import op_schema
from paddle_mini.testing.one_op import OneOp, Rows, array_of, run_op
from thorough import some
from unwritten import PATTERNS, filled, under_each

# Their values are random without a seed, or depend on earlier work of the same process.
LEFT_OUT = {"print", "save", "load"}


def bits(value):
    if isinstance(value, list):
        return [bits(item) for item in value]
    rows = list(value.rows) if isinstance(value, Rows) else None
    numbers = array_of(value)
    return rows, numbers.dtype, numbers.shape, numbers.tobytes()


def with_gradient(one):
    """The operator's program followed by its gradient, and the names of all outputs of both."""
    names = [name for port in one.outputs for name in one.outputs[port]]
    if op_schema(one.op.type)["no_gradient"] is not None:
        return one.program, names
    program, found = pm.Program.from_bytes(one.program.to_bytes()), dict(zip(names, one.fetch(names)))
    ops = _core.gradient(one.op.describe())
    written = [name for op in ops for _, given in op["outputs"] for name in given if name != "@EMPTY@"]
    read = {name for op in ops for _, given in op["inputs"] for name in given}
    for name, value in found.items():
        if name + "@GRAD" in read and array_of(value).dtype.kind == "f":
            one.put(name + "@GRAD", value)
            var = one.block.var(name + "@GRAD")
            program.global_block().create_var(
                var.name, dtype=var.dtype, shape=var.shape, kind=var.kind, lod_level=var.lod_level, persistable=True
            )
    try:
        for op in ops:
            program.global_block().append_op(
                op["type"], dict(op["inputs"]), dict(op["outputs"]), {name: value for name, _, value in op["attrs"]}
            )
        one.fetch(written, program)
    except pm.Error:  # claim a gradient of integers
        return one.program, names
    return program, names + written


@pytest.mark.parametrize("op_type", some(sorted(set(all_facts()) - LEFT_OUT), 3))
def test_operators(op_type):
    for name, inputs, attrs, counts, _ in cases_of(op_type):
        seeded = {"seed": 7} if any(attr["name"] == "seed" for attr in op_schema(op_type)["attrs"]) else {}
        one = OneOp(op_type, inputs, {**attrs, **seeded}, counts, aliased=False)
        program, names = with_gradient(one)
        results = under_each(lambda one=one, names=names, program=program: [bits(value) for value in one.fetch(names, program)])
        differ = [name for name, first, second in zip(names, *results) if first != second]
        assert not differ, f"{name}: {differ} hold what was in memory before"


def test_a_gradient_of_one_element_may_have_another_rank():
    """Programs of old versions have losses of shape [1] and of shape []."""
    lengths = {"input_lengths": np.array([1], "int32"), "loss@GRAD": np.array([2], "float32")}
    rnnt = {"input": np.ones((1, 1, 1, 1), "float32"), "warprnntgrad": np.float32(3), **lengths}
    for shape in ((), (1,), (1, 1)):
        diagonal = {"X": np.ones(1, "float32"), "Out@GRAD": np.full(shape, 3, "float32")}
        with filled(0x55):
            assert run_op("diag_v2_grad", diagonal, {})["X@GRAD"] == 3
            assert run_op("warprnnt_grad", rnnt, {"blank": 0})["input@GRAD"] == 6


@pytest.mark.parametrize("mode, kept", [("LSTM", 6), ("GRU", 4), ("RNN_TANH", 1), ("RNN_RELU", 1)])
def test_padding_of_rnn_is_zero_in_what_the_gradient_reads(mode, kept):
    steps, batch, hidden, gates = 4, 3, 2, {"LSTM": 4, "GRU": 3}.get(mode, 1)
    inputs = {
        "Input": np.ones((steps, batch, 5), "float32"),
        "SequenceLength": np.array([2, 0, 4]),
        "PreState": [np.ones((1, batch, hidden), "float32")] * (2 if mode == "LSTM" else 1),
        "WeightList": [np.ones((gates * hidden, width), "float32") for width in (5, hidden)]
        + [np.ones(gates * hidden, "float32")] * 2,
    }
    one = OneOp(
        "rnn",
        inputs,
        {"mode": mode, "hidden_size": hidden, "input_size": 5},
        {"Out": 1, "Reserve": 1, "State": len(inputs["PreState"])},
    )
    with filled(0x55):
        reserve = np.asarray(one.run()["Reserve"])
    lines = [reserve[: steps * batch * 4 * hidden], reserve[steps * batch * 4 * hidden :]] if mode == "LSTM" else [reserve]
    assert reserve.size == steps * batch * kept * hidden
    for part in lines:
        rows = part.reshape(steps, batch, -1)
        assert not rows[2:, 0].any() and not rows[:, 1].any() and rows[:, 2].all()


def trained(place):
    """The scope after some steps, by name."""
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup), pm.unique_name.guard():
        x, y = pm.layers.data("x", [-1, 6]), pm.layers.data("y", [-1, 1], dtype="int64")
        hidden = pm.layers.fc(x, 8, act="relu")
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(pm.layers.fc(hidden + pm.layers.fc(hidden, 8), 3), y))
        pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), window_size=4).minimize(loss)
    exe, scope = pm.Executor(place), pm.Scope()
    pm.seed(3)
    exe.run(startup, scope=scope)
    random = np.random.default_rng(1)
    for size in (5, 3, 5):
        exe.run(
            main, {"x": random.normal(size=(size, 6)).astype("float32"), "y": random.integers(0, 3, (size, 1))}, [loss], scope
        )
    return {name: scope.get(name).tobytes() for name in sorted(scope.names())}


@pytest.mark.parametrize("place", [pm.CPUPlace(), pm.EmulatedPlace(0)], ids=str)
def test_training(place):
    """Arenas that many steps share, gradients that are summed, optimizers with state, averages."""
    first, second = under_each(lambda: trained(place))
    assert first == second


def test_the_pattern_is_in_fresh_memory():
    assert under_each(lambda: _core.fresh_memory(1000)) == [bytes([pattern]) * 1000 for pattern in PATTERNS]


def test_the_pattern_is_in_a_devices_temporaries_before_each_run():
    """A value of which only the shape is read is not transferred: a kernel that reads it anyway finds the old contents
    of its memory."""
    main = pm.Program()
    with pm.program_guard(main):
        out = pm.layers.scale(pm.layers.relu(pm.layers.data("x", [2, 3])), scale=2.0)
    exe, feed = pm.Executor(pm.EmulatedPlace(0)), {"x": np.ones((2, 3), "float32")}
    with altered("relu", {"inputs.shape_only": ["X"]}), filled(0x55):
        for _ in range(2):
            np.testing.assert_array_equal(exe.run(main, feed, [out])[0], 2 * np.frombuffer(b"\x55" * 24, "float32").reshape(2, 3))
