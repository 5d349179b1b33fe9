"""Observed runs on a device: times of its operators and transfers, and values that are not finite."""

import numpy as np
import pytest

import paddle_mini as pm
from small_model import SmallModel, assert_same_bits, batch


def averaged(place):
    optimizer = pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.1), pm.averaging.Window(3), place=pm.CPUPlace())
    return SmallModel(optimizer.minimize, place=place)


def test_watched_and_other_runs_may_alternate(place):
    """A recorded section of a device's queue is run step by step while it is watched."""
    model, same = averaged(place), averaged(place)
    for number in range(8):
        if number in (3, 4, 6):
            with pm.profile() as profile, pm.check_finite():
                model.step(number)
        else:
            model.step(number)
        same.step(number)
    assert_same_bits(model.everything(), same.everything())
    assert {row.place for row in profile.rows} == {"cpu", place.name}
    adam = [row for row in profile.rows if row.operator.startswith("adam") and row.place == place.name]
    assert adam and all(row.microseconds > 0 and row.flops for row in adam)
    assert any(row.operator.endswith("to host") for row in profile.rows)


@pytest.mark.parametrize("runs_before", [0, 4])
def test_a_value_that_is_not_finite_is_named_and_undone(place, runs_before):
    model = averaged(place)
    for number in range(runs_before):
        model.step(number)
    before = model.everything()
    feed = batch(0)
    feed["x"] = np.where(feed["x"] > 1, np.inf, feed["x"]).astype("float32")
    with pm.check_finite(), pytest.raises(pm.OpError, match="^mul: Out 'fc_0.tmp_0'") as caught:
        model.exe.run(model.main, feed, [model.loss], model.scope)
    assert "small_model.py" in str(caught.value).splitlines()[-1]
    assert_same_bits(model.everything(), before)
    model.step()


def test_a_value_on_the_device_overflows_in_the_optimizer(place):
    x = pm.layers.data("x", shape=[-1, 4])
    loss = pm.layers.mean(pm.layers.fc(x, 4, bias_attr=False))
    pm.optimizer.SGD(3e38).minimize(loss)
    exe, scope = pm.Executor(place), pm.global_scope()
    exe.run(pm.default_startup_program())
    before = {name: scope.get(name) for name in scope.names()}
    with pm.check_finite(), pytest.raises(pm.OpError, match="^sgd: ParamOut 'fc_0.w_0'.* 16 infinite"):
        exe.run(feed={"x": np.full((2, 4), 1e3, "float32")}, fetch_list=[loss])
    assert_same_bits({name: scope.get(name) for name in scope.names()}, before)
