"""Loader: batches of sequences, padded or with offsets, and samples of similar length."""

import itertools

import numpy as np

import paddle_mini as pm
from loader_functions import SENTENCES
from paddle_mini.data import DataFeeder, Loader


def test_padding_with_lengths():
    (batch,) = Loader([{"words": words, "label": i} for i, words in enumerate(SENTENCES)]).batch(5, pad={"words": -1})
    assert batch["words"].tolist() == [[1, 2, 3, -1], [4, -1, -1, -1], [5, 6, -1, -1], [-1] * 4, [7, 8, 9, 1]]
    assert batch["words"].dtype == np.int64 and batch["label"].tolist() == [*range(5)]
    assert batch["words_length"].tolist() == [3, 1, 2, 0, 4] and batch["words_length"].dtype == np.int64
    rows = [(np.ones((n, 2), "float32"), n) for n in (1, 3)]
    ((steps, counts, lengths),) = Loader(rows).batch(2, pad={0: 0})
    assert steps.shape == (2, 3, 2) and steps.dtype == np.float32 and steps.sum() == 8
    assert lengths.tolist() == counts.tolist() == [1, 3]


def test_sequences_with_offsets():
    words, label = pm.layers.data("words", [-1], dtype="int64", lod_level=1), pm.layers.data("label", [-1, 1], dtype="int64")
    feeder = DataFeeder([words, label])
    rows = [(sentence, i) for i, sentence in enumerate(SENTENCES)]
    expected = [feeder.feed(some) for some in pm.data.batch(rows, 2)]
    for found, wanted in zip(Loader(rows).batch(2, feeder=feeder), expected):
        assert found["words"].lod == wanted["words"].lod
        assert np.array_equal(found["words"].array, wanted["words"].array)
        assert np.array_equal(found["label"], wanted["label"])


def test_samples_of_similar_length_share_a_batch():
    lengths = np.random.default_rng(0).integers(1, 100, 101)
    rows = [{"words": [0] * int(n)} for n in lengths]

    def padding(loader):
        batches = list(loader)
        assert sorted(n for batch in batches for n in batch["words_length"]) == sorted(lengths)
        return sum(batch["words"].size - batch["words_length"].sum() for batch in batches), len(batches)

    def length(sample):
        return len(sample["words"])

    plain, count = padding(Loader(rows).shuffle(seed=1).batch(8, pad={"words": 0}))
    bucketed = Loader(rows).shuffle(seed=1).batch(8, pad={"words": 0}, length=length)
    wasted, bucketed_count = padding(bucketed)
    assert wasted < plain / 5 and bucketed_count == count == len(bucketed)
    sizes = [batch["words"].shape[1] for batch in bucketed]
    assert sizes != sorted(sizes), "batches are shuffled"
    windows = Loader(rows).batch(8, pad={"words": 0}, length=length, window=2)
    first = sorted(n for batch in itertools.islice(windows, 2) for n in batch["words_length"])
    assert first == sorted(lengths[:16]), "samples stay within a window"
