# The words of a text, one in each run, with a KeyValueCache: a runtime of benchmarks/decoding.py.
import numpy as np

import paddle_mini as pm
import workloads
from ours import Built, named
from paddle_mini import layers
from worker import serve


def scores(ids):
    size = workloads.WRITER
    cache = layers.KeyValueCache(workloads.WRITER_LENGTH)
    x = layers.embedding(ids, [size.words, size.width], param_attr="words")
    x = layers.add_learned_positions(x, workloads.WRITER_LENGTH, param_attr="positions", cache=cache)
    for block in (f"block{i}" for i in range(size.blocks)):
        normed = layers.layer_norm(x, begin_norm_axis=2, **named(f"{block}.norm1"))
        x = x + layers.multi_head_attention(normed, num_heads=size.heads, cache=cache, name=block)
        hidden = layers.layer_norm(x, begin_norm_axis=2, **named(f"{block}.norm2"))
        hidden = layers.fc(hidden, 4 * size.width, 2, act="gelu", **named(f"{block}.up"))
        x = x + layers.fc(hidden, size.width, 2, **named(f"{block}.down"))
    return layers.fc(layers.layer_norm(x, begin_norm_axis=2, **named("norm")), size.words, 2, **named("head"))


def words():
    params, text = workloads.writer()
    built = Built()
    with built.guard(), pm.unique_name.guard():
        out = scores(layers.data("ids", [1, 1], "int64"))
    built.exe.run(built.startup, scope=built.scope)
    for parameter in built.main.all_parameters():
        built.scope.set(parameter.name, params[parameter.name.replace(".w_0", ".w").replace(".b_0", ".b")])
    at = workloads.WRITER_BEGIN

    def run(steps):
        nonlocal at
        for _ in range(steps):
            feed = {"ids": text[at : at + 1].reshape(1, 1), "position": np.array([at])}
            (found,) = built.exe.run(built.main, feed, [out], built.scope)
            at = at + 1 if at + 1 < len(text) else workloads.WRITER_BEGIN
        return float(np.abs(found).sum(dtype="float64"))

    return run


serve({"words": words})
