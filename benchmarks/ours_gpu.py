# paddle_mini on a GPU, as a runtime of benchmarks/gpu.py.
import os
import statistics
import time

os.environ["PM_BENCH_PLACE"] = "gpu"
import numpy as np

import ours
import paddle_mini as pm
import workloads
from ours_averaging import Unchanging
from worker import serve

AVERAGE = pm.averaging.Exponential(workloads.DECAY)


def averaged(optimizer):
    return lambda rate: pm.optimizer.ParameterAverage(optimizer(rate), AVERAGE)


# Without a block: one read and one write of the average.
def plain_average(optimizer):
    def make(rate):
        inner = optimizer(rate)

        class Both:
            def apply_gradients(self, pairs):
                operators = inner.apply_gradients(pairs)
                block = pm.default_main_program().global_block()
                weight = pm.layers.create_global_var([1], 1 - workloads.DECAY, dtype="float64", persistable=True)
                for parameter, _ in pairs:
                    average = pm.layers.create_global_var(parameter.shape, 1.0, persistable=True)
                    inputs = {"Param": parameter, "Average": average, "Weight": weight}
                    block.append_op("parameter_average", inputs, {"AverageOut": average})
                return operators

        return Both()

    return make


OPTIMIZERS = {
    **ours.OPTIMIZERS,
    "adam_averaged": averaged(ours.OPTIMIZERS["adam"]),
    "average": averaged(Unchanging),
    "adam_plain_average": plain_average(ours.OPTIMIZERS["adam"]),
    "plain_average": plain_average(Unchanging),
}


def update(name, tensors):
    """The operators of one step on given gradients. run(0) gives an element of the last parameter."""
    built = ours.Built()
    size = workloads.GPU_ELEMENTS // tensors
    with built.guard():
        one = pm.initializer.Constant(1.0)
        parameters = [pm.layers.create_parameter([size], name=f"parameter_{i}", default_initializer=one) for i in range(tensors)]
        gradients = [pm.layers.create_global_var([size], 1e-3, name=f"gradient_{i}") for i in range(tensors)]
        OPTIMIZERS[name](1e-3).apply_gradients(list(zip(parameters, gradients)))
    run = built.updates()
    probe = pm.Program()
    with pm.program_guard(probe):
        last = probe.global_block().create_var(parameters[-1].name, shape=[size], dtype="float32", persistable=True)
        element = pm.layers.slice(last, [0], [size - 1], [size])

    def run_or_probe(steps):
        return run(steps) if steps else float(built.exe.run(probe, fetch_list=[element], scope=built.scope)[0][0])

    return run_or_probe


def offload(place):
    """A perceptron of OFFLOAD layers on batches that make its step longer than averaging on the CPU; place of its averages."""
    built = ours.Built()
    width, layers, batch = workloads.OFFLOAD
    with built.guard():
        hidden = x = pm.layers.data("x", [batch, width])
        for _ in range(layers):
            hidden = pm.layers.fc(hidden, width, act="relu")
        loss = pm.layers.mean(pm.layers.square(hidden))
        optimizer = pm.optimizer.SGD(1e-6)
        if place is not None:
            optimizer = pm.optimizer.ParameterAverage(optimizer, AVERAGE, place=place)
        optimizer.minimize(loss)
    built.exe.run(built.startup, scope=built.scope)
    return built.steps({x.name: np.random.default_rng(0).standard_normal((batch, width)).astype("float32")}, loss)


def regression():
    """784-512-512-10 like mlp, without labels, for whose check the host would wait."""
    built = ours.Built()
    with built.guard():
        hidden = pm.layers.data("x", [128, 784])
        for size in (512, 512, 10):
            hidden = pm.layers.fc(hidden, size, act="relu" if size > 10 else None)
        loss = pm.layers.mean(pm.layers.square(hidden))
        pm.optimizer.Adam(1e-5).minimize(loss)
    built.exe.run(built.startup, scope=built.scope)
    return built.steps({"x": np.random.default_rng(0).standard_normal((128, 784)).astype("float32")}, loss)


def submitting(make):
    """The result is the median time of a call of `run` with an empty queue, in seconds: what the host does for a step."""
    built = make().built

    def run(steps):
        times = []
        for _ in range(steps):
            built.scope.synchronize()
            begin = time.perf_counter()
            built.exe.run(built.main, scope=built.scope)
            times.append(time.perf_counter() - begin)
        return statistics.median(times)

    return run


MODELS = ("tiny_mlp", "mlp", "lenet", "resnet", "lstm", "gpt")

if __name__ == "__main__":
    serve(
        {
            **{name: getattr(ours, name) for name in (*MODELS, "chain")},
            **{f"{name}:{tensors}": lambda facts=(name, tensors): update(*facts) for name in OPTIMIZERS for tensors in (8, 1000)},
            **{f"submit_{name}": lambda name=name: submitting(getattr(ours, name)) for name in (*MODELS, "chain")},
            "submit_regression": lambda: submitting(regression),
            "offload_none": lambda: offload(None),
            "offload_cpu": lambda: offload(pm.CPUPlace()),
            "offload_gpu": lambda: offload(pm.CUDAPlace(0)),
        }
    )
