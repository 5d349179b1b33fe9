# Saved models for benchmarks/inference.py: networks with random parameters, in pm.layers, as files that every runtime reads.
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import paddle_mini as pm

WORDS = 8000


def convolved(x, filters, size, stride=1, groups=1, act="relu"):
    """Convolution without bias, batch_norm, activation; the image keeps its size, divided by the stride."""
    x = pm.layers.conv2d(x, filters, size, stride, (size - 1) // 2, groups=groups, bias_attr=False)
    return pm.layers.batch_norm(x, act=act, is_test=True)


def images(batch, size=224):
    return pm.layers.data("x", [batch, 3, size, size])


def classified(x, classes=1000):
    return pm.layers.fc(pm.layers.pool2d(x, pool_type="avg", global_pooling=True), classes)


def resnet18(batch):
    """He et al. 2016."""

    def block(x, filters, stride):
        short = x if stride == 1 and x.shape[1] == filters else convolved(x, filters, 1, stride, act=None)
        x = convolved(convolved(x, filters, 3, stride), filters, 3, act=None)
        return pm.layers.relu(pm.layers.elementwise_add(x, short))

    return residual(batch, block, [2, 2, 2, 2])


def resnet50(batch):
    """He et al. 2016, with the stride in the 3x3 convolution."""

    def block(x, filters, stride):
        short = x if stride == 1 and x.shape[1] == 4 * filters else convolved(x, 4 * filters, 1, stride, act=None)
        x = convolved(convolved(x, filters, 1), filters, 3, stride)
        return pm.layers.relu(pm.layers.elementwise_add(convolved(x, 4 * filters, 1, act=None), short))

    return residual(batch, block, [3, 4, 6, 3])


def residual(batch, block, repeats):
    x = pm.layers.pool2d(convolved(images(batch), 64, 7, 2), 3, "max", 2, 1)
    for i, times in enumerate(repeats):
        for j in range(times):
            x = block(x, 64 << i, 2 if i and not j else 1)
    return classified(x)


# expansion, channels, repetitions, stride of the first
INVERTED = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def mobilenet_v2(batch):
    """Sandler et al. 2018."""
    x = convolved(images(batch), 32, 3, 2, act="relu6")
    for expansion, channels, times, stride in INVERTED:
        for i in range(times):
            inside, before = expansion * x.shape[1], x
            if expansion > 1:
                x = convolved(x, inside, 1, act="relu6")
            x = convolved(x, inside, 3, 1 if i else stride, groups=inside, act="relu6")
            x = convolved(x, channels, 1, act=None)
            if i:
                x = pm.layers.elementwise_add(x, before)
    return classified(convolved(x, 1280, 1, act="relu6"))


def vgg11(batch):
    """Simonyan & Zisserman 2015, configuration A."""
    x = images(batch)
    for filters in ([64], [128], [256, 256], [512, 512], [512, 512]):
        for count in filters:
            x = pm.layers.conv2d(x, count, 3, 1, 1, act="relu")
        x = pm.layers.pool2d(x, 2, "max", 2)
    x = pm.layers.fc(pm.layers.fc(x, 4096, act="relu"), 4096, act="relu")
    return pm.layers.fc(x, 1000)


def unet(batch):
    """Ronneberger et al. 2015 with 32 filters at first, images of 256, and batch_norm."""

    def level(x, filters, depth):
        x = convolved(convolved(x, filters, 3), filters, 3)
        if not depth:
            return x
        inner = level(pm.layers.pool2d(x, 2, "max", 2), 2 * filters, depth - 1)
        up = pm.layers.conv2d_transpose(inner, filters, filter_size=2, stride=2)
        return convolved(convolved(pm.layers.concat([x, up], axis=1), filters, 3), filters, 3)

    return pm.layers.conv2d(level(images(batch, 256), 32, 4), 2, 1)


def transformer(ids, width, heads, blocks, causal):
    length = ids.shape[1]
    x = pm.layers.add_learned_positions(pm.layers.embedding(ids, [WORDS, width]), length)
    for _ in range(blocks):
        x = pm.layers.transformer_encoder_layer(x, heads, 4 * width, 0.0, act="gelu", normalize_before=causal, causal=causal)
    return pm.layers.layer_norm(x, begin_norm_axis=2)


def words(batch):
    return pm.layers.data("x", [batch, 128], "int64")


def bert(batch):
    """Devlin et al. 2019: the base model's width, 12 blocks, 128 words; without the table of 30,000 words."""
    return transformer(words(batch), 768, 12, 12, causal=False)


def gpt(batch):
    """Radford et al. 2018: 4 blocks of width 256, 128 words, and the scores of the last layer's words."""
    return pm.layers.fc(transformer(words(batch), 256, 8, 4, causal=True), WORDS, 2)


def lstm(batch):
    """Two layers of 256 over 50 words; the last state gives 10 classes."""
    ids = pm.layers.data("x", [50, batch], "int64")
    outputs, _ = pm.layers.stacked_rnn(pm.layers.embedding(ids, [WORDS, 128]), 256, 2, is_test=True)
    return pm.layers.fc(pm.layers.slice(outputs, [0], [49], [50]), 10, 2)


def mlp(batch):
    """784-512-512-10."""
    x = pm.layers.data("x", [batch, 784])
    for size, act in ((512, "relu"), (512, "relu"), (10, None)):
        x = pm.layers.fc(x, size, act=act)
    return x


NETWORKS = {
    "resnet18": resnet18,
    "resnet50": resnet50,
    "mobilenet_v2": mobilenet_v2,
    "vgg11": vgg11,
    "unet": unet,
    "bert": bert,
    "gpt": gpt,
    "lstm": lstm,
    "mlp": mlp,
}


def save(name: str, batch: int, folder: Path) -> Path:
    """Writes NAME-BATCH.pdmodel and .pdiparams, .onnx and the input as .npy into the folder; returns the path without suffix."""
    prefix = folder / f"{name}-{batch}"
    if prefix.with_suffix(".npy").exists():
        return prefix
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    startup.random_seed = 1
    draw = np.random.default_rng(1)
    with pm.unique_name.guard(), pm.program_guard(main, startup):
        output = NETWORKS[name](batch)
    exe = pm.Executor()
    exe.run(startup, scope=scope)
    x = main.global_block().var("x")
    value = draw.integers(0, WORDS, x.shape) if x.dtype == "int64" else draw.standard_normal(x.shape, "float32")
    for parameter in main.list_vars():  # running averages that change something
        if "batch_norm" in parameter.name and parameter.persistable:
            held = np.asarray(scope.get(parameter.name))
            scope.set(parameter.name, draw.uniform(0.5, 1.5, held.shape).astype("float32"))
    folder.mkdir(parents=True, exist_ok=True)
    pm.io.save_inference_model(prefix, [x], [output], exe, main, scope)
    pm.onnx.export(main, prefix.with_suffix(".onnx"), [x], [output], scope)
    np.save(prefix.with_suffix(".npy"), value)
    return prefix


if __name__ == "__main__":
    save(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
