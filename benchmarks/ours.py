# paddle_mini itself, through its public names, as a runtime that benchmarks/run.py asks.

import paddle_mini as pm
import workloads
from worker import serve


class Built:
    """A main and a startup program, and what runs them."""

    def __init__(self):
        self.main, self.startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        self.exe = pm.Executor(pm.CPUPlace())

    def guard(self):
        return pm.program_guard(self.main, self.startup)

    def steps(self, feed, result):
        """After the startup program: a function that runs the main program and fetches each time."""

        def run(steps):
            for _ in range(steps):
                value, = self.exe.run(self.main, feed=feed, fetch_list=[result], scope=self.scope)
            return float(value.sum())

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


def chain():
    work, built = workloads.chain(), Built()
    with built.guard():
        x, factor, addend = (pm.layers.data(name, [8]) for name in ("x", "factor", "addend"))
        for _ in range(work.length // 2):
            x = pm.layers.elementwise_mul(x, factor)
            x = pm.layers.elementwise_add(x, addend)
    return built.steps({"x": work.x, "factor": work.factor, "addend": work.addend}, x)


OPTIMIZERS = {"sgd": pm.optimizer.SGD, "momentum": pm.optimizer.Momentum, "adam": pm.optimizer.Adam}


class OnGivenGradients:
    """An optimizer whose gradients are variables of the scope: its operators and nothing else."""

    def __init__(self, optimizer, pairs):
        self.optimizer, self.pairs = optimizer, pairs

    def minimize(self, loss, *_):
        return self.optimizer.apply_gradients(self.pairs), self.pairs


def optimizer_step(name, tensors, averaged):
    built = Built()
    size = workloads.OPTIMIZER_ELEMENTS // tensors
    one = pm.initializer.Constant(1.0)
    with built.guard():
        pairs = [(pm.layers.create_parameter([size], name=f"parameter_{i}", default_initializer=one),
                  pm.layers.create_global_var([size], 1e-3, name=f"gradient_{i}")) for i in range(tensors)]
        optimizer = OnGivenGradients(OPTIMIZERS[name](1e-3), pairs)
        if averaged:
            optimizer = pm.optimizer.ParameterAverage(optimizer, window_size=10_000)
        optimizer.minimize(pairs[0][1])
    built.exe.run(built.startup, scope=built.scope)

    def run(steps):
        for _ in range(steps):
            built.exe.run(built.main, scope=built.scope)
        return 0.0

    return run


def optimizer_steps():
    for name in OPTIMIZERS:
        for tensors in workloads.OPTIMIZER_TENSORS:
            for averaged in (False, True):
                yield (f"{name}_{tensors}" + ("_averaged" if averaged else ""),
                       lambda facts=(name, tensors, averaged): optimizer_step(*facts))


serve({"tiny_mlp": tiny_mlp, "mlp": mlp, "lenet": lenet, "chain": chain, **dict(optimizer_steps())})
