# One parameter with given gradients: a program's operators and the C library take the same steps.
import re

import numpy as np

import paddle_mini as pm
from paddle_mini.optimizer.config import config_class
from paddle_mini.testing.one_op import generator

ROWS, WIDTH = 7, 5
# An optimizer of each kind, and for each number of arrays that it stores: fields of its message.
KINDS = {
    **{name: {} for name in config_class().Optimizer.DESCRIPTOR.values_by_name},
    "SGD with momentum": {"momentum": 0.9},
    "RMSProp": {"momentum": 0.5},
    "RMSProp centered": {"centered": True},
    "Ftrl": {"l1": 0.1},
    "Dpsgd": {"seed": 3},
    "ProximalGD": {"l1": 0.1},
    "ProximalAdagrad": {"l2": 0.1},
}


class Program:
    """A program that updates its one parameter by fed gradients. sparse: by selected rows."""

    def __init__(self, minimizer, value, sparse=False, **training):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
        self.minimizer, self.sparse, self.shape = minimizer, sparse, value.shape
        with pm.program_guard(self.main, self.startup):
            begin = pm.initializer.NumpyArrayInitializer(value)
            attr = pm.ParamAttr("w", begin, **training)
            self.parameter = pm.layers.create_parameter(value.shape, value.dtype, attr=attr)
            self.gradient = self.main.global_block().create_var(
                "g", dtype=value.dtype, shape=value.shape, kind=8 if sparse else 7, persistable=True
            )
            minimizer.apply_gradients([(self.parameter, self.gradient)])
        self.exe.run(self.startup, scope=self.scope)
        self.scope.set("w", value)  # initializers round to float32

    def update(self, gradient):
        self.scope.set("g", gradient)
        self.exe.run(self.main, scope=self.scope)

    def update_rows(self, rows, gradient):
        self.scope.set_rows("g", list(rows), gradient, self.shape[0])
        self.exe.run(self.main, scope=self.scope)

    def value(self):
        return self.scope.get("w")

    def average(self, scheme=None):
        with self.minimizer.apply(self.exe, self.scope, scheme):
            return self.scope.get("w")

    def native(self, value):
        """An object of the library with the same update."""
        return pm.optimizer.NativeOptimizer(self.minimizer.to_config(self.parameter), value)


def message_of(optimizer):
    """The field of OptimizerConfig for an optimizer's arguments."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", optimizer).lower()


def library(optimizer, begin, fields=None, state=None, **others):
    """An object of the C library; fields: of the optimizer's message, others: of OptimizerConfig."""
    optimizer = optimizer.split()[0]
    if "lr_policy" not in others:
        others.setdefault("const_lr", {"learning_rate": 0.1})
    config = config_class()(optimizer=optimizer, **{message_of(optimizer): fields or {}}, **others)
    return pm.optimizer.NativeOptimizer(config, begin, state)


def values(dtype="float32", shape=(ROWS, WIDTH), seed=0):
    return generator(shape, seed).normal(size=shape).astype(dtype)


def gradients(count, dtype="float32", shape=(ROWS, WIDTH), seed=1):
    return generator((count, *shape), seed).normal(size=(count, *shape)).astype(dtype)


def row_gradients(count, dtype="float32", seed=2, distinct=False):
    """(rows, values) pairs; rows occur more than once, unless they are distinct, and in any order."""
    random = generator((count,), seed)
    for _ in range(count):
        rows = random.choice(ROWS, random.integers(1, 6), replace=not distinct)
        yield rows, random.normal(size=(len(rows), WIDTH)).astype(dtype)


def same_bits(found, wanted, what=""):
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if found.tobytes() != wanted.tobytes():
        raise AssertionError(f"{what}: differs by {np.abs(found - wanted).max()}")
