# Every optimizer, and a model with a table, which tests of optimizer wrappers train.
import numpy as np
import pytest

import paddle_mini as pm
from small_model import SmallModel, assert_same_bits

O = pm.optimizer
OPTIMIZERS = {
    "Adadelta": lambda **k: O.Adadelta(0.5, **k),
    "Adagrad": lambda **k: O.Adagrad(0.1, **k),
    "Adam": lambda **k: O.Adam(0.05, **k),
    "AdamW": lambda **k: O.AdamW(0.05, weight_decay=0.1, **k),
    "Adamax": lambda **k: O.Adamax(0.05, **k),
    "DecayedAdagrad": lambda **k: O.DecayedAdagrad(0.1, **k),
    "Dpsgd": lambda **k: O.Dpsgd(0.1, seed=5, **k),
    "Ftrl": lambda **k: O.Ftrl(0.1, l1=0.01, l2=0.1, **k),
    "Lamb": lambda **k: O.Lamb(0.05, **k),
    "LarsMomentum": lambda **k: O.LarsMomentum(0.5, 0.9, lars_coeff=0.1, **k),
    "Momentum": lambda **k: O.Momentum(0.1, 0.9, **k),
    "ProximalAdagrad": lambda **k: O.ProximalAdagrad(0.1, l1=0.01, **k),
    "ProximalGD": lambda **k: O.ProximalGD(0.1, l1=0.01, l2=0.1, **k),
    "RMSProp": lambda **k: O.RMSProp(0.05, momentum=0.5, **k),
    "SGD": lambda **k: O.SGD(0.2, **k),
}
# For each argument a value that differs from its default; None: a function of the parameter.
ARGUMENTS = {
    "Adadelta": {"epsilon": 0.25, "rho": 0.5},
    "Adagrad": {"epsilon": 0.25, "initial_accumulator_value": 0.5},
    "Adam": {"beta1": 0.25, "beta2": 0.5, "epsilon": 0.125, "lazy_mode": True},
    "AdamW": {
        "beta1": 0.25,
        "beta2": 0.5,
        "epsilon": 0.125,
        "weight_decay": 0.75,
        "lazy_mode": True,
        "lr_ratio": None,
        "apply_decay_param_fun": None,
    },
    "Adamax": {"beta1": 0.25, "beta2": 0.5, "epsilon": 0.125},
    "DecayedAdagrad": {"decay": 0.25, "epsilon": 0.5},
    "Dpsgd": {"clip": 2.0, "batch_size": 4.0, "sigma": 0.5, "seed": 7},
    "Ftrl": {"l1": 0.25, "l2": 0.5, "lr_power": -0.75},
    "Lamb": {
        "lamb_weight_decay": 0.75,
        "beta1": 0.25,
        "beta2": 0.5,
        "epsilon": 0.125,
        "always_adapt": True,
        "exclude_from_weight_decay_fn": None,
    },
    "LarsMomentum": {
        "momentum": 0.25,
        "lars_coeff": 0.5,
        "lars_weight_decay": 0.75,
        "epsilon": 0.125,
        "rescale_grad": 2.0,
        "exclude_from_weight_decay": None,
    },
    "Momentum": {"momentum": 0.25, "use_nesterov": True},
    "ProximalAdagrad": {"l1": 0.25, "l2": 0.5, "initial_accumulator_value": 0.75},
    "ProximalGD": {"l1": 0.25, "l2": 0.5},
    "RMSProp": {"rho": 0.25, "epsilon": 0.5, "momentum": 0.75, "centered": True},
    "SGD": {},
}
# Rows of the table, one list per batch.
SPARSE = [[3, 1, 3, 0], [1, 1, 2, 6], [5, 5, 5, 5], [0, 1, 2, 3]]


class Table:
    """The mean square of the rows of a table that ids name, sparse; and of a weight."""

    def __init__(self, minimize, is_sparse=True):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
        with pm.program_guard(self.main, self.startup):
            ids = pm.layers.data("ids", [-1], dtype="int64")
            rows = pm.layers.embedding(ids, [7, 3], is_sparse=is_sparse, param_attr="table", dtype="float64")
            minimize(pm.layers.mean(pm.layers.square(pm.layers.fc(rows, 2))))
        pm.seed(1)
        self.exe.run(self.startup, scope=self.scope)

    def run(self, *feeds):
        for ids in feeds:
            self.exe.run(self.main, {"ids": np.array(ids)}, scope=self.scope)
        return {name: self.scope.get(name) for name in ("table", "fc_0.w_0")}


def assert_close(found, wanted, tolerance=1e-6):
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=tolerance, atol=tolerance, err_msg=name)


def goes_on_from_a_checkpoint(folder, through, first, second):
    """Three equal models: one trains through, one stops after 10 steps, one resumes from there; the same bits."""
    manager = pm.io.CheckpointManager(folder)
    for number in range(23):
        through.step(number)
    for number in range(10):
        first.step(number)
    manager.save(10, first.main, first.exe, first.scope)
    manager.restore(second.main, second.exe, second.scope)
    for number in range(10, 23):
        second.step(number)
    assert_same_bits(second.everything(), through.everything())


def gets_no_second_optimizer(first, second):
    """first: around SGD. Its model rejects the second, and has no more operators than before."""
    model = SmallModel(first.minimize)
    with pytest.raises(pm.ProgramError, match="already"), pm.program_guard(model.main, model.startup):
        second.minimize(model.loss)
    assert sum(op.type == "sgd" for op in model.main.global_block().ops) == len(model.parameters)
    model.step()
