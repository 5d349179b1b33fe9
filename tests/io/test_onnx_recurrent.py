"""pm.onnx.load: cells that the operator rnn does not have, beside their formulas in NumPy."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import paddle_mini as pm

T, N, I, H = 4, 3, 2, 5


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def stepped(cell, x, lengths, backward, states):
    """The outputs and the last states of one direction; after the end of a sequence states stay and outputs are 0."""
    y = np.zeros((T, N, H))
    for t in reversed(range(T)) if backward else range(T):
        inside = (t < lengths)[:, None]
        made = cell(x[t], *states)
        y[t] = made[0] * inside
        states = [np.where(inside, new, old) for new, old in zip(made, states)]
    return y, states


def lstm(w, r, b, p, clip):
    """With peepholes, and the forget gate coupled to the input gate."""

    def cell(x, h, c):
        i, o, _, g = np.split(x @ w.T + h @ r.T + b[: 4 * H] + b[4 * H :], 4, axis=1)
        cut = lambda value: np.clip(value, -clip, clip)
        i, g = sigmoid(cut(i + p[:H] * c)), np.tanh(cut(g))
        c = (1 - i) * c + i * g
        return sigmoid(cut(o + p[H : 2 * H] * c)) * np.maximum(cut(c), 0), c

    return cell  # fmt: skip


def gru(w, r, b, slope):
    """The reset gate before the product; the gates are hard sigmoids."""

    def cell(x, h):
        z, s, g = np.split(x @ w.T + b[: 3 * H], 3, axis=1)
        rz, rs, rg = np.split(r, 3)
        bz, bs, bg = np.split(b[3 * H :], 3)
        z, s = (np.clip(slope * value + 0.5, 0, 1) for value in (z + h @ rz.T + bz, s + h @ rs.T + bs))
        g = np.tanh(g + (s * h) @ rg.T + bg)
        return [(1 - z) * g + z * h]

    return cell  # fmt: skip


CELLS = {
    "LSTM": (4, lstm, {"clip": 0.75, "input_forget": 1, "activations": ["Sigmoid", "Tanh", "Relu"]}),
    "GRU": (3, gru, {"activations": ["HardSigmoid", "Tanh"], "activation_alpha": [0.3]}),
}


def node_model(path, kind, direction, weights, attrs):
    directions = 2 if direction == "bidirectional" else 1
    attrs = {name: value * directions if isinstance(value, list) else value for name, value in attrs.items()}
    names = ["x", "w", "r", "b", "lengths", "h0", *(["c0", "p"] if kind == "LSTM" else [])]
    outputs = ["y", "h", "c"][: 3 if kind == "LSTM" else 2]
    node = helper.make_node(kind, names, outputs, hidden_size=H, direction=direction, **attrs)
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [T, N, I])]
    infos.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, [N]))
    made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    for info, rank in zip(made, (4, 3, 3)):
        info.type.tensor_type.shape.CopyFrom(helper.make_tensor_type_proto(1, [f"d{i}" for i in range(rank)]).tensor_type.shape)
    initializers = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph([node], "graph", infos, made, initializers)
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", CELLS)
def test_cells_that_are_steps(tmp_path, kind, direction):
    gates, formula, attrs = CELLS[kind]
    rng = np.random.default_rng(5)
    backward = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    sizes = {"w": (gates * H, I), "r": (gates * H, H), "b": (2 * gates * H,), "h0": (N, H)}
    sizes |= {"c0": (N, H), "p": (3 * H,)} if kind == "LSTM" else {}
    weights = {name: rng.normal(size=(len(backward), *size)).astype("float32") for name, size in sizes.items()}
    node_model(tmp_path / "model.onnx", kind, direction, weights, attrs)
    scope = pm.Scope()
    program, _, fetches = pm.onnx.load(tmp_path / "model.onnx", scope)
    x, lengths = rng.normal(size=(T, N, I)).astype("float32"), np.array([4, 2, 1], "int32")
    found = pm.Executor().run(program, {"x": x, "lengths": lengths}, fetches, scope=scope)
    for d, reverse in enumerate(backward):
        at = {name: value[d].astype("float64") for name, value in weights.items()}
        last = (at["p"], attrs["clip"]) if kind == "LSTM" else (0.3,)
        states = [at[name] for name in ("h0", "c0") if name in at]
        y, states = stepped(formula(at["w"], at["r"], at["b"], *last), x, lengths, reverse, states)
        np.testing.assert_allclose(found[0][:, d], y, rtol=1e-4, atol=1e-5)
        for value, state in zip(found[1:], states, strict=True):
            np.testing.assert_allclose(value[d], state, rtol=1e-4, atol=1e-5)


def test_an_unknown_activation_is_refused(tmp_path):
    weights = {"w": (1, 3 * H, I), "r": (1, 3 * H, H), "b": (1, 6 * H), "h0": (1, N, H)}
    weights = {name: np.zeros(size, "float32") for name, size in weights.items()}
    node_model(tmp_path / "model.onnx", "GRU", "forward", weights, {"activations": ["Sigmoid", "Swish"]})
    with pytest.raises(pm.ProgramError, match="activation Swish"):
        pm.onnx.load(tmp_path / "model.onnx", pm.Scope())
