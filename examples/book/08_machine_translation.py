# Chapter 8: translates from English to German word by word, with attention to the source sentence.
"""An encoder that reads both ways, a decoder with attention, and beam search.
Bahdanau, Cho and Bengio, "Neural machine translation by jointly learning to align and translate", ICLR 2015.

    .venv/bin/python examples/book/08_machine_translation.py
    .venv/bin/python examples/book/08_machine_translation.py --data wmt16.tar.gz
"""

import pathlib
import sys
import tempfile

import paddle_mini as pm
from chapter import arguments, fit
from paddle_mini import layers
from paddle_mini.data import DataSet, wmt16

LENGTH, BEAM = 12, 4  # sentences are cut to this length, which is enough for the generated ones
EMBEDDING, HIDDEN, WARMUP = 64, 64, 100  # the book's: 512, 512, 1000


class DecoderCell(layers.RNNCell):
    """A GRU whose input also contains the sum of the memory [N, T, width], weighted by the match of its rows with the
    state; mask [N, T] is 1 where there is a word."""

    def __init__(self, memory, mask):
        self.memory, self.padding = memory, (mask - 1.0) * 1e9
        self.keys = layers.fc(memory, HIDDEN, num_flatten_dims=2, param_attr="keys", bias_attr=False)
        self.cell = layers.GRUCell(HIDDEN, name="decoder")

    state_shape = HIDDEN

    def call(self, inputs, states):
        query = layers.fc(states, HIDDEN, param_attr="query", bias_attr=False)
        fit_of = layers.squeeze(layers.matmul(self.keys, layers.unsqueeze(query, [2])), [2])
        weights = layers.unsqueeze(layers.softmax(fit_of + self.padding), [1])
        seen = layers.squeeze(layers.matmul(weights, self.memory), [1])
        return self.cell(layers.concat([inputs, seen], 1), states)


def encoded(sizes):
    """The inputs, the encoder's outputs for each word, the mask of words, and the decoder's first state."""
    source, length = layers.data("source", [-1, LENGTH], dtype="int64"), layers.data("length", [-1], dtype="int64")
    words = layers.embedding(source, [sizes["source"], EMBEDDING], param_attr="source_table")
    ways = [
        layers.rnn(layers.GRUCell(HIDDEN, name=f"encoder_{reverse}"), words, sequence_length=length, is_reverse=reverse == 1)
        for reverse in (0, 1)
    ]
    memory = layers.concat([outputs for outputs, _ in ways], axis=2)
    last = layers.concat([state for _, state in ways], axis=1)
    first = layers.fc(last, HIDDEN, act="tanh", param_attr="first", bias_attr="first_bias")
    return [source, length], memory, layers.sequence_mask(length, LENGTH, "float32"), first


def target_vectors(words, sizes):
    return layers.embedding(words, [sizes["target"], EMBEDDING], param_attr="target_table")


def scores(outputs, sizes, axes):
    return layers.fc(outputs, sizes["target"], num_flatten_dims=axes, param_attr="scores", bias_attr="scores_bias")


def training(sizes):
    inputs, memory, mask, first = encoded(sizes)
    target, following = (layers.data(name, [-1, LENGTH], dtype="int64") for name in ("target", "following"))
    count = layers.data("count", [-1], dtype="int64")
    outputs, _ = layers.rnn(DecoderCell(memory, mask), target_vectors(target, sizes), first)
    label = layers.unsqueeze(following, [2])
    cost = layers.cross_entropy(layers.softmax(scores(outputs, sizes, 2)), label)
    there = layers.sequence_mask(count, LENGTH, "float32")
    loss = layers.reduce_sum(layers.squeeze(cost, [2]) * there) / layers.reduce_sum(there)
    return [*inputs, target, count, following], loss


def translating(sizes):
    inputs, memory, mask, first = encoded(sizes)
    tile = layers.BeamSearchDecoder.tile_beam_merge_with_batch
    decoder = layers.BeamSearchDecoder(
        DecoderCell(tile(memory, BEAM), tile(mask, BEAM)),
        start_token=0,
        end_token=1,
        beam_size=BEAM,
        embedding_fn=lambda words: target_vectors(words, sizes),
        output_fn=lambda outputs: scores(outputs, sizes, 1),
    )
    return inputs, layers.dynamic_decode(decoder, first, LENGTH)[0]


def translated(args, executor, sizes, rows):
    """The best sentences [rows, steps], from a separate program over the parameters of the trained one; it is saved and
    loaded as a whole, including its loop."""
    program = pm.Program()
    with pm.program_guard(program, pm.Program()), pm.unique_name.guard():
        inputs, best = translating(sizes)
    with tempfile.TemporaryDirectory() as folder:
        prefix, scope = args.out or pathlib.Path(folder, "model"), pm.Scope()
        prefix.parent.mkdir(parents=True, exist_ok=True)
        pm.io.save_program(prefix, program)
        again = pm.io.load_program(prefix, scope)
        feed = pm.data.DataFeeder([var.name for var in inputs], again).feed(rows)
        return executor.run(again, feed, [best.name], scope=scope)[0][:, :, 0]


def padded(sample):
    source, target, following = ((row[:LENGTH], len(row[:LENGTH])) for row in sample)
    fill = [words + [1] * (LENGTH - count) for words, count in (source, target, following)]
    return fill[0], source[1], fill[1], target[1], fill[2]


def main(argv=None):
    args = arguments(argv, __doc__, epochs=8, batch=32)
    samples = wmt16.load(args.data) if args.data else wmt16.synthetic()
    sizes = {name: len(words) for name, words in samples.vocabularies.items()}

    feed_list, loss = training(sizes)
    optimizer = pm.optimizer.Adam(
        learning_rate=layers.noam_decay(HIDDEN, WARMUP),
        regularization=pm.regularizer.L2Decay(1e-4),
        grad_clip=pm.clip.GradientClipByGlobalNorm(5.0),
    )
    ready = DataSet(*([padded(sample) for sample in part] for part in samples[:2]))
    executor, _ = fit(ready, feed_list, loss, optimizer, args)

    found = translated(args, executor, sizes, [row[:2] for row in ready.test])
    spelled = [{number: word for word, number in samples.vocabularies[which].items()} for which in ("source", "target")]
    right = 0
    for i, (source, _, following) in enumerate(samples.test):
        words = found[i].tolist()
        words = words[: words.index(1)] if 1 in words else words
        right += words == following[:-1]
        if i < 3:
            print(*(spelled[0][word] for word in source[1:-1]), "→", *(spelled[1][word] for word in words))
    print(f"{right} of {len(samples.test)} sentences are translated word for word")
    return right / len(samples.test)


if __name__ == "__main__":
    main(sys.argv[1:])
