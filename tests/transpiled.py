# Training with transpiled programs and the C library, and on one machine, for comparison.
import numpy as np

import paddle_mini as pm
from paddle_mini.cluster.trainers.transpile import transpile
from paddle_mini.optimizer import NativeOptimizer


def one_machine(main, feeds, start):
    """The parameters after training with the operators of the program."""
    exe, scope = pm.Executor(), pm.Scope()
    exe.run(pm.default_startup_program(), scope=scope)
    for name, value in start.items():
        scope.set(name, value)
    for feed in feeds:
        exe.run(main, feed, scope=scope)
    return {name: np.array(scope.get(name)) for name in start}


def trainer_and_servers(main, feeds, start):
    """The parameters after training with a trainer's program and an object of the C library for each parameter."""
    split, exe, scope = transpile(main), pm.Executor(), pm.Scope()
    servers = {one.name: NativeOptimizer(one.config, start[one.name]) for one in split.trained}
    rng = np.random.default_rng(9)
    for feed in feeds:
        for one in split.trained:
            value = servers[one.name].parameter()
            if one.ids is not None:  # a trainer has only the rows that it pulls
                rows = np.unique(np.concatenate([feed[name].ravel() for name in one.ids]))
                value = rng.normal(size=value.shape).astype(value.dtype)
                value[rows] = servers[one.name].rows(rows)
            scope.set(one.name, value)
        gradients = exe.run(split.program, feed, [one.gradient for one in split.trained], scope=scope)
        for one, gradient in zip(split.trained, gradients):
            if one.sparse:
                servers[one.name].update_rows(gradient.rows, gradient.values)
            else:
                servers[one.name].update(gradient.reshape(one.shape))
    return {name: server.parameter() for name, server in servers.items()}


def beginning(split):
    rng = np.random.default_rng(2)
    return {one.name: rng.normal(size=one.shape).astype(one.dtype) * 0.3 for one in split.trained}
