# JAX: forward, gradient and update in one jitted function.
import jax
import jax.numpy as jnp

import workloads
from worker import serve


def forward(params, x):
    for weight, bias in params[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = params[-1]
    return x @ weight + bias


def loss_of(params, x, label):
    return cross_entropy(forward(params, x), label[:, None])


def training(work, initial, update):
    """update(params, gradients, state) returns params and state."""
    params = jax.tree.map(jnp.asarray, work.layers)
    x, label = jnp.asarray(work.x), jnp.asarray(work.label)

    def step(params, state, x, label):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, label)
        return (*update(params, gradients, state), loss)

    return stepping(step, params, initial(params), (x, label))


def stepping(step, params, state, feeds):
    """step(params, state, *feeds) returns params, state and loss."""
    compiled = jax.jit(step, donate_argnums=(0, 1)).lower(params, state, *feeds).compile()

    def run(steps):
        nonlocal params, state
        for _ in range(steps):
            params, state, loss = compiled(params, state, *feeds)
        jax.block_until_ready(params)
        return float(loss)

    return run


def cross_entropy(logits, label):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), label, axis=1).mean()


def model(work, logits_of, rule, loss_of=cross_entropy):
    """logits_of(params, feeds); rule is (initial, update) as in training."""
    initial, update = rule
    feeds, params = ({name: jnp.asarray(array) for name, array in arrays.items()} for arrays in work[:2])

    def step(params, state, feeds):
        loss, gradients = jax.value_and_grad(lambda p: loss_of(logits_of(p, feeds), feeds["label"]))(params)
        return (*update(params, gradients, state), loss)

    return stepping(step, params, initial(params), (feeds,))


def tiny_mlp():
    work = workloads.tiny_mlp()

    def update(params, gradients, state):
        return jax.tree.map(lambda p, g: p - work.rate * g, params, gradients), state

    return training(work, lambda params: (), update)


def adam(rate, decay=0.0):
    beta1, beta2, epsilon = (workloads.ADAM[key] for key in ("beta1", "beta2", "epsilon"))

    def initial(params):
        zeros = lambda: jax.tree.map(jnp.zeros_like, params)
        return zeros(), zeros(), jnp.zeros(())

    def update(params, gradients, state):
        first, second, t = state
        t = t + 1
        first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, first, gradients)
        second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, second, gradients)
        root = jnp.sqrt(1 - beta2**t)
        step = rate * root / (1 - beta1**t)

        def updated(p, m, v):
            return (1 - rate * decay) * p - step * m / (jnp.sqrt(v) + epsilon * root)

        return jax.tree.map(updated, params, first, second), (first, second, t)

    return initial, update


def mlp():
    work = workloads.mlp()
    return training(work, *adam(work.rate))


def linear(p, name, x):
    return x @ p[f"{name}.w"] + p[f"{name}.b"]


def momentum(rate):
    def update(params, gradients, speed):
        speed = jax.tree.map(lambda v, g: workloads.MOMENTUM * v + g, speed, gradients)
        return jax.tree.map(lambda p, v: p - rate * v, params, speed), speed

    return lambda params: jax.tree.map(jnp.zeros_like, params), update


def lenet():
    work = workloads.lenet()
    # Channels come last on a CPU: filters [height, width, in, out], and fc's rows in that order.
    filters = [(weight.transpose(2, 3, 1, 0), bias) for weight, bias in work.layers[:2]]
    third, fourth = work.layers[2:]
    flat = third[0].reshape(50, 4, 4, 500).transpose(1, 2, 0, 3).reshape(800, 500)
    names = ("first", "second", "third", "fourth")
    params = {
        f"{name}.{part}": array
        for name, layer in zip(names, [*filters, (flat, third[1]), fourth])
        for part, array in zip("wb", layer)
    }

    def logits_of(p, feeds):
        x = feeds["x"]
        for name in names[:2]:
            x = jax.lax.conv_general_dilated(x, p[f"{name}.w"], (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = jax.lax.reduce_window(x + p[f"{name}.b"], -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return linear(p, "fourth", jax.nn.relu(linear(p, "third", x.reshape(len(x), -1))))

    feeds = {"x": work.x.transpose(0, 2, 3, 1), "label": work.label[:, None]}
    return model(workloads.Model(feeds, params, work.rate), logits_of, momentum(work.rate))


def resnet():
    work = workloads.resnet()
    # Channels come last on a CPU, and filters are [height, width, in, out].
    feeds = {**work.feeds, "x": work.feeds["x"].transpose(0, 2, 3, 1)}
    params = {name: array.transpose(2, 3, 1, 0) if array.ndim == 4 else array for name, array in work.params.items()}

    def convolution(p, name, x, stride=1):
        size = p[f"{name}.w"].shape[0] // 2
        x = jax.lax.conv_general_dilated(
            x, p[f"{name}.w"], (stride, stride), [(size, size)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p[f"{name}.bn.w"] + p[f"{name}.bn.b"]

    def logits_of(p, feeds):
        x = jax.nn.relu(convolution(p, "stem", feeds["x"]))
        for i, (_, stride) in enumerate(workloads.RESNET):
            shortcut = x if stride == 1 else convolution(p, f"block{i}.shortcut", x, stride)
            x = jax.nn.relu(convolution(p, f"block{i}.first", x, stride))
            x = jax.nn.relu(convolution(p, f"block{i}.second", x) + shortcut)
        return linear(p, "fc", x.mean((1, 2)))

    return model(work._replace(feeds=feeds, params=params), logits_of, momentum(work.rate))


def lstm():
    work = workloads.lstm()

    def logits_of(p, feeds):
        x = p["embedding"][feeds["ids"]]
        zeros = jnp.zeros((x.shape[1], workloads.LSTM_HIDDEN))
        for layer in range(workloads.LSTM_LAYERS):
            recurrent = p[f"{layer}.wh"].T

            def cell(state, given, recurrent=recurrent):
                hidden, kept = state
                i, f, c, o = jnp.split(given + hidden @ recurrent, 4, axis=1)
                kept = jax.nn.sigmoid(f) * kept + jax.nn.sigmoid(i) * jnp.tanh(c)
                hidden = jax.nn.sigmoid(o) * jnp.tanh(kept)
                return (hidden, kept), hidden

            given = x @ p[f"{layer}.wi"].T + p[f"{layer}.bi"] + p[f"{layer}.bh"]
            _, x = jax.lax.scan(cell, (zeros, zeros), given)
        return linear(p, "fc", x[-1])

    return model(work, logits_of, adam(work.rate))


def gpt():
    work, heads = workloads.gpt(), workloads.GPT_HEADS
    mask = workloads.causal_mask(work.feeds["ids"].shape[1])

    def norm(p, name, x):
        return jax.nn.standardize(x, epsilon=1e-5) * p[f"{name}.w"] + p[f"{name}.b"]

    def attention(p, name, x):
        query, key, value = (
            part.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2) for part in jnp.split(linear(p, f"{name}.qkv", x), 3, axis=-1)
        )
        scores = query * query.shape[-1] ** -0.5 @ key.swapaxes(2, 3) + mask
        return linear(p, f"{name}.out", (jax.nn.softmax(scores) @ value).swapaxes(1, 2).reshape(x.shape))

    def logits_of(p, feeds):
        x = p["words"][feeds["ids"]] + p["positions"]
        for block in (f"block{i}" for i in range(workloads.GPT_BLOCKS)):
            x = x + attention(p, block, norm(p, f"{block}.norm1", x))
            hidden = jax.nn.gelu(linear(p, f"{block}.up", norm(p, f"{block}.norm2", x)), approximate=False)
            x = x + linear(p, f"{block}.down", hidden)
        return linear(p, "head", norm(p, "norm", x)).reshape(-1, workloads.GPT_WORDS)

    return model(work, logits_of, adam(work.rate, workloads.GPT_DECAY))


def wide_deep():
    work = workloads.wide_deep()
    feeds, params = ({name: jnp.asarray(array) for name, array in arrays.items()} for arrays in work[:2])
    tables = {name: params.pop(name) for name in ("wide_table", "deep_table")}

    def loss_of(p, rows, feeds):
        x = jnp.concatenate([rows["deep_table"].reshape(len(feeds["ids"]), -1), feeds["dense"]], axis=1)
        for i in range(3):
            x = jax.nn.relu(linear(p, f"deep{i}", x))
        logits = linear(p, "deep3", x) + rows["wide_table"].sum(1) + linear(p, "wide", feeds["dense"])
        return (jax.nn.softplus(logits) - logits * feeds["label"]).mean()

    def step(params, tables, feeds):
        rows = {name: table[feeds["ids"]] for name, table in tables.items()}
        loss, (gradients, of_rows) = jax.value_and_grad(loss_of, argnums=(0, 1))(params, rows, feeds)
        # The gradient of the looked-up rows, not of the table: its size is that of the batch.
        tables = {name: table.at[feeds["ids"]].add(-work.rate * of_rows[name]) for name, table in tables.items()}
        return jax.tree.map(lambda p, g: p - work.rate * g, params, gradients), tables, loss

    return stepping(step, params, tables, (feeds,))


serve({"tiny_mlp": tiny_mlp, "mlp": mlp, "lenet": lenet, "resnet": resnet, "lstm": lstm, "gpt": gpt, "wide_deep": wide_deep})
