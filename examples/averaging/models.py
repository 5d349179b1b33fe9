# Many models side by side in one program: every parameter has one more axis, along which models are independent.
"""The loss is the sum of the models' losses, so each model's gradient is its own; optimizers and averages work element
by element. So a row of the tensors equals a separate run of that model, at a small part of the time. All averages are
of one trajectory, which has the same bits with and without them."""

import time

import numpy as np

import paddle_mini as pm


class Models:
    """A training program with its averages. build() appends the models and returns (loss, output)."""

    def __init__(self, build, optimizer, schemes, seed=0):
        self.main, self.startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(self.main, self.startup):
            loss, self.output = build()
            test = self.main.clone(for_test=True)
            self.average = pm.optimizer.ParameterAverage(optimizer, schemes) if schemes else optimizer
            self.average.minimize(loss)
        self.test = test.prune(["x"], [self.output.name])
        self.schemes, self.exe = schemes, pm.Executor(pm.CPUPlace())
        self.parameters = [parameter.name for parameter in self.main.all_parameters()]
        self.start(seed)

    def start(self, seed):
        pm.seed(seed)
        self.exe.run(self.startup, scope=self.scope)

    def step(self, **feed):
        self.exe.run(self.main, feed, scope=self.scope)

    def values(self, scheme=None):
        """{parameter: array}; None: the last iterate."""
        if scheme is None:
            return {name: self.scope.get(name) for name in self.parameters}
        with self.average.apply(self.exe, self.scope, scheme=scheme):
            return self.values()

    def outputs(self, x, scheme=None):
        if scheme is None:
            return self.exe.run(self.test, {"x": x}, [self.output.name], self.scope)[0]
        with self.average.apply(self.exe, self.scope, scheme=scheme):
            return self.outputs(x)

    def bytes(self):
        return sum(self.scope.get(name).nbytes for name in self.scope.names())


def least_squares(groups, members, dimensions):
    """groups x members regressions y = w . x that start at 0, each with the loss rate (w . x - y)^2 / 2: with sgd's own
    rate 1, `rate` is the step size. The members of a group share x [groups, 1, d] and y [groups, 1]; rate [1, members]
    is an input, so that it may follow any schedule."""

    def build():
        x = pm.layers.data("x", [groups, 1, dimensions])
        y, rate = pm.layers.data("y", [groups, 1]), pm.layers.data("rate", [1, members])
        w = pm.layers.create_parameter(
            [groups, members, dimensions], "float32", name="w", default_initializer=pm.initializer.Constant(0.0)
        )
        found = pm.layers.reduce_sum(pm.layers.elementwise_mul(w, x), dim=[2])
        losses = pm.layers.square_error_cost(found, pm.layers.expand(y, [1, members]))
        return pm.layers.reduce_sum(pm.layers.elementwise_mul(losses, rate * 0.5)), found

    return build


def classifiers(count, inputs, hidden, classes):
    """`count` networks with one hidden layer of relu, or none; x [count, batch, inputs], label [count, batch, 1]."""

    def layer(x, name, rows, columns):
        w = pm.layers.create_parameter(
            [count, rows, columns],
            "float32",
            name=f"{name}.w",
            default_initializer=pm.initializer.Xavier(fan_in=rows, fan_out=columns),
        )
        b = pm.layers.create_parameter(
            [count, 1, columns], "float32", name=f"{name}.b", default_initializer=pm.initializer.Constant(0.0)
        )
        return pm.layers.elementwise_add(pm.layers.matmul(x, w), b)

    def build():
        x, label = pm.layers.data("x", [count, -1, inputs]), pm.layers.data("label", [count, -1, 1], dtype="int64")
        if hidden:
            x, inner = pm.layers.relu(layer(x, "hidden", inputs, hidden)), hidden
        else:
            inner = inputs
        logits = layer(x, "softmax", inner, classes)
        return pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label)) * float(count), logits

    return build


def costs(make, schemes, feed, turns, steps=100):
    """{arm: (milliseconds per step, bytes per parameter)} of the program with no average and with each scheme alone.
    The programs alternate; the fastest round counts, because other work on the machine disturbed it least."""
    names = ["last iterate", *map(repr, schemes)]
    models = dict(zip(names, [make([]), *(make([scheme]) for scheme in schemes)]))
    times = {name: [] for name in names}
    for _ in range(turns):
        for name, model in models.items():
            model.start(0)
            model.step(**feed)
            begin = time.perf_counter()
            for _ in range(steps):
                model.step(**feed)
            times[name].append((time.perf_counter() - begin) / steps * 1e3)
    plain = models["last iterate"]
    size = sum(plain.scope.get(name).size for name in plain.parameters)
    # The counters, 96 bytes per scheme, do not grow with the parameters and are not counted.
    return {name: (min(times[name]), np.round((models[name].bytes() - plain.bytes()) / size, 1)) for name in names}
