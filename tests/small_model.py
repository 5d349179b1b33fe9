# A small classifier with its data, which tests of files, commands and averaging train.
import numpy as np

import paddle_mini as pm

ROWS, INPUTS, CLASSES = 24, 6, 3


class SmallModel:
    """Two layers with softmax; `minimize` appends an optimizer or a ParameterAverage."""

    def __init__(self, minimize=None, dtype="float32", place=None, **attrs):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor(place)
        with pm.program_guard(self.main, self.startup):
            self.x = pm.layers.data("x", shape=[-1, INPUTS], dtype=dtype)
            self.label = pm.layers.data("label", shape=[-1, 1], dtype="int64")
            hidden = pm.layers.fc(self.x, 5, act="tanh", **attrs)
            self.logits = pm.layers.fc(hidden, CLASSES)
            self.loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(self.logits, self.label))
            if minimize is not None:
                minimize(self.loss)
        self.parameters = [parameter.name for parameter in self.main.all_parameters()]
        self.dtype = dtype
        pm.seed(3)
        self.exe.run(self.startup, scope=self.scope)

    def step(self, number=0):
        """One step on the next 8 rows; returns the loss."""
        return self.exe.run(self.main, batch(number, self.dtype), [self.loss], self.scope)[0]

    def values(self, names=None):
        return {name: self.scope.get(name) for name in (self.parameters if names is None else names)}

    def everything(self):
        return self.values(sorted(self.scope.names()))


def data(dtype="float32"):
    random = np.random.RandomState(0)
    return random.randn(ROWS, INPUTS).astype(dtype), random.randint(0, CLASSES, (ROWS, 1))


def batch(number, dtype="float32", size=8):
    x, label = data(dtype)
    first = number % (ROWS // size) * size
    return {"x": x[first : first + size], "label": label[first : first + size]}


def assert_same_bits(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert (found[name].dtype, found[name].shape) == (value.dtype, value.shape), name
        assert found[name].tobytes() == value.tobytes(), f"{name} differs"
