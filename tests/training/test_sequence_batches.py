"""Sequences of different lengths reach the program: with offsets, or padded."""

import pytest

import paddle_mini as pm
from training_model import fit


def test_sequences_of_any_length():
    sentences = [[1, 2, 3], [4], [5, 6], [7, 8, 9, 0], [1]]
    labels = [0, 1, 0, 1, 1]

    def network():
        main, startup = pm.Program(), pm.Program()
        with pm.program_guard(main, startup):
            words = pm.layers.data("words", [-1], dtype="int64", lod_level=1)
            label = pm.layers.data("label", [-1, 1], dtype="int64")
            pooled = pm.layers.sequence_pool(pm.layers.embedding(words, [10, 4]), "sum")
            predicted = pm.layers.fc(pooled, 2, act="softmax")
            loss = pm.layers.mean(pm.layers.cross_entropy(predicted, label))
        pm.seed(3)
        return pm.Trainer(loss, pm.optimizer.SGD(0.1), startup=startup, exe=pm.Executor(), scope=pm.Scope()), [words, label]

    of, variables = network()
    columns = fit(of, {"words": sentences, "label": labels}, batch_size=2)
    rows = list(zip(sentences, labels))
    for data in (
        pm.data.Loader(rows),
        pm.data.Loader([{"label": label, "words": words} for words, label in rows]),
        pm.data.Loader(rows).batch(2, feeder=pm.data.DataFeeder(variables)),
        [pm.data.DataFeeder(variables).feed(some) for some in pm.data.batch(rows, 2)],
    ):
        assert fit(network()[0], data, batch_size=2) == columns
    assert of.history.last["step"] == 6
    assert of.evaluate(pm.data.Loader(rows), 2)["loss"] == pytest.approx(of.evaluate(pm.data.Loader(rows), 5)["loss"], rel=1e-6)


def padded_network(*more):
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        words, label = pm.layers.data("words", [-1, -1], "int64"), pm.layers.data("label", [-1, 1], "int64")
        pooled = pm.layers.reduce_sum(pm.layers.embedding(words, [10, 4], padding_idx=0), dim=1)
        for name in more:
            pooled = pooled / pm.layers.unsqueeze(pm.layers.cast(pm.layers.data(name, [-1], "int64"), "float32"), [1])
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(pm.layers.fc(pooled, 2), label))
    pm.seed(3)
    return pm.Trainer(loss, pm.optimizer.SGD(0.1), startup=startup, exe=pm.Executor(), scope=pm.Scope())


@pytest.mark.parametrize("more", [(), ("words_length",)])
def test_padded_sequences_with_and_without_their_lengths(more):
    rows = [([1, 2, 3], 0), ([4], 1), ([5, 6], 0)]
    named = [{"words": words, "label": label} for words, label in rows]
    batches = [pm.data.Loader(rows).batch(2, pad={0: 0}), pm.data.Loader(named).batch(2, pad={"words": 0})]
    first, second = (fit(padded_network(*more), data) for data in batches)
    assert first == second
    with pytest.raises(pm.ProgramError, match="batch 0 has 'other', which the program does not read"):
        fit(padded_network(*more), batches[1].map(lambda batch: {**batch, "other": batch["label"]}))


def test_a_column_of_sequences_has_a_length():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        words = pm.layers.data("words", [-1], dtype="int64", lod_level=1)
        loss = pm.layers.mean(pm.layers.sequence_pool(pm.layers.embedding(words, [10, 4]), "sum"))
    of = pm.Trainer(loss, pm.optimizer.SGD(0.1), startup=startup, scope=pm.Scope())
    with pytest.raises(pm.ProgramError, match="data: the column 'words' is <generator .*, it must be a list or an array"):
        of.fit({"words": (row for row in [[1], [2, 3]])}, progress=False)
