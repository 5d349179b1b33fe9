# Recurrent layers against loops over steps in NumPy.
import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, run
from sequence_cases import lod_tensor, split

RANDOM = np.random.default_rng(0)
X = lod_tensor(RANDOM.normal(size=(5, 12)).astype("float32"), (2, 3))
STATE = RANDOM.normal(size=(2, 3)).astype("float32")
SOME = pm.initializer.Uniform(-0.8, 0.8)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_steps(rows, weight, bias, h, c, peepholes):
    width, out = weight.shape[0], []
    bias, (w_i, w_f, w_o) = bias[0, : 4 * width], bias[0, 4 * width :].reshape(3, width) if peepholes else (0, 0, 0)
    for row in rows:
        candidate, i, f, o = np.split(row + bias + h @ weight, 4)
        c = sigmoid(i + w_i * c) * np.tanh(candidate) + sigmoid(f + w_f * c) * c
        h = sigmoid(o + w_o * c) * np.tanh(c)
        out.append(h)
    return out


def gru_steps(rows, weight, bias, h):
    width, out = weight.shape[0], []
    flat = weight.ravel()
    gates, candidate = flat[: 2 * width**2].reshape(width, -1), flat[2 * width**2 :].reshape(width, -1)
    for row in rows + bias[0]:
        u, r = np.split(sigmoid(row[: 2 * width] + h @ gates), 2)
        h = (1 - u) * h + u * np.tanh(row[2 * width :] + (r * h) @ candidate)
        out.append(h)
    return out


@pytest.mark.parametrize("peepholes", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
def test_dynamic_lstm(peepholes, reverse):
    x, h, c = pm.layers.data("x", [-1, 12], lod_level=1), pm.layers.data("h", [-1, 3]), pm.layers.data("c", [-1, 3])
    hidden, cell = pm.layers.dynamic_lstm(
        x, 12, h, c, param_attr=SOME, bias_attr=SOME, use_peepholes=peepholes, is_reverse=reverse
    )
    assert hidden.shape == cell.shape == (-1, 3) and hidden.lod_level == 1
    value, weight, bias = run(hidden, "lstm_0.w_0", "lstm_0.b_0", x=X, h=STATE, c=2 * STATE)
    assert weight.shape == (3, 12) and bias.shape == (1, 21 if peepholes else 12)
    turn = slice(None, None, -1 if reverse else 1)
    wanted = [lstm_steps(rows[turn], weight, bias, STATE[i], 2 * STATE[i], peepholes)[turn] for i, rows in enumerate(split(X))]
    np.testing.assert_allclose(value, np.concatenate(wanted), rtol=1e-4, atol=1e-6)


def test_dynamic_lstm_begins_with_xavier_and_zeros():
    hidden, _ = pm.layers.dynamic_lstm(pm.layers.data("x", [-1, 12], lod_level=1), 12)
    value, weight, bias = run(hidden, "lstm_0.w_0", "lstm_0.b_0", x=X)
    assert 0 < np.abs(weight).max() <= (6 / 15) ** 0.5 and not bias.any()
    wanted = [lstm_steps(rows, weight, bias, np.zeros(3), np.zeros(3), True) for rows in split(X)]
    np.testing.assert_allclose(value, np.concatenate(wanted), rtol=1e-4, atol=1e-6)


def test_dynamic_gru():
    x, h = pm.layers.data("x", [-1, 9], lod_level=1), pm.layers.data("h", [-1, 3])
    hidden = pm.layers.dynamic_gru(x, 3, param_attr=SOME, bias_attr=SOME, h_0=h)
    rows = lod_tensor(X.array[:, :9], (2, 3))
    value, weight, bias = run(hidden, "gru_0.w_0", "gru_0.b_0", x=rows, h=STATE)
    wanted = [gru_steps(part, weight, bias, STATE[i]) for i, part in enumerate(split(rows))]
    np.testing.assert_allclose(value, np.concatenate(wanted), rtol=1e-4, atol=1e-6)


def test_gru_unit_is_one_step():
    x, h = pm.layers.data("x", [-1, 9]), pm.layers.data("h", [-1, 3])
    hidden, reset, gates = pm.layers.gru_unit(x, h, 9, param_attr=SOME, bias_attr=SOME)
    names = ["gru_unit_0.w_0", "gru_unit_0.b_0"]
    value, r, g, weight, bias = run(hidden, reset, gates, *names, x=X.array[:2, :9], h=STATE)
    wanted = [gru_steps(X.array[i : i + 1, :9], weight, bias, STATE[i])[0] for i in range(2)]
    np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(r, g[:, 3:6] * STATE, rtol=1e-5)
    pm.layers.gru_unit(x, h, 9, bias_attr=False)
    with pytest.raises(pm.ProgramError, match="activation is 'gelu', it must be one of identity, sigmoid, tanh, relu"):
        pm.layers.gru_unit(x, h, 9, activation="gelu")


@pytest.mark.parametrize("mode, count", [("LSTM", 2), ("GRU", 1), ("RNN_TANH", 1), ("RNN_RELU", 1)])
def test_stacked_rnn(mode, count):
    x, length = pm.layers.data("x", [-1, -1, 4]), pm.layers.data("length", [-1], dtype="int32")
    out, states = pm.layers.stacked_rnn(x, 3, 2, mode, is_bidirec=True, sequence_length=length)
    assert out.shape == (-1, -1, 6) and len(states) == count and states[0].shape == (4, -1, 3)
    parameters = [p for p in pm.default_main_program().global_block().vars.values() if p.persistable]
    assert [p.shape[1] for p in parameters[:8]] == [4, 3, 4, 3, 6, 3, 6, 3] and len(parameters) == 16
    value, last, weight = run(
        out, states[0], "stacked_rnn_0.w_0", x=RANDOM.normal(size=(5, 2, 4)).astype("f4"), length=np.array([5, 3], "int32")
    )
    assert value.shape == (5, 2, 6) and not value[3:, 1].any() and value[:3, 1].any()
    assert 0 < np.abs(weight).max() <= 3**-0.5
    np.testing.assert_allclose(value[[4, 2], [0, 1], :3], last[2], rtol=1e-6)
    np.testing.assert_allclose(value[0, :, 3:], last[3], rtol=1e-6)


def test_lstm_is_a_stack_of_one_mode():
    x = pm.layers.data("x", [-1, -1, 4])
    h, c = pm.layers.data("h", [1, -1, 3]), pm.layers.data("c", [1, -1, 3])
    out, _, last_c = pm.layers.lstm(x, h, c, 5, 3, 1)
    rows, start = RANDOM.normal(size=(4, 1, 4)).astype("f4"), np.ones((1, 1, 3), "f4")
    names = ["lstm_0.w_0", "lstm_0.w_1", "lstm_0.b_0", "lstm_0.b_1"]
    value, cell, w_i, w_h, b_i, b_h = run(out, last_c, *names, x=rows, h=start, c=2 * start)
    h, c = start[0, 0], 2 * start[0, 0]
    for i in range(4):
        i_gate, f, candidate, o = np.split(w_i @ rows[i, 0] + b_i + w_h @ h + b_h, 4)
        c = sigmoid(f) * c + sigmoid(i_gate) * np.tanh(candidate)
        h = sigmoid(o) * np.tanh(c)
        np.testing.assert_allclose(value[i, 0], h, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(cell[0, 0], c, rtol=1e-4)


def test_layers_train():
    x, label = pm.layers.data("x", [-1, 4], lod_level=1), pm.layers.data("label", [-1, 1])
    states = [pm.layers.dynamic_lstm(pm.layers.fc(x, 16), 16)[0], pm.layers.dynamic_gru(pm.layers.fc(x, 12), 4)]
    last = [pm.layers.sequence_last_step(state) for state in states]
    loss = pm.layers.mean(pm.layers.square_error_cost(pm.layers.fc(last, 1), label))
    pm.optimizer.Adam(0.05).minimize(loss)
    executor = pm.Executor(pm.CPUPlace())
    executor.run(pm.default_startup_program())
    rows = RANDOM.normal(size=(11, 4)).astype("f4")
    feed = {"x": lod_tensor(rows, (3, 4, 4)), "label": np.array([[1], [-1], [2]], "f4")}
    losses = [executor.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(60)]
    assert losses[-1] < 0.01 * losses[0]


def test_what_does_not_fit():
    x, h = pm.layers.data("x", [-1, 12], lod_level=1), pm.layers.data("h", [-1, 3])
    padded = pm.layers.data("padded", [-1, -1, 4])
    before = len(op_types()), len(pm.default_main_program().global_block().vars)
    for message, build in {
        "size is 13, it must be a multiple of 4": lambda: pm.layers.dynamic_lstm(x, 13),
        "give both h_0 and c_0": lambda: pm.layers.dynamic_lstm(x, 12, h_0=h),
        "bias_attr cannot be False": lambda: pm.layers.dynamic_lstm(x, 12, bias_attr=False),
        "dtype is 'float64', the input is float32": lambda: pm.layers.dynamic_lstm(x, 12, dtype="float64"),
        "size is 0": lambda: pm.layers.dynamic_gru(x, 0),
        "mode is 'lstm', it must be one of LSTM": lambda: pm.layers.stacked_rnn(padded, 3, mode="lstm"),
        "param_attr cannot have a name": lambda: pm.layers.stacked_rnn(padded, 3, param_attr="w"),
        "a list of 2 Variables": lambda: pm.layers.stacked_rnn(padded, 3, initial=[h]),
    }.items():
        with pytest.raises(pm.ProgramError, match=f"(?s){message}.*test_rnn.py:"):
            build()
    for build in (lambda: pm.layers.dynamic_lstm(x, 16), lambda: pm.layers.dynamic_gru(padded, 4)):
        with pytest.raises(pm.ShapeError, match=r"(?s)it must be \[rows, 1[62]\].*test_rnn.py:"):
            build()
    assert before == (len(op_types()), len(pm.default_main_program().global_block().vars))
