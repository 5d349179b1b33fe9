# A small classifier trained by replicas on emulated devices, or by one executor, for tests of DataParallel.
import numpy as np

import paddle_mini as pm
from small_model import CLASSES, INPUTS, batch

ROWS = 12  # size of a batch: two and three replicas can share it
kind = pm.EmulatedPlace  # tests/gpu: CUDAPlace


def device(index):
    return kind(index)


class Replicated:
    """`count` replicas, or 0: one executor without any. `around` receives an optimizer, and its result is minimized."""

    def __init__(
        self,
        count,
        around=lambda optimizer, wrap: wrap(optimizer),
        optimizer=None,
        dtype="float64",
        hidden=5,
        layer=lambda x: x,
        places=None,
        seed=3,
    ):
        self.dtype, self.main, self.startup = dtype, pm.Program(), pm.Program()
        self.replicas = pm.DataParallel(places or [device(i) for i in range(count)]) if count else None
        with pm.program_guard(self.main, self.startup):
            self.x = pm.layers.data("x", shape=[-1, INPUTS], dtype=dtype)
            self.label = pm.layers.data("label", shape=[-1, 1], dtype="int64")
            self.logits = pm.layers.fc(layer(pm.layers.fc(self.x, hidden, act="tanh")), CLASSES)
            self.loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(self.logits, self.label))
            self.optimizer = around(
                optimizer or pm.optimizer.SGD(0.1), self.replicas.wrap if count else lambda optimizer: optimizer
            )
            self.optimizer.minimize(self.loss)
        pm.seed(seed)
        if count:
            self.scope = self.replicas.scopes[0]
            self.replicas.run(self.startup)
        else:
            self.scope, self.exe = pm.Scope(), pm.Executor()
            self.exe.run(self.startup, scope=self.scope)

    def step(self, number, feed=None, fetch=None):
        """The loss of each replica, or the given fetches."""
        feed = feed or batch(number, self.dtype, ROWS)
        if self.replicas:
            return self.replicas.run(self.main, feed, fetch or [self.loss])[0]
        return self.exe.run(self.main, feed, fetch or [self.loss], self.scope)[0]

    def train(self, steps=5):
        losses = [np.mean(self.step(number)) for number in range(steps)]
        if self.replicas:
            self.replicas.check_equal(self.main)
        return losses

    def values(self, scope=None):
        scope = scope or self.scope
        names = [var.name for var in self.main.list_vars() if var.persistable and var.name in scope]
        return {name: scope.get(name) for name in names}

    def everything(self):
        return {
            (rank, name): value for rank, scope in enumerate(self.replicas.scopes) for name, value in self.values(scope).items()
        }


def wrong_batch(number, row, dtype="float64"):
    """A batch with a label that is out of range."""
    feed = batch(number, dtype, ROWS)
    feed["label"] = feed["label"].copy()
    feed["label"][row] = CLASSES + 4
    return feed
