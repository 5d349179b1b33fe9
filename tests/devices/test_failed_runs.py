"""A run that fails does not affect the pending asynchronous work of the previous run."""

import numpy as np
import pytest

import paddle_mini as pm
from small_model import assert_same_bits, batch


def trained(place, wrong):
    """Two steps with averages on the CPU, and optionally a third with a label that is out of range."""
    main, startup, scope, exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor(place)
    with pm.program_guard(main, startup):
        x, label = pm.layers.data("x", shape=[-1, 6]), pm.layers.data("label", shape=[-1, 1], dtype="int64")
        logits = pm.layers.fc(pm.layers.fc(x, 300, act="tanh"), 3)
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
        optimizer = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Exponential(0.9), place=pm.CPUPlace())
        optimizer.minimize(loss)
    pm.seed(3)
    exe.run(startup, scope=scope)
    for number in range(2):
        exe.run(main, batch(number), [loss], scope)
    if wrong:
        feed = batch(2)
        feed["label"] = np.where(np.arange(8) == 3, 7, feed["label"][:, 0])[:, None]
        with pytest.raises(pm.OpError, match="label 7 in row 3 is out of range"):
            exe.run(main, feed, [loss], scope)
    return {name: scope.get(name) for name in main.global_block().vars if name in scope}


def test_averages_of_the_step_before_are_whole(place):
    if isinstance(place, pm.EmulatedPlace):
        pm.devices.emulate(0, latency=2e-3)  # so that they are still pending when the last step fails
    assert_same_bits(trained(place, True), trained(place, False))
