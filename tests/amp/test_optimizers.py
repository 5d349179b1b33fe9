"""Mixed precision with every optimizer: training gives what float32 gives, up to rounding."""

import functools

import numpy as np
import pytest

import paddle_mini as pm
from optimizers import OPTIMIZERS
from paddle_mini import layers

RANDOM = np.random.default_rng(7)
FEED = {"x": RANDOM.standard_normal((16, 6)).astype("float32"), "y": RANDOM.standard_normal((16, 2)).astype("float32")}
DTYPES = {"bfloat16": {}, "float16": {"init_loss_scaling": 1024.0}}


def losses(optimizer, steps=6):
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        x, y = layers.data("x", [-1, 6]), layers.data("y", [-1, 2])
        loss = layers.mean(layers.square_error_cost(layers.fc(layers.fc(x, 8, act="tanh"), 2), y))
        optimizer.minimize(loss)
        exe = pm.Executor()
        pm.seed(5)
        exe.run(pm.default_startup_program())
        return [float(exe.run(feed=FEED, fetch_list=[loss])[0]) for _ in range(steps)]


@functools.cache
def of_float32(optimizer):
    return losses(OPTIMIZERS[optimizer]())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("level", ["O1", "O2"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_follows_float32(optimizer, level, dtype):
    wide = of_float32(optimizer)
    narrow = losses(pm.amp.decorate(OPTIMIZERS[optimizer](), dtype=dtype, level=level, **DTYPES[dtype]))
    assert narrow != wide
    assert narrow == pytest.approx(wide, rel=0.03 if dtype == "bfloat16" else 0.005)


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_functions_of_a_parameter_get_that_of_the_network(level):
    """Not its master, whose name is not the one that was given."""
    seen = []

    def named(parameter):
        seen.append(getattr(parameter, "name", parameter))
        return 1.0

    for optimizer in (
        pm.optimizer.AdamW(0.1, apply_decay_param_fun=named, lr_ratio=named),
        pm.optimizer.Lamb(0.1, exclude_from_weight_decay_fn=named),
    ):
        with pm.program_guard(pm.Program(), pm.Program()):
            loss = layers.mean(layers.fc(layers.data("x", [-1, 6]), 2, param_attr="w", bias_attr="b"))
            pm.amp.decorate(optimizer, level=level).minimize(loss)
    assert set(seen) == {"w", "b"}
