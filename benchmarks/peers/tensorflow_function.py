# TensorFlow: one tf.function per step, with TensorFlow's own fused optimizer kernels; --jit compiles it with XLA.
import sys

import tensorflow as tf

import workloads
from worker import THREADS, serve

tf.config.threading.set_intra_op_parallelism_threads(THREADS)
tf.config.threading.set_inter_op_parallelism_threads(THREADS)
JIT = "--jit" in sys.argv


def training(work, layers, forward, slots, apply):
    """apply(parameter, its slots, gradient); forward(parameters, x)."""
    params = [tf.Variable(array) for layer in layers for array in layer]
    kept = [[tf.Variable(tf.zeros_like(param)) for _ in range(slots)] for param in params]
    x, label = tf.constant(work.x), tf.constant(work.label)

    @tf.function(jit_compile=JIT)
    def step(x, label):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=forward(params, x))
            loss = tf.reduce_mean(losses)
        for param, slots, gradient in zip(params, kept, tape.gradient(loss, params)):
            apply(param, slots, gradient)
        return loss

    compiled = step.get_concrete_function(x, label)

    def run(steps):
        for _ in range(steps):
            loss = compiled(x, label)
        return float(loss)

    return run


def model(work, logits_of, slots, apply, loss_of=None):
    """logits_of(parameters by name, feeds); apply as in training."""
    params = {name: tf.Variable(array) for name, array in work.params.items()}
    kept = [[tf.Variable(tf.zeros_like(param)) for _ in range(slots)] for param in params.values()]
    feeds = {name: tf.constant(array) for name, array in work.feeds.items()}
    loss_of = loss_of or (lambda logits, label: tf.nn.sparse_softmax_cross_entropy_with_logits(label[:, 0], logits))

    @tf.function(jit_compile=JIT)
    def step(feeds):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(loss_of(logits_of(params, feeds), feeds["label"]))
        gradients = tape.gradient(loss, list(params.values()))
        for param, slots, gradient in zip(params.values(), kept, gradients):
            apply(param, slots, gradient)
        return loss

    compiled = step.get_concrete_function(feeds)

    def run(steps):
        for _ in range(steps):
            loss = compiled(feeds)
        return float(loss)

    return run


def linear(p, name, x):
    return tf.nn.bias_add(tf.linalg.matmul(x, p[f"{name}.w"]), p[f"{name}.b"])


def resnet():
    work = workloads.resnet()
    # Channels come last on a CPU, and filters are [height, width, in, out].
    feeds = {**work.feeds, "x": work.feeds["x"].transpose(0, 2, 3, 1)}
    params = {name: array.transpose(2, 3, 1, 0) if array.ndim == 4 else array for name, array in work.params.items()}

    def convolution(p, name, x, stride=1):
        size = p[f"{name}.w"].shape[0] // 2
        x = tf.nn.conv2d(x, p[f"{name}.w"], stride, [[0, 0], [size, size], [size, size], [0, 0]])
        scale, shift = p[f"{name}.bn.w"], p[f"{name}.bn.b"]
        return tf.raw_ops.FusedBatchNormV3(x=x, scale=scale, offset=shift, mean=[], variance=[], epsilon=1e-5).y

    def logits_of(p, feeds):
        x = tf.nn.relu(convolution(p, "stem", feeds["x"]))
        for i, (_, stride) in enumerate(workloads.RESNET):
            shortcut = x if stride == 1 else convolution(p, f"block{i}.shortcut", x, stride)
            x = tf.nn.relu(convolution(p, f"block{i}.first", x, stride))
            x = tf.nn.relu(convolution(p, f"block{i}.second", x) + shortcut)
        return linear(p, "fc", tf.reduce_mean(x, [1, 2]))

    return model(work._replace(feeds=feeds, params=params), logits_of, 1, momentum(work.rate))


def lstm():
    work = workloads.lstm()
    update = adam(work.rate, len(work.params))

    def cell(hidden, kept, given, recurrent):
        i, f, c, o = tf.split(given + tf.linalg.matmul(hidden, recurrent, transpose_b=True), 4, axis=1)
        kept = tf.sigmoid(f) * kept + tf.sigmoid(i) * tf.tanh(c)
        return tf.sigmoid(o) * tf.tanh(kept), kept

    def logits_of(p, feeds):
        time, batch = work.feeds["ids"].shape
        x = tf.reshape(tf.gather(p["embedding"], feeds["ids"]), [time * batch, -1])
        for layer in range(workloads.LSTM_LAYERS):
            given = tf.linalg.matmul(x, p[f"{layer}.wi"], transpose_b=True) + p[f"{layer}.bi"] + p[f"{layer}.bh"]
            hidden = kept = tf.zeros([batch, workloads.LSTM_HIDDEN])
            outputs = []
            for step in tf.split(given, time):  # unrolled: a loop in the graph is slower
                hidden, kept = cell(hidden, kept, step, p[f"{layer}.wh"])
                outputs.append(hidden)
            x = tf.concat(outputs, axis=0)
        return linear(p, "fc", hidden)

    return model(work, logits_of, 2, lambda param, slots, gradient: update(param, slots, tf.convert_to_tensor(gradient)))


def gpt():
    work, heads = workloads.gpt(), workloads.GPT_HEADS
    batch, time = work.feeds["ids"].shape
    width, mask = workloads.GPT_WIDTH, workloads.causal_mask(time)
    update = adam(work.rate, len(work.params))

    def apply(param, slots, gradient):
        param.assign(param * (1 - work.rate * workloads.GPT_DECAY))
        update(param, slots, tf.convert_to_tensor(gradient))

    def norm(p, name, x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, p[f"{name}.b"], p[f"{name}.w"], 1e-5)

    def attention(p, name, x):
        parts = tf.split(linear(p, f"{name}.qkv", x), 3, axis=-1)
        query, key, value = (tf.transpose(tf.reshape(part, [batch, time, heads, -1]), [0, 2, 1, 3]) for part in parts)
        scores = tf.linalg.matmul(query * (width // heads) ** -0.5, key, transpose_b=True) + mask
        mixed = tf.transpose(tf.linalg.matmul(tf.nn.softmax(scores), value), [0, 2, 1, 3])
        return linear(p, f"{name}.out", tf.reshape(mixed, [batch * time, width]))

    def logits_of(p, feeds):
        # One matrix holds the rows of all texts, because products of rank 2 are the fast ones here.
        x = tf.reshape(tf.gather(p["words"], feeds["ids"]) + p["positions"], [batch * time, width])
        for block in (f"block{i}" for i in range(workloads.GPT_BLOCKS)):
            x = x + attention(p, block, norm(p, f"{block}.norm1", x))
            hidden = tf.nn.gelu(linear(p, f"{block}.up", norm(p, f"{block}.norm2", x)))
            x = x + linear(p, f"{block}.down", hidden)
        return linear(p, "head", norm(p, "norm", x))

    return model(work, logits_of, 2, apply)


def wide_deep():
    work = workloads.wide_deep()

    def logits_of(p, feeds):
        deep = tf.reshape(tf.gather(p["deep_table"], feeds["ids"]), [len(work.feeds["ids"]), -1])
        x = tf.concat([deep, feeds["dense"]], axis=1)
        for i in range(3):
            x = tf.nn.relu(linear(p, f"deep{i}", x))
        wide = tf.reduce_sum(tf.gather(p["wide_table"], feeds["ids"]), 1)
        return linear(p, "deep3", x) + wide + linear(p, "wide", feeds["dense"])

    def apply(param, slots, gradient):
        if isinstance(gradient, tf.IndexedSlices):
            param.scatter_sub(tf.IndexedSlices(work.rate * gradient.values, gradient.indices))
        else:
            tf.raw_ops.ResourceApplyGradientDescent(var=param.handle, alpha=work.rate, delta=gradient)

    return model(
        work, logits_of, 0, apply, lambda logits, label: tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits)
    )


def adam(rate, parameters):
    """The update rule for this many parameters; the update of the last one ends the step."""
    beta1, beta2, epsilon = (workloads.ADAM[key] for key in ("beta1", "beta2", "epsilon"))
    powers = tf.Variable([beta1, beta2])
    applied = 0

    def apply(param, slots, gradient):
        nonlocal applied
        tf.raw_ops.ResourceApplyAdam(
            var=param.handle,
            m=slots[0].handle,
            v=slots[1].handle,
            beta1_power=powers[0],
            beta2_power=powers[1],
            lr=rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            grad=gradient,
        )
        applied += 1
        if applied == parameters:
            powers.assign(powers * [beta1, beta2])

    return apply


def momentum(rate):
    def apply(param, slots, gradient):
        tf.raw_ops.ResourceApplyMomentum(
            var=param.handle, accum=slots[0].handle, lr=rate, grad=gradient, momentum=workloads.MOMENTUM
        )

    return apply


def perceptron(params, x):
    for i in range(0, len(params) - 2, 2):
        x = tf.nn.relu(tf.linalg.matmul(x, params[i]) + params[i + 1])
    return tf.linalg.matmul(x, params[-2]) + params[-1]


def tiny_mlp():
    work = workloads.tiny_mlp()

    def apply(param, slots, gradient):
        tf.raw_ops.ResourceApplyGradientDescent(var=param.handle, alpha=work.rate, delta=gradient)

    return training(work, work.layers, perceptron, 0, apply)


def mlp():
    work = workloads.mlp()
    return training(work, work.layers, perceptron, 2, adam(work.rate, 2 * len(work.layers)))


def lenet():
    work = workloads.lenet()
    first, second, third, fourth = work.layers
    # Channels come last on a CPU: filters [height, width, in, out], and fc's rows in that order.
    filters = [(weight.transpose(2, 3, 1, 0), bias) for weight, bias in (first, second)]
    flat = third[0].reshape(50, 4, 4, 500).transpose(1, 2, 0, 3).reshape(800, 500)
    layers = [*filters, (flat, third[1]), fourth]
    work = work._replace(x=work.x.transpose(0, 2, 3, 1))

    def forward(params, x):
        for weight, bias in (params[0:2], params[2:4]):
            x = tf.nn.bias_add(tf.nn.conv2d(x, weight, strides=1, padding="VALID"), bias)
            x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        x = tf.reshape(x, [len(work.x), 800])
        x = tf.nn.relu(tf.linalg.matmul(x, params[4]) + params[5])
        return tf.linalg.matmul(x, params[6]) + params[7]

    return training(work, layers, forward, 1, momentum(work.rate))


WORKLOADS = (tiny_mlp, mlp, lenet, resnet, lstm, gpt, wide_deep)
serve({make.__name__: make for make in WORKLOADS})
