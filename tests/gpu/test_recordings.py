"""A plan's launches are recorded after two runs and launched as one: the same results with other feeds and values as
without."""

import numpy as np
import pytest

import paddle_mini as pm
from small_model import SmallModel, assert_same_bits, batch


def trained(place, monkeypatch, graphs):
    monkeypatch.setenv("PM_GRAPHS", graphs)
    model = SmallModel(
        lambda loss: pm.optimizer.ParameterAverage(
            pm.optimizer.Momentum(0.1, 0.9), [pm.averaging.Window(3), pm.averaging.Uniform()]
        ).minimize(loss),
        place=place,
    )
    losses = [model.step(number) for number in range(6)]
    name = model.parameters[0]
    model.scope.set(name, model.scope.get(name) * 2)  # the same memory
    losses += [model.step(number) for number in range(3)]
    value = model.scope.get(name)
    model.scope.erase(name)
    model.scope.set(name, value)  # other memory
    losses += [model.step(number) for number in range(6)]
    pm.Executor(pm.CPUPlace()).run(model.main, batch(1), [], model.scope)  # everything moves to the CPU, and back
    losses += [model.step(number) for number in range(6)]
    return np.array(losses), model.everything()


def test_recordings_change_nothing(place, monkeypatch):
    if not place.name.startswith("gpu"):
        pytest.skip("only GPUs record")
    (with_graphs, values), (without, same) = trained(place, monkeypatch, "1"), trained(place, monkeypatch, "0")
    np.testing.assert_array_equal(with_graphs, without)
    assert_same_bits(values, same)
