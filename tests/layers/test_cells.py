"""Cells, `rnn` and decoding: against NumPy, and against a search through all sentences."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm

L = pm.layers


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def run(build, **feeds):
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        given = {name: L.data(name, shape=[-1, *value.shape[1:]], dtype=str(value.dtype)) for name, value in feeds.items()}
        fetches = build(**given)
    main.random_seed = startup.random_seed = 1
    executor = pm.Executor(pm.CPUPlace())
    executor.run(startup, scope=scope)
    rng = np.random.default_rng(0)
    weights = {}
    for var in main.all_parameters():
        weights[var.name] = rng.uniform(-0.5, 0.5, var.shape).astype(var.dtype)
        scope.set(var.name, weights[var.name])
    return executor.run(main, feed=feeds, fetch_list=list(fetches), scope=scope), list(weights.values())


@pytest.mark.parametrize("bias_attr", [None, False])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("with_length", [False, True])
@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_rnn_is_the_loop_over_the_cell(kind, with_length, reverse, bias_attr):
    rng = np.random.default_rng(1)
    x, length = rng.uniform(-1, 1, (2, 4, 3)).astype("float32"), np.array([4, 2])

    def build(x, length):
        cell = L.GRUCell(5, bias_attr=bias_attr) if kind == "gru" else L.LSTMCell(5, bias_attr=bias_attr)
        out, state = L.rnn(cell, x, sequence_length=length if with_length else None, is_reverse=reverse)
        return [out, *(state if isinstance(state, list) else [state])]

    (out, *states), weights = run(build, x=x, length=length)
    if bias_attr is False:
        weights = [part for weight in weights for part in (weight, 0.0)]
    assert len(weights) == (4 if kind == "gru" else 2)
    h, c, expected = np.zeros((2, 5)), np.zeros((2, 5)), np.zeros((2, 4, 5))
    for t in reversed(range(4)) if reverse else range(4):
        if kind == "gru":
            gates = sigmoid(np.concatenate([x[:, t], h], 1) @ weights[0] + weights[1])
            r, u = gates[:, :5], gates[:, 5:]
            new_h, new_c = u * h + (1 - u) * np.tanh(np.concatenate([x[:, t], r * h], 1) @ weights[2] + weights[3]), c
        else:
            i, j, f, o = np.split(np.concatenate([x[:, t], h], 1) @ weights[0] + weights[1], 4, 1)
            new_c = c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
            new_h = np.tanh(new_c) * sigmoid(o)
        expected[:, t] = new_h
        on = (t < length)[:, None] if with_length else True
        h, c = np.where(on, new_h, h), np.where(on, new_c, c)
    np.testing.assert_allclose(out, expected, atol=1e-5)
    np.testing.assert_allclose(states[0], h, atol=1e-5)
    if kind == "lstm":
        np.testing.assert_allclose(states[1], c, atol=1e-5)


def test_gradients_reach_the_parameters_of_a_cell():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        x, y = L.data("x", shape=[-1, 6, 1]), L.data("y", shape=[-1, 1])
        _, state = L.rnn(L.GRUCell(8), x)
        loss = L.mean(L.square_error_cost(L.fc(state, 1), y))
        pm.optimizer.Adam(0.02).minimize(loss)
    executor, rng = pm.Executor(pm.CPUPlace()), np.random.default_rng(0)
    executor.run(startup, scope=scope)
    losses = []
    for _ in range(150):
        value = rng.uniform(-1, 1, (16, 6, 1)).astype("float32")
        feed = {"x": value, "y": value.sum(1)}
        losses.append(float(executor.run(main, feed=feed, fetch_list=[loss], scope=scope)[0]))
    assert np.mean(losses[-10:]) < 0.1 * np.mean(losses[:10])


WORDS, END = 4, 3


class Fixed:
    """A cell whose state contains the step; the probabilities of the next word depend on the step and on the last word."""

    def __call__(self, inputs, states):
        return L.concat([inputs, states], 1), states + 1.0


def test_a_beam_as_wide_as_all_sentences_finds_the_best_ones():
    steps, beam, sentences = 3, WORDS**3, 2
    rng = np.random.default_rng(2)
    table = rng.uniform(-2, 2, (WORDS + 1, WORDS)).astype("float32")  # by last word and step

    def build(start):
        weight = L.assign(table)
        decoder = L.BeamSearchDecoder(
            Fixed(),
            start_token=0,
            end_token=END,
            beam_size=beam,
            embedding_fn=lambda words: L.one_hot(words, WORDS),
            output_fn=lambda outputs: L.matmul(outputs, weight),
        )
        return L.dynamic_decode(decoder, start, max_step_num=steps)

    start = np.array([[0.0], [1.0]], "float32")
    (words, chances), _ = run(build, start=start)
    assert words.shape == (sentences, steps, beam) and words.dtype == np.int64
    for n in range(sentences):
        scored = {}
        for sentence in itertools.product(range(WORDS), repeat=steps):
            total, last, far, done = 0.0, 0, start[n, 0], False
            for word in sentence:
                if done and word != END:
                    break
                if not done:
                    logits = np.eye(WORDS)[last] @ table[:WORDS] + far * table[WORDS]
                    total += logits[word] - np.log(np.exp(logits).sum())
                last, far, done = word, far + 1, done or word == END
            else:
                scored[sentence] = total
        best = sorted(scored, key=scored.get, reverse=True)
        for place in range(5):
            assert tuple(words[n, :, place]) == best[place]
            assert abs(chances[n, place] - scored[best[place]]) < 1e-4


def test_decoding_stops_when_all_have_ended():
    def build(start):
        weight = L.assign(np.array([[0.0, 0.0, 0.0, 50.0]] * (WORDS + 1), "float32"))
        decoder = L.BeamSearchDecoder(
            Fixed(), 0, END, 2, lambda words: L.one_hot(words, WORDS), lambda outputs: L.matmul(outputs + 1.0, weight)
        )
        return L.dynamic_decode(decoder, start, max_step_num=10)

    (words, _), _ = run(build, start=np.zeros((3, 1), "float32"))
    assert words.shape[1] <= 2 and (words[:, 0, 0] == END).all()


@pytest.mark.parametrize(
    "shape, message", [([-1, 5], r"it must be \[N, T, width\]; layers.unsqueeze"), ([2, 3, 4, 5], r"must be \[N, T, width\]\n")]
)
def test_sequences_of_another_rank_are_refused(shape, message):
    with pytest.raises(pm.ShapeError, match=rf"rnn: inputs is .*{message}"):
        L.rnn(L.LSTMCell(4), L.data("x", shape))
