# Keras on TensorFlow: a step of SGD with and without use_ema; --jit: compiled by XLA.
import sys

import keras
import tensorflow as tf

import workloads
from worker import THREADS, serve

tf.config.threading.set_intra_op_parallelism_threads(THREADS)
tf.config.threading.set_inter_op_parallelism_threads(THREADS)


def sgd(tensors, **average):
    size = workloads.OPTIMIZER_ELEMENTS // tensors
    params = [keras.Variable(tf.ones(size)) for _ in range(tensors)]
    gradients = [tf.fill([size], 1e-3) for _ in range(tensors)]
    optimizer = keras.optimizers.SGD(1e-3, **average)
    optimizer.build(params)

    @tf.function(jit_compile="--jit" in sys.argv)
    def step(gradients):
        optimizer.apply(gradients, params)

    compiled = step.get_concrete_function(gradients)

    def run(steps):
        for _ in range(steps):
            compiled(gradients)
        return float(params[-1].value[0])  # blocks until the result is ready

    return run


def sgd_averaged(tensors):
    return sgd(tensors, use_ema=True, ema_momentum=workloads.DECAY)


serve(
    {
        f"{step.__name__}_{tensors}": lambda facts=(step, tensors): facts[0](facts[1])
        for step in (sgd, sgd_averaged)
        for tensors in workloads.OPTIMIZER_TENSORS
    }
)
