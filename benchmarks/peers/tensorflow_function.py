# TensorFlow: one tf.function a step, with TensorFlow's own fused optimizer kernels; --jit compiles it with XLA.
import sys

import tensorflow as tf

import workloads
from worker import serve

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
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


def mlp():
    work = workloads.mlp()
    beta1, beta2, epsilon = (workloads.ADAM[key] for key in ("beta1", "beta2", "epsilon"))
    powers = tf.Variable([beta1, beta2])

    def forward(params, x):
        for i in range(0, len(params) - 2, 2):
            x = tf.nn.relu(tf.linalg.matmul(x, params[i]) + params[i + 1])
        return tf.linalg.matmul(x, params[-2]) + params[-1]

    applied = 0

    def apply(param, slots, gradient):
        nonlocal applied
        tf.raw_ops.ResourceApplyAdam(
            var=param.handle, m=slots[0].handle, v=slots[1].handle, beta1_power=powers[0], beta2_power=powers[1],
            lr=work.rate, beta1=beta1, beta2=beta2, epsilon=epsilon, grad=gradient)
        applied += 1
        if applied == 2 * len(work.layers):
            powers.assign(powers * [beta1, beta2])

    return training(work, work.layers, forward, 2, apply)


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

    def apply(param, slots, gradient):
        tf.raw_ops.ResourceApplyMomentum(
            var=param.handle, accum=slots[0].handle, lr=work.rate, grad=gradient, momentum=workloads.MOMENTUM)

    return training(work, layers, forward, 1, apply)


serve({"mlp": mlp, "lenet": lenet})
