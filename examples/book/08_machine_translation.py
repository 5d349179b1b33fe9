# Chapter 8: translating sentences: an encoder, a decoder that looks back at it, and a search for the best words.
"""A recurrent network reads the sentence; another writes the translation, at each word attending to what was read.

    .venv/bin/python examples/book/08_machine_translation.py
    .venv/bin/python examples/book/08_machine_translation.py --data wmt16.tar.gz
"""
import sys

import numpy as np
from chapter import arguments

import paddle_mini as pm
from paddle_mini import layers
from paddle_mini.data import wmt16

WIDTH, BEAM, HIDDEN_POSITION = 96, 4, -1e9


class Decoder(layers.RNNCell):
    """A GRU whose input is a word and the mean of what the encoder read, weighted by how well it fits the state."""

    state_shape = WIDTH

    def __init__(self, read, mask):
        self.read, self.mask = read, mask
        self.cell = layers.GRUCell(WIDTH, name="decoder")

    def call(self, inputs, state):
        scores = layers.squeeze(layers.matmul(self.read, layers.unsqueeze(state, [2])), [2]) + self.mask
        weights = layers.unsqueeze(layers.softmax(scores), [1])
        seen = layers.squeeze(layers.matmul(weights, self.read), [1])
        _, state = self.cell(layers.concat([inputs, seen], 1), state)
        return layers.concat([state, seen], 1), state


def embedded(words, name, size):
    return layers.embedding(words, [size, WIDTH], param_attr=name)


def encoded(sizes, longest):
    """(inputs, what was read [n, longest, 2 width], the state the decoder begins with, what hides the padding)"""
    words, length = layers.data("source", [-1, longest], dtype="int64"), layers.data("length", [-1], dtype="int64")
    vectors = embedded(words, "source_words", sizes["source"])
    forward, last = layers.rnn(layers.GRUCell(WIDTH, name="forward"), vectors, sequence_length=length)
    backward, _ = layers.rnn(layers.GRUCell(WIDTH, name="backward"), vectors, sequence_length=length, is_reverse=True)
    read = layers.fc(layers.concat([forward, backward], 2), WIDTH, num_flatten_dims=2, name="read")
    ones = layers.sequence_mask(length, maxlen=longest, dtype="float32")
    return [words, length], read, last, (ones - 1.0) * -HIDDEN_POSITION


def scored(outputs, size, flatten=1):
    return layers.fc(outputs, size, num_flatten_dims=flatten, name="scores")


def training(sizes, longest):
    inputs, read, begin, mask = encoded(sizes, longest)
    target, following = (layers.data(name, [-1, longest], dtype="int64") for name in ("target", "next"))
    outputs, _ = layers.rnn(Decoder(read, mask), embedded(target, "target_words", sizes["target"]), begin)
    losses = layers.softmax_with_cross_entropy(scored(outputs, sizes["target"], 2), layers.unsqueeze(following, [2]), ignore_index=-100)
    words = layers.reduce_sum(layers.cast(following > -1, "float32"))
    return [*inputs, target, following], layers.reduce_sum(losses) / words


def translating(sizes, longest):
    inputs, read, begin, mask = encoded(sizes, longest)
    read, mask = (layers.BeamSearchDecoder.tile_beam_merge_with_batch(x, BEAM) for x in (read, mask))
    decoder = layers.BeamSearchDecoder(
        Decoder(read, mask), start_token=0, end_token=1, beam_size=BEAM,
        embedding_fn=lambda words: embedded(words, "target_words", sizes["target"]),
        output_fn=lambda outputs: scored(outputs, sizes["target"]))
    return inputs, layers.dynamic_decode(decoder, begin, max_step_num=longest)[0]


def padded(rows, longest):
    """Sentences as rows of one length: source, its lengths, target, the words to say (−100 where there is none)."""
    def block(sentences, filler):
        return np.array([(list(words) + [filler] * longest)[:longest] for words in sentences], "int64")

    source, target, following = zip(*rows)
    lengths = np.array([min(len(words), longest) for words in source])
    return {"source": block(source, 1), "length": lengths, "target": block(target, 1), "next": block(following, -100)}


def main(argv=None):
    args = arguments(argv, __doc__, epochs=8, batch=50)
    samples = wmt16.load(args.data) if args.data else wmt16.synthetic()
    sizes = {name: len(words) for name, words in samples.vocabularies.items()}
    longest = min(max(len(words) for row in samples.train for words in row), 40)

    pm.seed(args.seed)
    scope, executor = pm.Scope(), pm.Executor(pm.CPUPlace())
    _, loss = training(sizes, longest)
    clip = pm.clip.GradientClipByGlobalNorm(5.0)
    pm.optimizer.Adam(0.004, grad_clip=clip, regularization=1e-5).minimize(loss)
    executor.run(pm.default_startup_program(), scope=scope)
    for epoch in range(args.epochs):
        order = pm.data.shuffle(samples.train, len(samples.train), seed=args.seed + epoch)
        losses = [executor.run(feed=padded(rows, longest), fetch_list=[loss], scope=scope)[0]
                  for rows in pm.data.batch(order, args.batch, drop_last=True)]
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")

    program = pm.Program()
    with pm.program_guard(program, pm.Program()):
        _, words = translating(sizes, longest)
    rows = samples.test[:50]
    feed = {name: value for name, value in padded(rows, longest).items() if name in ("source", "length")}
    found, = executor.run(program, feed=feed, fetch_list=[words], scope=scope)
    names = {number: word for word, number in samples.vocabularies["target"].items()}
    right = 0
    for i, (row, sentence) in enumerate(zip(rows, found[:, :, 0])):
        said = list(sentence[:list(sentence).index(1) + 1]) if 1 in sentence else list(sentence)
        right += said == list(row[2])
        if i < 3:
            print(" ".join(names[word] for word in said))
    print(f"{right} of {len(rows)} translations are right word for word")
    return float(np.mean(losses)), right / len(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
