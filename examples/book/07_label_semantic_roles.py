# Chapter 7: semantic role labeling (who did what to whom): LSTMs of alternating direction under a conditional random
# field.
"""Semantic role labeling. Zhou and Xu, "End-to-end learning of semantic role labeling", ACL 2015.

.venv/bin/python examples/book/07_label_semantic_roles.py
.venv/bin/python examples/book/07_label_semantic_roles.py --data conll05st-tests.tar.gz
"""

import sys

import paddle_mini as pm
from chapter import arguments, fit, saved_and_used
from paddle_mini import layers
from paddle_mini.data import conll05

WORD, MARK, HIDDEN, DEPTH = 32, 5, 64, 8  # the book's: 32, 5, 512, 8
RATE, MIX_RATE = 0.03, 1.0  # the book's: 0.01, and 0.001 of it for the weight of the field
WORDS = ["words", "two_before", "before", "at", "after", "two_after"]


def embedded(inputs, sizes):
    """Eight vectors for each word; the six tables of words are one, which is not trained: the book reads it from a file
    of trained vectors, here it is random."""
    shared = pm.ParamAttr("emb", pm.initializer.Normal(0.0, 1.0), trainable=False)
    vectors = [layers.embedding(inputs[name], [sizes["words"], WORD], param_attr=shared) for name in WORDS]
    vectors.append(layers.embedding(inputs["verb"], [sizes["verbs"], WORD], param_attr="vemb"))
    vectors.append(layers.embedding(inputs["mark"], [2, MARK]))
    return vectors


def lstm(gates, reverse):
    return layers.dynamic_lstm(
        gates, size=HIDDEN, candidate_activation="relu", gate_activation="sigmoid", cell_activation="sigmoid", is_reverse=reverse
    )[0]


def scores_of_labels(vectors, labels):
    mixed = layers.sums([layers.fc(vector, size=HIDDEN, act="tanh") for vector in vectors])
    state = lstm(mixed, reverse=False)
    for depth in range(1, DEPTH):
        mixed = layers.sums([layers.fc(x, size=HIDDEN, act="tanh") for x in (mixed, state)])
        state = lstm(mixed, reverse=depth % 2 == 1)
    return layers.sums([layers.fc(x, size=labels, act="tanh") for x in (mixed, state)])


def main(argv=None):
    args = arguments(argv, __doc__, epochs=6, batch=10)
    samples = conll05.load(args.data) if args.data else conll05.synthetic()
    sizes = {name: len(values) for name, values in samples.vocabularies.items()}

    inputs = {name: layers.data(name, [-1], dtype="int64", lod_level=1) for name in [*WORDS, "verb", "mark"]}
    target = layers.data("target", [-1, 1], dtype="int64", lod_level=1)
    scores = scores_of_labels(embedded(inputs, sizes), sizes["labels"])
    loss = layers.mean(layers.linear_chain_crf(scores, target, pm.ParamAttr("crfw", learning_rate=MIX_RATE)))
    best = layers.crf_decoding(scores, "crfw")
    f1 = layers.chunk_eval(best, target, "IOB", (sizes["labels"] - 1) // 2).f1_score

    rate = layers.exponential_decay(RATE, decay_steps=100_000, decay_rate=0.5, staircase=True)
    optimizer = pm.optimizer.SGD(learning_rate=rate)
    executor, means = fit(samples, [*inputs.values(), target], loss, optimizer, args, f1=f1)

    words, labels = ({number: name for name, number in samples.vocabularies[which].items()} for which in ("words", "labels"))
    row = samples.test[0]
    (found,) = saved_and_used(args, list(inputs.values()), [best], executor, [row[:-1]])
    print(*(f"{words[word]}/{labels[label]}" for word, label in zip(row[0], found[:, 0])))
    return means["f1"]


if __name__ == "__main__":
    main(sys.argv[1:])
