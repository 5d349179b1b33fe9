# Functions that jobs of tests train: the same function in a job and alone.

import numpy as np

import paddle_mini as pm
from paddle_mini.thread_state import own_state

INPUTS, HIDDEN, CLASSES, ROWS, WORDS = 64, 400, 3, 96, 50
"""INPUTS * HIDDEN elements are enough to be split into blocks for up to three servers."""


def data():
    random = np.random.RandomState(0)
    return random.randn(ROWS, INPUTS).astype("float32"), random.randint(0, CLASSES, (ROWS, 1))


def batch(begin, end):
    x, label = data()
    rows = np.arange(begin, end) % ROWS
    return {"x": x[rows], "label": label[rows]}


def classifier(minimize):
    """Two layers; returns (x, logits, loss)."""
    x = pm.layers.data("x", shape=[-1, INPUTS])
    label = pm.layers.data("label", shape=[-1, 1], dtype="int64")
    logits = pm.layers.fc(pm.layers.fc(x, HIDDEN, act="tanh"), CLASSES)
    loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
    minimize(loss)
    return x, logits, loss


def begun(seed=3):
    """A Trainer, after the startup program has run."""
    exe = pm.Executor()
    pm.seed(seed)
    exe.run(pm.default_startup_program())
    return pm.cluster.join(exe=exe)


def values():
    return {var.name: pm.global_scope().get(var.name) for var in pm.default_main_program().all_parameters()}


def everything():
    """All persistable values."""
    names = sorted(var.name for var in pm.default_main_program().list_vars() if var.persistable)
    return {name: pm.global_scope().get(name) for name in names}


def train(steps, optimizer, size=8, share=None):
    """Trains the classifier, on the whole of each batch or, with share=n, on this trainer's n-th part of it; returns
    the parameters."""
    _, _, loss = classifier(lambda loss: optimizer().minimize(loss))
    trainer = begun()
    for step in range(steps):
        begin = step * size
        part = size if share is None else size // share
        begin += 0 if share is None else part * trainer.number
        trainer.run(batch(begin, begin + part), [loss])
    trainer.pull()
    return values()


class ByPasses(pm.lr.LRScheduler):
    """1 in the first pass, 0.5 in the second, 0.25 in the third."""

    def get_lr(self):
        return 1.0

    def config_values(self):
        segments = [{"bound": number, "rate": 0.5**number} for number in range(3)]
        return {"lr_policy": "PassManual", "pass_manual_lr": {"learning_rate": 1.0, "segments": segments}}


def alone(function, *args):
    """The result of a function that trains outside of a job, with separate programs and a separate scope."""
    with own_state(), pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        return function(*args)
