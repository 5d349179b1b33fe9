# PaddlePaddle: a static program and its Executor.
from paddle.nn import functional
from paddle.static import nn as static

import paddle
import workloads
from worker import serve

paddle.enable_static()


def assigned(array):
    return paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(array))


def program(build, feed, params=None):
    """build() returns the variable to fetch; the step runs the program that it built. Sets `params` by name first."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        result = build()
    scope, exe = paddle.static.Scope(), paddle.static.Executor(paddle.CPUPlace())
    exe.run(startup, scope=scope)
    for name, array in (params or {}).items():
        scope.find_var(name).get_tensor().set(array, paddle.CPUPlace())

    def run(steps):
        for _ in range(steps):
            (value,) = exe.run(main, feed=feed, fetch_list=[result], scope=scope)
        return float(value.sum())

    return run


def training(work, optimizer, convolutions=0):
    """Convolutions with max pooling first, then fc layers with relu between them."""

    def build():
        x = paddle.static.data("x", list(work.x.shape), "float32")
        label = paddle.static.data("label", [len(work.label), 1], "int64")
        for i, (weight, bias) in enumerate(work.layers):
            attrs = assigned(weight), assigned(bias)
            if i < convolutions:
                x = paddle.nn.Conv2D(x.shape[1], len(weight), weight.shape[2:], weight_attr=attrs[0], bias_attr=attrs[1])(x)
                x = functional.max_pool2d(x, 2, 2)
            else:
                act = "relu" if i + 1 < len(work.layers) else None
                x = static.fc(x, weight.shape[1], weight_attr=attrs[0], bias_attr=attrs[1], activation=act)
        loss = cross_entropy(x, label)
        optimizer.minimize(loss)
        return loss

    return program(build, {"x": work.x, "label": work.label[:, None]})


def tiny_mlp():
    work = workloads.tiny_mlp()
    return training(work, paddle.optimizer.SGD(work.rate))


def mlp():
    work = workloads.mlp()
    return training(work, paddle.optimizer.Adam(work.rate, **workloads.ADAM))


def lenet():
    work = workloads.lenet()
    return training(work, paddle.optimizer.Momentum(work.rate, workloads.MOMENTUM), convolutions=2)


def model(work, network, optimizer):
    """network(feeds) returns the loss; its parameters have the names of work.params."""

    def build():
        loss = network(
            {name: paddle.static.data(name, list(array.shape), str(array.dtype)) for name, array in work.feeds.items()}
        )
        optimizer.minimize(loss)
        return loss

    return program(build, work.feeds, work.params)


def linear(x, size, name, axes=1, activation=None):
    return static.fc(x, size, axes, weight_attr=f"{name}.w", bias_attr=f"{name}.b", activation=activation)


def embedding(name, shape, sparse=False):
    return paddle.nn.Embedding(*shape, sparse=sparse, weight_attr=name)


def cross_entropy(logits, label):
    return paddle.mean(functional.softmax_with_cross_entropy(logits, label))


def resnet():
    work = workloads.resnet()

    def convolution(x, name, filters, size, stride=1, act=None):
        layer = paddle.nn.Conv2D(x.shape[1], filters, size, stride, size // 2, weight_attr=f"{name}.w", bias_attr=False)
        x = paddle.nn.BatchNorm2D(filters, weight_attr=f"{name}.bn.w", bias_attr=f"{name}.bn.b")(layer(x))
        return functional.relu(x) if act else x

    def network(feeds):
        x = convolution(feeds["x"], "stem", 16, 3, act="relu")
        for i, (filters, stride) in enumerate(workloads.RESNET):
            shortcut = x if stride == 1 else convolution(x, f"block{i}.shortcut", filters, 1, stride)
            x = convolution(x, f"block{i}.first", filters, 3, stride, "relu")
            x = functional.relu(convolution(x, f"block{i}.second", filters, 3) + shortcut)
        return cross_entropy(linear(functional.adaptive_avg_pool2d(x, 1), 10, "fc"), feeds["label"])

    return model(work, network, paddle.optimizer.Momentum(work.rate, workloads.MOMENTUM))


def lstm():
    work = workloads.lstm()
    hidden, layers = workloads.LSTM_HIDDEN, workloads.LSTM_LAYERS
    params = dict(work.params)

    def network(feeds):
        x = embedding("embedding", params["embedding"].shape)(feeds["ids"])
        recurrent = paddle.nn.LSTM(x.shape[-1], hidden, layers, time_major=True)
        # paddle.nn chooses the names of its parameters.
        theirs = {"wi": "weight_ih", "wh": "weight_hh", "bi": "bias_ih", "bh": "bias_hh"}
        for layer in range(layers):
            for end, name in theirs.items():
                params[getattr(recurrent, f"{name}_l{layer}").name] = params.pop(f"{layer}.{end}")
        return cross_entropy(linear(recurrent(x)[0][-1], 2, "fc"), feeds["label"])

    return model(work._replace(params=params), network, paddle.optimizer.Adam(work.rate, **workloads.ADAM))


def attention(x, name, mask):
    batch, time, width = x.shape
    parts = paddle.split(linear(x, 3 * width, f"{name}.qkv", 2), 3, axis=-1)
    query, key, value = (
        paddle.transpose(paddle.reshape(part, [batch, time, workloads.GPT_HEADS, -1]), [0, 2, 1, 3]) for part in parts
    )
    scores = paddle.matmul(query * (query.shape[-1] ** -0.5), key, transpose_y=True) + mask
    mixed = paddle.transpose(paddle.matmul(functional.softmax(scores), value), [0, 2, 1, 3])
    return linear(paddle.reshape(mixed, [batch, time, width]), width, f"{name}.out", 2)


def gpt():
    work = workloads.gpt()
    width = workloads.GPT_WIDTH

    def norm(x, name):
        return paddle.nn.LayerNorm(width, weight_attr=f"{name}.w", bias_attr=f"{name}.b")(x)

    def network(feeds):
        time = feeds["ids"].shape[1]
        mask = paddle.assign(workloads.causal_mask(time))
        x = embedding("words", [workloads.GPT_WORDS, width])(feeds["ids"])
        x = x + paddle.static.create_parameter([time, width], "float32", name="positions")
        for block in (f"block{i}" for i in range(workloads.GPT_BLOCKS)):
            x = x + attention(norm(x, f"{block}.norm1"), block, mask)
            hidden = linear(norm(x, f"{block}.norm2"), 4 * width, f"{block}.up", 2, "gelu")
            x = x + linear(hidden, width, f"{block}.down", 2)
        logits = linear(paddle.reshape(norm(x, "norm"), [-1, width]), workloads.GPT_WORDS, "head")
        return cross_entropy(logits, feeds["label"])

    return model(work, network, paddle.optimizer.AdamW(work.rate, weight_decay=workloads.GPT_DECAY, **workloads.ADAM))


def wide_deep():
    work = workloads.wide_deep()

    def network(feeds):
        deep, wide = (
            embedding(name, work.params[name].shape, sparse=True)(feeds["ids"]) for name in ("deep_table", "wide_table")
        )
        x = paddle.concat([paddle.flatten(deep, 1), feeds["dense"]], axis=1)
        for i, size in enumerate((400, 400, 400, 1)):
            x = linear(x, size, f"deep{i}", activation="relu" if size > 1 else None)
        logits = x + paddle.sum(wide, axis=1) + linear(feeds["dense"], 1, "wide")
        return paddle.mean(functional.binary_cross_entropy_with_logits(logits, feeds["label"]))

    return model(work, network, paddle.optimizer.SGD(work.rate))


def chain():
    work = workloads.chain()

    def build():
        x, factor, addend = (paddle.static.data(name, [8], "float32") for name in ("x", "factor", "addend"))
        for _ in range(work.length // 2):
            x = paddle.multiply(x, factor)
            x = paddle.add(x, addend)
        return x

    return program(build, {"x": work.x, "factor": work.factor, "addend": work.addend})


WORKLOADS = (tiny_mlp, chain, mlp, lenet, resnet, lstm, gpt, wide_deep)
serve({make.__name__: make for make in WORKLOADS})
