"""The chapters of the book: their programs, trained here and in PaddlePaddle from the same values, on the same batches."""

import numpy as np
import pytest

import paddle_mini as pm
from book_chapters import CHAPTERS, chapter_to_train

STEPS = 5
# PaddlePaddle 2.6.2's lstm_grad returns zeros in float32 if the width of the state is a multiple of 8.
HIDDEN = {"06": 30, "07": 4 * 30}


@pytest.mark.parametrize("number, argv, batch", CHAPTERS)
def test_chapter(monkeypatch, train_in_both, number, argv, batch):
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        samples, feed_list, loss, optimizer = chapter_to_train(monkeypatch, number, *argv, hidden=HIDDEN.get(number))
        optimizer.minimize(loss)
        feeder = pm.data.DataFeeder(feed_list)
        batches = pm.data.batch(samples.train, batch, drop_last=True)
        feeds = [feeder.feed(next(batches)) for _ in range(STEPS)]
    train_in_both(main, startup, feeds, [loss], final_tolerance=0.05)


@pytest.mark.parametrize("mode", ["LSTM", "GRU", "RNN_TANH"])
@pytest.mark.parametrize("both_ways", [False, True])
def test_stacked_rnn(train_in_both, mode, both_ways):
    rng = np.random.default_rng(0)
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        words, label = pm.layers.data("words", [-1, 7], dtype="int64"), pm.layers.data("label", [-1, 1], dtype="int64")
        steps = pm.layers.transpose(pm.layers.embedding(words, [50, 12]), [1, 0, 2])
        outputs, _ = pm.layers.stacked_rnn(steps, 10, num_layers=2, mode=mode, is_bidirec=both_ways)
        last = pm.layers.reduce_mean(outputs, dim=0)
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(pm.layers.fc(last, 3), label))
        pm.optimizer.Adam(0.01).minimize(loss)
    feeds = [{"words": rng.integers(0, 50, (6, 7)), "label": rng.integers(0, 3, (6, 1))} for _ in range(STEPS)]
    train_in_both(main, startup, feeds, [loss], final_tolerance=0.01)
