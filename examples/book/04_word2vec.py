# Chapter 4: predicts a word from the four before it, which also trains a vector for every word.
"""An N-gram model of language with one table of embeddings for all four words.
Bengio et al., "A Neural Probabilistic Language Model", JMLR 2003.

    .venv/bin/python examples/book/04_word2vec.py
    .venv/bin/python examples/book/04_word2vec.py --data simple-examples.tgz
"""

import sys

import paddle_mini as pm
from chapter import arguments, fit, saved_and_used
from paddle_mini import layers
from paddle_mini.data import imikolov

N = 5
EMBEDDING, HIDDEN = 32, 256
RATE = 0.03  # the book's is 0.003, for a million words


def main(argv=None):
    args = arguments(argv, __doc__, epochs=8, batch=100)
    samples = imikolov.load(args.data, N) if args.data else imikolov.synthetic(n=N)
    words = samples.vocabularies["words"]

    before = [layers.data(f"word{i}", [-1], dtype="int64") for i in range(N - 1)]
    following = layers.data("following", [-1, 1], dtype="int64")
    vectors = [layers.embedding(word, [len(words), EMBEDDING], is_sparse=True, param_attr="shared_w") for word in before]
    hidden = layers.fc(layers.concat(vectors, axis=1), size=HIDDEN, act="sigmoid")
    predicted = layers.fc(hidden, size=len(words), act="softmax")
    loss = layers.mean(layers.cross_entropy(predicted, following))

    # The table's weight decay covers the whole table, which makes its sparse gradient dense.
    optimizer = pm.optimizer.Adagrad(learning_rate=RATE, regularization=pm.regularizer.L2Decay(8e-4))
    executor, means = fit(samples, [*before, following], loss, optimizer, args)

    spelled = {number: word for word, number in words.items()}
    row = samples.test[0]
    (probability,) = saved_and_used(args, before, [predicted], executor, [row[:-1]])
    best = [f"{spelled[i]} ({probability[0, i]:.2f})" for i in probability[0].argsort()[:-4:-1]]
    print(*(spelled[i] for i in row[:-1]), "→", ", ".join(best), "; it was", spelled[row[-1]])
    return means["loss"]


if __name__ == "__main__":
    main(sys.argv[1:])
