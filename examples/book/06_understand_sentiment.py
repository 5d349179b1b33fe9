# Chapter 6: classifies film reviews by sentiment: convolutions, an LSTM, or stacked bidirectional LSTMs.
"""Three networks over sequences of words of any length.

.venv/bin/python examples/book/06_understand_sentiment.py --net lstm
.venv/bin/python examples/book/06_understand_sentiment.py --data aclImdb_v1.tar.gz
"""

import sys

import paddle_mini as pm
from chapter import arguments, fit, saved_and_used
from paddle_mini import layers, nets
from paddle_mini.data import imdb

EMBEDDING, HIDDEN, STACKED = 32, 32, 3  # the book's: 128, 128 or 512, 3
RATE = 0.05  # the book's: 0.002, for 25000 reviews


def embedded(words, count):
    return layers.embedding(words, [count, EMBEDDING], is_sparse=True)


def convolutions(words, count):
    vectors = embedded(words, count)
    found = [
        nets.sequence_conv_pool(vectors, num_filters=HIDDEN, filter_size=size, act="tanh", pool_type="sqrt") for size in (3, 4)
    ]
    return layers.fc(found, size=2, act="softmax")


def lstm(words, count):
    gates = layers.fc(embedded(words, count), size=4 * HIDDEN, act="tanh")
    state, _ = layers.dynamic_lstm(gates, size=4 * HIDDEN)
    last = layers.fc(layers.sequence_last_step(state), size=HIDDEN, act="tanh")
    return layers.fc(last, size=2, act="softmax")


def stacked_lstm(words, count):
    gates = layers.fc(embedded(words, count), size=4 * HIDDEN)
    state, _ = layers.dynamic_lstm(gates, size=4 * HIDDEN)
    for depth in range(1, STACKED):
        gates = layers.fc([gates, state], size=4 * HIDDEN)
        state, _ = layers.dynamic_lstm(gates, size=4 * HIDDEN, is_reverse=depth % 2 == 1)
    most = [layers.sequence_pool(sequence, "max") for sequence in (gates, state)]
    return layers.fc(most, size=2, act="softmax")


NETS = {"conv": convolutions, "lstm": lstm, "stacked": stacked_lstm}


def main(argv=None):
    args = arguments(argv, __doc__, epochs=12, batch=32, nets=list(NETS))
    samples = imdb.load(args.data) if args.data else imdb.synthetic()
    known = samples.vocabularies["words"]

    words = layers.data("words", [-1], dtype="int64", lod_level=1)
    label = layers.data("label", [-1, 1], dtype="int64")
    predicted = NETS[args.net](words, len(known))
    loss = layers.mean(layers.cross_entropy(predicted, label))
    accuracy = layers.accuracy(predicted, label)

    optimizer = pm.optimizer.Adagrad(learning_rate=RATE)
    executor, means = fit(samples, [words, label], loss, optimizer, args, accuracy=accuracy)

    rows = samples.test[:5]
    (probability,) = saved_and_used(args, [words], [predicted], executor, [row[:1] for row in rows])
    for (review, disliked), chance in zip(rows, probability):
        print(f"{len(review)} words, {'disliked' if disliked else 'liked'}; P(liked) = {chance[0]:.2f}")
    return means["accuracy"]


if __name__ == "__main__":
    main(sys.argv[1:])
