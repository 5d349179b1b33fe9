# Chapter 5: predicts a person's rating of a film from the similarity of their two vectors.
"""Two networks meet in a cosine: one knows the person, one the film with its kinds and its title.

.venv/bin/python examples/book/05_recommender_system.py
.venv/bin/python examples/book/05_recommender_system.py --data ml-1m.zip
"""

import sys

import paddle_mini as pm
from chapter import arguments, fit, saved_and_used
from paddle_mini import layers, nets
from paddle_mini.data import movielens

SIZE = 200


def number(name, **sequence):
    return layers.data(name, [-1], dtype="int64", **sequence)


def person(sizes, inputs):
    facts = []
    for fact, (what, width) in zip(inputs, {"users": 32, "genders": 16, "ages": 16, "jobs": 16}.items()):
        vector = layers.embedding(fact, [sizes[what], width], is_sparse=True)
        facts.append(layers.fc(vector, size=width))
    return layers.fc(layers.concat(facts, axis=1), size=SIZE, act="tanh")


def film(sizes, which, kinds, title):
    vector = layers.fc(layers.embedding(which, [sizes["films"], 32], is_sparse=True), size=32)
    kinds = layers.sequence_pool(layers.embedding(kinds, [sizes["kinds"], 32], is_sparse=True), "sum")
    words = layers.embedding(title, [sizes["words"], 32], is_sparse=True)
    words = nets.sequence_conv_pool(words, num_filters=32, filter_size=3, act="tanh", pool_type="sum")
    return layers.fc(layers.concat([vector, kinds, words], axis=1), size=SIZE, act="tanh")


def main(argv=None):
    args = arguments(argv, __doc__, epochs=8, batch=64)
    samples = movielens.load(args.data) if args.data else movielens.synthetic()
    sizes = {name: len(values) for name, values in samples.vocabularies.items()}

    person_inputs = [number(name) for name in ("user", "gender", "age", "job")]
    film_inputs = [number("film"), number("kinds", lod_level=1), number("title", lod_level=1)]
    score = layers.data("score", [-1, 1])
    nearness = layers.cos_sim(person(sizes, person_inputs), film(sizes, *film_inputs))
    predicted = layers.scale(nearness, scale=5.0)
    loss = layers.mean(layers.square_error_cost(predicted, score))

    inputs = [*person_inputs, *film_inputs]
    executor, means = fit(samples, [*inputs, score], loss, pm.optimizer.SGD(learning_rate=0.2), args)

    rows = samples.test[:5]
    (scores,) = saved_and_used(args, inputs, [predicted], executor, [row[:-1] for row in rows])
    for row, (guess,) in zip(rows, scores):
        print(f"person {row[0]}, film {row[4]}: {(row[-1][0] + 5) / 2:.0f} stars, predicted {(guess + 5) / 2:.1f}")
    return means["loss"]


if __name__ == "__main__":
    main(sys.argv[1:])
