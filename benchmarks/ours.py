# paddle_mini itself, through its public names, as a runtime of benchmarks/run.py.

import os

import paddle_mini as pm
import workloads
from worker import serve

PLACE = pm.CUDAPlace(0) if os.environ.get("PM_BENCH_PLACE") == "gpu" else pm.CPUPlace()


class Built:
    """A main and a startup program, and their executor."""

    def __init__(self):
        self.main, self.startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        self.exe = pm.Executor(PLACE)

    def guard(self):
        return pm.program_guard(self.main, self.startup)

    def steps(self, feed, result):
        """Returns a function that runs the main program, and fetches each time. On a GPU the feeds are there already and only
        the last run fetches, as in the peer's loop, unless PM_BENCH_FED is set."""
        if isinstance(PLACE, pm.CUDAPlace) and "PM_BENCH_FED" not in os.environ:
            return self.steps_there(feed, result)

        def run(steps):
            for _ in range(steps):
                (value,) = self.exe.run(self.main, feed=feed, fetch_list=[result], scope=self.scope)
            return float(value.sum())

        return run

    def steps_there(self, feed, result):
        for name, array in feed.items():
            self.main.global_block().var(name).persistable = True
            self.scope.set(name, array)

        def run(steps):
            for _ in range(steps - 1):
                self.exe.run(self.main, scope=self.scope)
            return float(self.exe.run(self.main, fetch_list=[result], scope=self.scope)[0].sum())

        run.built = self
        return run

    def updates(self):
        """Runs the startup program; returns a function that runs the main program and fetches nothing."""
        self.exe.run(self.startup, scope=self.scope)

        def run(steps):
            for _ in range(steps):
                self.exe.run(self.main, scope=self.scope)
            self.scope.synchronize()
            return 0.0

        return run


def training(work, network, optimizer):
    built = Built()
    with built.guard():
        x = pm.layers.data("x", list(work.x.shape))
        label = pm.layers.data("label", [len(work.label), 1], "int64")
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(network(x), label))
        optimizer.minimize(loss)
    built.exe.run(built.startup, scope=built.scope)
    arrays = [array for layer in work.layers for array in layer]
    for parameter, array in zip(built.main.all_parameters(), arrays):
        built.scope.set(parameter.name, array)
    return built.steps({"x": work.x, "label": work.label[:, None]}, loss)


def perceptron(work):
    def network(x):
        for i, (weight, _) in enumerate(work.layers):
            last = i + 1 == len(work.layers)
            x = pm.layers.fc(x, weight.shape[1], act=None if last else "relu")
        return x

    return network


def tiny_mlp():
    work = workloads.tiny_mlp()
    return training(work, perceptron(work), pm.optimizer.SGD(work.rate))


def mlp():
    work = workloads.mlp()
    return training(work, perceptron(work), pm.optimizer.Adam(work.rate, **workloads.ADAM))


def lenet():
    work = workloads.lenet()

    def network(x):
        for filters in (20, 50):
            x = pm.layers.pool2d(pm.layers.conv2d(x, filters, 5), 2, pool_stride=2)
        return pm.layers.fc(pm.layers.fc(x, 500, act="relu"), 10)

    return training(work, network, pm.optimizer.Momentum(work.rate, workloads.MOMENTUM))


def model(work, network, optimizer):
    """network(feeds) returns the loss; its parameters have the names of work.params."""
    built = Built()
    with built.guard():
        loss = network({name: pm.layers.data(name, list(array.shape), str(array.dtype)) for name, array in work.feeds.items()})
        optimizer.minimize(loss)
    built.exe.run(built.startup, scope=built.scope)
    for name, array in work.params.items():
        built.scope.set(name, array)
    return built.steps(work.feeds, loss)


def named(name):
    return {"param_attr": f"{name}.w", "bias_attr": f"{name}.b"}


def cross_entropy(logits, label):
    return pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))


def resnet_loss(feeds):
    def convolution(x, name, filters, size, stride=1, act=None):
        x = pm.layers.conv2d(x, filters, size, stride, size // 2, param_attr=f"{name}.w", bias_attr=False)
        return pm.layers.batch_norm(x, act, **named(f"{name}.bn"))

    x = convolution(feeds["x"], "stem", 16, 3, act="relu")
    for i, (filters, stride) in enumerate(workloads.RESNET):
        shortcut = x if stride == 1 else convolution(x, f"block{i}.shortcut", filters, 1, stride)
        x = convolution(x, f"block{i}.first", filters, 3, stride, "relu")
        x = convolution(x, f"block{i}.second", filters, 3)
        x = pm.layers.relu(pm.layers.elementwise_add(x, shortcut))
    x = pm.layers.pool2d(x, pool_type="avg", global_pooling=True)
    return cross_entropy(pm.layers.fc(x, 10, **named("fc")), feeds["label"])


def resnet():
    work = workloads.resnet()
    return model(work, resnet_loss, pm.optimizer.Momentum(work.rate, workloads.MOMENTUM))


def recurrent(x, work):
    """The output [time, batch, hidden] of LSTM layers over x [time, batch, in]."""
    _, batch, inputs = x.shape
    hidden, layers = workloads.LSTM_HIDDEN, workloads.LSTM_LAYERS
    names = [f"{layer}.{end}" for pair in (("wi", "wh"), ("bi", "bh")) for layer in range(layers) for end in pair]
    weights = [pm.layers.create_parameter(list(work.params[name].shape), name=name) for name in names]
    begin = [pm.layers.zeros([layers, batch, hidden]) for _ in range(2)]
    block = pm.default_main_program().global_block()
    block.append_op(
        "rnn",
        {"Input": x, "PreState": begin, "WeightList": weights},
        {"Out": "outputs", "State": ["last_output", "last_cell"], "Reserve": "reserve", "DropoutState": "dropout"},
        {
            "mode": "LSTM",
            "input_size": inputs,
            "hidden_size": hidden,
            "num_layers": layers,
            "is_bidirec": False,
            "is_test": False,
            "dropout_prob": 0.0,
        },
    )
    return block.var("outputs")


def lstm():
    work = workloads.lstm()

    def network(feeds):
        x = pm.layers.embedding(feeds["ids"], list(work.params["embedding"].shape), param_attr="embedding")
        outputs = recurrent(x, work)
        time, batch, hidden = outputs.shape
        last = pm.layers.reshape(pm.layers.slice(outputs, [0], [time - 1], [time]), [batch, hidden])
        return cross_entropy(pm.layers.fc(last, 2, **named("fc")), feeds["label"])

    return model(work, network, pm.optimizer.Adam(work.rate, **workloads.ADAM))


def attention(x, name, mask, heads):
    batch, time, width = x.shape
    parts = pm.layers.split(pm.layers.fc(x, 3 * width, 2, **named(f"{name}.qkv")), 3)
    split = [batch, time, heads, width // heads]
    query, key, value = (pm.layers.transpose(pm.layers.reshape(part, split), [0, 2, 1, 3]) for part in parts)
    query = pm.layers.scale(query, scale=(width // heads) ** -0.5)
    scores = pm.layers.elementwise_add(pm.layers.matmul(query, key, transpose_y=True), mask)
    mixed = pm.layers.transpose(pm.layers.matmul(pm.layers.softmax(scores), value), [0, 2, 1, 3])
    return pm.layers.fc(pm.layers.reshape(mixed, [batch, time, width]), width, 2, **named(f"{name}.out"))


def gpt_loss(feeds, size=workloads.GPT):
    def norm(x, name):
        return pm.layers.layer_norm(x, begin_norm_axis=2, **named(name))

    time, width = feeds["ids"].shape[1], size.width
    mask = pm.layers.assign(workloads.causal_mask(time))
    x = pm.layers.embedding(feeds["ids"], [size.words, width], param_attr="words")
    x = pm.layers.elementwise_add(x, pm.layers.create_parameter([time, width], name="positions"))
    for block in (f"block{i}" for i in range(size.blocks)):
        x = pm.layers.elementwise_add(x, attention(norm(x, f"{block}.norm1"), block, mask, size.heads))
        hidden = pm.layers.fc(norm(x, f"{block}.norm2"), 4 * width, 2, act="gelu", **named(f"{block}.up"))
        x = pm.layers.elementwise_add(x, pm.layers.fc(hidden, width, 2, **named(f"{block}.down")))
    logits = pm.layers.fc(pm.layers.reshape(norm(x, "norm"), [-1, width]), size.words, **named("head"))
    return cross_entropy(logits, feeds["label"])


def gpt():
    work = workloads.gpt()
    return model(work, gpt_loss, pm.optimizer.AdamW(work.rate, weight_decay=workloads.GPT_DECAY, **workloads.ADAM))


def wide_deep(around=lambda optimizer: optimizer):
    """around: the wrapper of the optimizer."""
    work = workloads.wide_deep()

    def network(feeds):
        ids, dense = feeds["ids"], feeds["dense"]
        deep, wide = (
            pm.layers.embedding(ids, list(work.params[name].shape), is_sparse=True, param_attr=name)
            for name in ("deep_table", "wide_table")
        )
        x = pm.layers.concat([pm.layers.reshape(deep, [0, -1]), dense], axis=1)
        for i, size in enumerate((400, 400, 400, 1)):
            x = pm.layers.fc(x, size, act="relu" if size > 1 else None, **named(f"deep{i}"))
        wide = pm.layers.elementwise_add(pm.layers.reduce_sum(wide, dim=1), pm.layers.fc(dense, 1, **named("wide")))
        logits = pm.layers.elementwise_add(x, wide)
        return pm.layers.mean(pm.layers.sigmoid_cross_entropy_with_logits(logits, feeds["label"]))

    return model(work, network, around(pm.optimizer.SGD(work.rate)))


def chain():
    work, built = workloads.chain(), Built()
    with built.guard():
        x, factor, addend = (pm.layers.data(name, [8]) for name in ("x", "factor", "addend"))
        for _ in range(work.length // 2):
            x = pm.layers.elementwise_mul(x, factor)
            x = pm.layers.elementwise_add(x, addend)
    return built.steps({"x": work.x, "factor": work.factor, "addend": work.addend}, x)


OPTIMIZERS = {"sgd": pm.optimizer.SGD, "momentum": pm.optimizer.Momentum, "adam": pm.optimizer.Adam}


def optimizer_step(optimizer, tensors):
    """The operators of optimizer(rate) on given gradients, without other operators."""
    built = Built()
    size = workloads.OPTIMIZER_ELEMENTS // tensors
    one = pm.initializer.Constant(1.0)
    with built.guard():
        parameters = [pm.layers.create_parameter([size], name=f"parameter_{i}", default_initializer=one) for i in range(tensors)]
        gradients = [pm.layers.create_global_var([size], 1e-3, name=f"gradient_{i}") for i in range(tensors)]
        optimizer(1e-3).apply_gradients(list(zip(parameters, gradients)))
    return built.updates()


def optimizer_steps():
    return {
        f"{name}_{tensors}": lambda facts=(optimizer, tensors): optimizer_step(*facts)
        for name, optimizer in OPTIMIZERS.items()
        for tensors in workloads.OPTIMIZER_TENSORS
    }


SPARSE_OPTIMIZERS = {"sgd": pm.optimizer.SGD, "adagrad": pm.optimizer.Adagrad}


def sparse_step(name, rows):
    """Only looks rows up in a table and updates them."""
    ids, built = workloads.sparse_ids(), Built()
    with built.guard():
        looked_up = pm.layers.embedding(
            pm.layers.data("ids", [len(ids)], "int64"),
            [rows, workloads.SPARSE_WIDTH],
            is_sparse=True,
            param_attr=pm.initializer.Constant(1.0),
        )
        loss = pm.layers.mean(looked_up)
        SPARSE_OPTIMIZERS[name](1e-3).minimize(loss)
    built.exe.run(built.startup, scope=built.scope)
    return built.steps({"ids": ids}, loss)


def sparse_steps():
    return {
        f"sparse_{name}_{rows}": lambda facts=(name, rows): sparse_step(*facts)
        for name in SPARSE_OPTIMIZERS
        for rows in workloads.SPARSE_ROWS
    }


if __name__ == "__main__":
    serve(
        {
            "tiny_mlp": tiny_mlp,
            "mlp": mlp,
            "lenet": lenet,
            "chain": chain,
            "resnet": resnet,
            "lstm": lstm,
            "gpt": gpt,
            "wide_deep": wide_deep,
            **optimizer_steps(),
            **sparse_steps(),
        }
    )
