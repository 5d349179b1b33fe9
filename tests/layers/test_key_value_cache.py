"""Texts that are written word by word with a KeyValueCache have the scores of a run over the whole text."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import layers

WORDS, LENGTH, WIDTH = 50, 12, 16
DRAW = np.random.default_rng(11)


def scores_of(ids, cache=None):
    """A language model of two blocks; with a cache, of the next words."""
    with pm.unique_name.guard():
        x = layers.embedding(ids, [WORDS, WIDTH], param_attr="words")
        x = layers.add_learned_positions(x, LENGTH, param_attr="positions", cache=cache)
        for _ in range(2):
            x = layers.transformer_encoder_layer(
                x, num_heads=4, d_inner=32, dropout_rate=0.0, normalize_before=True, causal=True, cache=cache
            )
        return layers.fc(x, WORDS, 2, name="scores")


class Writer:
    """A model that reads whole texts and one that reads the next words, with the same parameters."""

    def __init__(self, batch=1, words=-1, threads=1):
        self.exe, self.scope = pm.Executor(threads=threads), pm.Scope()
        self.whole, self.next, startup = pm.Program(), pm.Program(), pm.Program()
        startup.random_seed = 3
        with pm.program_guard(self.next, startup):
            cache = layers.KeyValueCache(LENGTH, batch)
            self.next_scores = scores_of(layers.data("ids", [batch, words], "int64"), cache)
        with pm.program_guard(self.whole, pm.Program()):
            self.whole_scores = scores_of(layers.data("ids", [batch, -1], "int64"))
        self.exe.run(startup, scope=self.scope)

    def read(self, ids):
        return self.exe.run(self.whole, {"ids": ids}, [self.whole_scores], self.scope)[0]

    def write(self, ids, position):
        return self.exe.run(self.next, {"ids": ids, "position": np.array([position])}, [self.next_scores], self.scope)[0]

    def kept(self):
        names = [name for name in self.next.global_block().vars if name.endswith((".keys", ".values"))]
        assert len(names) == 4
        return {name: self.scope.get(name).copy() for name in names}


def check(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("batch, pieces", [(1, [1] * LENGTH), (1, [5, 1, 1, 3, 2]), (3, [4, 1, 1, 1]), (2, [LENGTH])])
def test_piece_by_piece_there_are_the_scores_of_the_whole_text(batch, pieces):
    writer, ids = Writer(batch), DRAW.integers(0, WORDS, (batch, sum(pieces)))
    begins = np.cumsum([0, *pieces])
    found = [writer.write(ids[:, begin:end], begin) for begin, end in itertools.pairwise(begins)]
    check(np.concatenate(found, 1), writer.read(ids))


def test_a_program_for_one_word_a_run():
    writer, ids = Writer(words=1), DRAW.integers(0, WORDS, (1, LENGTH))
    check(np.concatenate([writer.write(ids[:, [i]], i) for i in range(LENGTH)], 1), writer.read(ids))


def test_a_new_text_and_going_back_see_nothing_of_the_later_words():
    writer = Writer()
    first, second = DRAW.integers(0, WORDS, (2, 1, LENGTH))
    writer.write(first, 0)
    check(writer.write(second[:, :6], 0), writer.read(second[:, :6]))
    writer.write(first[:, 6:], 6)
    other = np.concatenate([second[:, :4], first[:, :2]], 1)
    check(writer.write(other[:, 4:], 4), writer.read(other)[:, 4:])


def test_words_beyond_the_length_are_refused_and_change_nothing():
    writer, ids = Writer(), DRAW.integers(0, WORDS, (1, LENGTH))
    writer.write(ids[:, :10], 0)
    before = writer.kept()
    for position in (10, -1):
        with pytest.raises(pm.OpError):
            writer.write(ids[:, :3], position)
    after = writer.kept()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)
    check(writer.write(ids[:, 10:], 10), writer.read(ids)[:, 10:])


def test_a_word_that_is_refused_later_in_the_run_leaves_the_texts():
    """An operator after all attentions refuses: what they had written is undone."""
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        scores = scores_of(layers.data("ids", [1, -1], "int64"), layers.KeyValueCache(LENGTH))
        label = layers.data("label", [1, -1, 1], "int64")
        loss = layers.mean(layers.softmax_with_cross_entropy(scores, label))
    exe = pm.Executor()
    exe.run(startup, scope=scope)
    feed = {"ids": np.array([[1, 2]]), "position": np.array([0]), "label": np.array([[[3], [4]]])}
    exe.run(main, feed, [loss], scope)
    kept = [name for name in main.global_block().vars if name.endswith((".keys", ".values"))]
    before = {name: scope.get(name).copy() for name in kept}
    with pytest.raises(pm.OpError, match="label 50"):
        exe.run(main, {**feed, "ids": np.array([[7, 8]]), "label": np.array([[[3], [WORDS]]])}, [loss], scope)
    for name, value in before.items():
        np.testing.assert_array_equal(scope.get(name), value)


def test_a_run_saves_no_text():
    """All attentions check the same positions: after the first of them nothing is refused, so nothing must be restored."""
    writer = Writer(words=1)
    text = writer.exe.plan_text(
        writer.next, {"ids": np.array([[1]]), "position": np.array([0])}, [writer.next_scores], writer.scope
    )
    assert "keeps" not in text


def test_a_mask_hides_besides():
    """Words that a mask hides from all are as if they were not there."""
    x = DRAW.standard_normal((1, 4, WIDTH)).astype("float32")
    outs = []
    for hidden in (False, True):
        main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
        startup.random_seed = 5
        with pm.program_guard(main, startup), pm.unique_name.guard():
            data = layers.data("x", [1, -1, WIDTH])
            mask = layers.assign(np.where(np.arange(LENGTH) == 1, -1e9, 0.0).astype("float32")) if hidden else None
            out = layers.multi_head_attention(data, num_heads=4, attn_mask=mask, cache=layers.KeyValueCache(LENGTH))
        exe = pm.Executor()
        exe.run(startup, scope=scope)
        given = x if hidden else x[:, [0, 2, 3]]
        outs.append(exe.run(main, {"x": given, "position": np.array([0])}, [out], scope)[0])
    check(outs[1][:, 2:], outs[0][:, 1:])


def test_a_saved_model_writes_texts(tmp_path):
    writer, ids = Writer(words=1), DRAW.integers(0, WORDS, (1, 6))
    wanted = writer.read(ids)
    feeds = [writer.next.global_block().var(name) for name in ("ids", "position")]
    pm.io.save_inference_model(str(tmp_path / "m"), feeds, [writer.next_scores], writer.exe, writer.next, scope=writer.scope)
    predictor = pm.Predictor(str(tmp_path / "m"))
    found = [predictor({"ids": ids[:, [i]], "position": np.array([i])})[0] for i in range(6)]
    check(np.concatenate(found, 1), wanted)


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda x: layers.KeyValueCache(0), pm.ProgramError, "length"),
        (lambda x: layers.KeyValueCache(4, position=x), pm.ShapeError, "position is .*, it must be int64 \\[1\\]"),
        (lambda x: layers.KeyValueCache(4, position=3), pm.ProgramError, "must be a Variable"),
        (
            lambda x: layers.multi_head_attention(x, layers.relu(x), num_heads=4, cache=layers.KeyValueCache(4)),
            pm.ProgramError,
            "with a cache, keys and values are those of the queries",
        ),
        (
            lambda x: layers.multi_head_attention(x, num_heads=4, cache=layers.KeyValueCache(4, batch=2)),
            pm.ShapeError,
            "has 1 texts, the KeyValueCache is for 2",
        ),
    ],
)
def test_refusals(make, error, message):
    x = layers.data("x", [1, 3, WIDTH])
    with pytest.raises(error, match=message):
        make(x)


def test_a_cache_is_for_one_block():
    x = layers.data("x", [1, 3, WIDTH])
    cache = layers.KeyValueCache(4)
    with pm.program_guard(pm.Program(), pm.Program()), pytest.raises(pm.ProgramError, match="the block of 'position'"):
        layers.multi_head_attention(layers.data("y", [1, 3, WIDTH]), num_heads=4, cache=cache)
    layers.multi_head_attention(x, num_heads=4, cache=cache)
