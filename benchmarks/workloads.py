# The workloads of all runtimes: shapes, data and initial values, in NumPy, each with the rule of its steps.
from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

Layer = tuple[np.ndarray, np.ndarray]  # weight, bias


class Training(NamedTuple):
    """A network, one batch that is learned repeatedly, and a learning rate small enough for many repetitions.

    The loss is the mean over the batch of the softmax cross entropy.
    """

    x: np.ndarray  # float32
    label: np.ndarray  # int64 [batch]
    layers: list[Layer]
    rate: float


# p ← p - rate g
def tiny_mlp() -> Training:
    """64-128-10 with relu between the layers, batch 32, sgd."""
    return _mlp([64, 128, 10], batch=32, rate=0.01)


# Kingma & Ba 2015 with these constants; epsilon is added to the root of the corrected second moment
ADAM = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


def mlp() -> Training:
    """784-512-512-10 with relu between the layers, batch 128, adam."""
    return _mlp([784, 512, 512, 10], batch=128, rate=1e-5)


# v ← MOMENTUM v + g; p ← p - rate v
MOMENTUM = 0.9


def lenet() -> Training:
    """28x28 images; conv 20 5x5, maxpool 2, conv 50 5x5, maxpool 2, fc 500, relu, fc 10; batch 64, momentum."""
    draw = np.random.default_rng(3)
    shapes = [(20, 1, 5, 5), (50, 20, 5, 5), (800, 500), (500, 10)]
    return Training(
        _normal(draw, (64, 1, 28, 28), 1.0), draw.integers(0, 10, 64), [_layer(draw, shape) for shape in shapes], rate=1e-4
    )


Arrays = dict[str, np.ndarray]


class Model(NamedTuple):
    """A larger network: its parameters by name, one batch that is learned repeatedly, and the rate.

    Weights [in, out] are NAME.w and biases NAME.b; filters are [out, in, height, width].
    """

    feeds: Arrays  # "label": int64 [rows, 1]; wide_deep's is float32
    params: Arrays
    rate: float


# filters and stride of each residual block; both its convolutions and the shortcut end in batch_norm, epsilon 1e-5
RESNET = [(16, 1), (32, 2)]


def resnet() -> Model:
    """32x32 images; conv 16 3x3, batch_norm, relu; the blocks relu(bn(conv(relu(bn(conv x)))) + shortcut x), with
    3x3 filters, where shortcut is x itself or, where the shape changes, a 1x1 convolution; mean over the image; fc 10;
    batch 64, momentum."""
    draw, params = np.random.default_rng(4), {}

    def convolution(name: str, inputs: int, filters: int, size: int) -> None:
        params[f"{name}.w"] = _layer(draw, (filters, inputs, size, size))[0]
        params.update(_norm(f"{name}.bn", filters))

    convolution("stem", 3, 16, 3)
    inputs = 16
    for i, (filters, stride) in enumerate(RESNET):
        convolution(f"block{i}.first", inputs, filters, 3)
        convolution(f"block{i}.second", filters, filters, 3)
        if stride > 1:
            convolution(f"block{i}.shortcut", inputs, filters, 1)
        inputs = filters
    params.update(_linear(draw, "fc", inputs, 10, (1 / inputs) ** 0.5))
    return Model({"x": _normal(draw, (64, 3, 32, 32), 1.0), "label": draw.integers(0, 10, (64, 1))}, params, rate=1e-2)


LSTM_HIDDEN, LSTM_LAYERS = 256, 2


def lstm() -> Model:
    """32 texts of 48 words of 5,000, embedding 128, LSTM 256-256, fc 2 of the last word's output, adam.

    Gates are stacked as input, forget, cell, output: weights LAYER.wi [4 hidden, in] and LAYER.wh [4 hidden, hidden],
    biases LAYER.bi and LAYER.bh.
    """
    draw, inputs, hidden = np.random.default_rng(5), 128, LSTM_HIDDEN
    params = {"embedding": _normal(draw, (5000, inputs), 1.0)}
    for layer in map(str, range(LSTM_LAYERS)):
        shapes = {"wi": (4 * hidden, inputs), "wh": (4 * hidden, hidden), "bi": (4 * hidden,), "bh": (4 * hidden,)}
        bound = hidden**-0.5
        params.update(
            {f"{layer}.{name}": draw.uniform(-bound, bound, shape).astype(np.float32) for name, shape in shapes.items()}
        )
        inputs = hidden
    params.update(_linear(draw, "fc", hidden, 2, hidden**-0.5))
    return Model({"ids": draw.integers(0, 5000, (48, 32)), "label": draw.integers(0, 2, (32, 1))}, params, rate=1e-4)


class GptSize(NamedTuple):
    blocks: int
    heads: int
    width: int
    words: int


GPT_BLOCKS, GPT_HEADS, GPT_WIDTH, GPT_WORDS = GPT = GptSize(4, 8, 256, 8000)
# Loshchilov & Hutter 2019, for all parameters
GPT_DECAY = 0.01


def gpt() -> Model:
    """8 texts of 128 words of 8,000; embedding of word plus position, 4 blocks x + attention(norm x), x + mlp(norm x)
    of width 256 with 8 causal heads and gelu (the exact one) between 256-1024-256, norm, fc 8,000; adamw.

    BLOCK.qkv gives query, key and value side by side, each with its heads side by side.
    """
    draw = np.random.default_rng(6)
    params = gpt_parameters(GPT, 128, draw)
    return Model(
        {"ids": draw.integers(0, GPT_WORDS, (8, 128)), "label": draw.integers(0, GPT_WORDS, (8 * 128, 1))}, params, rate=1e-4
    )


def gpt_parameters(size: GptSize, length: int, draw: np.random.Generator) -> Arrays:
    width, spread = size.width, 0.02
    params = {"words": _normal(draw, (size.words, width), spread), "positions": _normal(draw, (length, width), spread)}
    for block in (f"block{i}" for i in range(size.blocks)):
        params.update(_norm(f"{block}.norm1", width))
        params.update(_linear(draw, f"{block}.qkv", width, 3 * width, spread))
        params.update(_linear(draw, f"{block}.out", width, width, spread))
        params.update(_norm(f"{block}.norm2", width))
        params.update(_linear(draw, f"{block}.up", width, 4 * width, spread))
        params.update(_linear(draw, f"{block}.down", 4 * width, width, spread))
    return {**params, **_norm("norm", width), **_linear(draw, "head", width, size.words, spread)}


# A word of a text of 512, written after WRITER_BEGIN others or more, whose keys and values stay zeros: the small model of
# Radford et al. 2019 with 8,000 words.
WRITER, WRITER_LENGTH, WRITER_BEGIN = GptSize(12, 12, 768, 8000), 512, 376


def writer() -> tuple[Arrays, np.ndarray]:
    """Parameters, and the ids of the text."""
    draw = np.random.default_rng(9)
    return gpt_parameters(WRITER, WRITER_LENGTH, draw), draw.integers(0, WRITER.words, WRITER_LENGTH)


def causal_mask(time: int) -> np.ndarray:
    """[time, time]: added to scores, so that a word does not depend on later ones."""
    return np.triu(np.full((time, time), -1e9, np.float32), 1)


def wide_deep() -> Model:
    """Batch 256 of 26 ids in tables of 1,000,000 rows and of 13 numbers; deep: a table of width 16, then fc
    429-400-400-400-1, relu between; wide: a table of width 1, summed, and fc 13-1; the loss is the mean of the sigmoid
    cross entropy of their sum; sgd, which changes only the rows named by the batch."""
    draw, rows = np.random.default_rng(7), 1_000_000
    params = {"wide_table": np.zeros((rows, 1), np.float32), "deep_table": _normal(draw, (rows, 16), 0.1)}
    sizes = [26 * 16 + 13, 400, 400, 400, 1]
    for i, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
        params.update(_linear(draw, f"deep{i}", inputs, outputs, (2 / inputs) ** 0.5))
    params.update(_linear(draw, "wide", 13, 1, 13**-0.5))
    feeds = {
        "ids": draw.integers(0, rows, (256, 26)),
        "dense": _normal(draw, (256, 13), 1.0),
        "label": draw.integers(0, 2, (256, 1)).astype(np.float32),
    }
    return Model(feeds, params, rate=0.05)


# A sparse update alone: the same ids, [0, the smallest number of rows), in tables of each number of rows.
SPARSE_ROWS = (100_000, 1_000_000, 10_000_000)
SPARSE_WIDTH = 16


def sparse_ids() -> np.ndarray:
    return np.random.default_rng(8).permutation(SPARSE_ROWS[0])[:10_000]


class Chain(NamedTuple):
    """x ← x * factor, x ← x + addend, and so on: `length` operators; the result is the sum of x."""

    x: np.ndarray
    factor: np.ndarray
    addend: np.ndarray
    length: int


def chain() -> Chain:
    draw = np.random.default_rng(2)
    return Chain(_normal(draw, (8,), 1.0), np.full(8, 0.99, np.float32), np.full(8, 0.01, np.float32), 1000)


# Parameters of the optimizer's step alone: number of elements, in this number of tensors.
OPTIMIZER_ELEMENTS = 32_000_000
OPTIMIZER_TENSORS = (8, 1000)

# On a GPU: parameters of the optimizer's step, rows of a square product, and width, layers and batch of a perceptron whose step
# takes longer than averaging its parameters on the CPU.
GPU_ELEMENTS, GPU_PRODUCT, OFFLOAD = 1_000_000_000, 8192, (4096, 8, 8192)

# Exponential averages, ours and the peers'.
DECAY = 0.999
# Steps after which a window restarts: more than a benchmark runs.
WINDOW = 10_000
# Contents of a checkpoint.
STATE_BYTES, STATE_TENSORS = 400_000_000, 8


def state() -> Arrays:
    """The arrays that files hold."""
    draw, size = np.random.default_rng(9), STATE_BYTES // 4 // STATE_TENSORS
    return {f"state_{i}": draw.standard_normal(size, dtype=np.float32) for i in range(STATE_TENSORS)}


def _mlp(sizes: list[int], batch: int, rate: float) -> Training:
    draw = np.random.default_rng(1)
    layers = [_layer(draw, shape) for shape in itertools.pairwise(sizes)]
    return Training(_normal(draw, (batch, sizes[0]), 1.0), draw.integers(0, sizes[-1], batch), layers, rate)


def _layer(draw: np.random.Generator, shape: tuple[int, ...]) -> Layer:
    filters = len(shape) == 4  # [out, in, height, width]; otherwise [in, out]
    fan_in = int(np.prod(shape[1:])) if filters else shape[0]
    outputs = shape[0] if filters else shape[1]
    return _normal(draw, shape, (2.0 / fan_in) ** 0.5), np.zeros(outputs, np.float32)


def _linear(draw: np.random.Generator, name: str, inputs: int, outputs: int, spread: float) -> Arrays:
    return {f"{name}.w": _normal(draw, (inputs, outputs), spread), f"{name}.b": np.zeros(outputs, np.float32)}


def _norm(name: str, size: int) -> Arrays:
    return {f"{name}.w": np.ones(size, np.float32), f"{name}.b": np.zeros(size, np.float32)}


def _normal(draw: np.random.Generator, shape: tuple[int, ...], spread: float) -> np.ndarray:
    return (spread * draw.standard_normal(shape)).astype(np.float32)
