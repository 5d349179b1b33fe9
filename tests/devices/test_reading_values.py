"""scope.get(copy=False) of values that are in the memory of the host while a program runs on a device."""

import numpy as np
import pytest

import paddle_mini as pm

L = pm.layers
FEED = {"x": np.ones((1, 2), "float32")}


def trained(place):
    """A network on the device, whose averages are on the host."""
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        loss = L.mean(L.fc(L.data("x", [-1, 2]), 3, param_attr=pm.ParamAttr(name="w"), bias_attr=False))
        optimizer = pm.optimizer.SGD(0.5)
        pm.optimizer.ParameterAverage(optimizer, pm.averaging.Exponential(0.5), place=pm.CPUPlace()).minimize(loss)
    exe, scope = pm.Executor(place), pm.Scope()
    exe.run(startup, scope=scope)
    exe.run(main, FEED, scope=scope)
    return exe, main, scope


def test_values_of_a_device_are_refused(place):
    _, _, scope = trained(place)
    with pytest.raises(pm.DeviceError, match=f"'w' is on {place.name}, from where get.. copies it"):
        scope.get("w", copy=False)
    assert scope.get("w").shape == (2, 3)


def test_averages_of_the_host_keep_the_value_that_was_read(place):
    exe, main, scope = trained(place)
    names = [name for name in scope.names() if scope.place(name) == "cpu"]
    views, copies = [], []
    for _ in range(4):
        views.append([scope.get(name, copy=False) for name in names])
        copies.append([scope.get(name) for name in names])
        for _ in range(2):  # the second one begins while averages of the first one are computed
            exe.run(main, FEED, scope=scope)
    for held, copied in zip(views, copies):
        assert all(np.array_equal(view, copy) for view, copy in zip(held, copied))
    assert any(not np.array_equal(a, b) for a, b in zip(copies[0], copies[-1]))


def test_a_parameter_that_moves_to_the_device(place):
    exe, main, scope = trained(place)
    value = np.full((2, 3), 7, "float32")
    scope.set("w", value)
    pm.Executor().run(main, FEED, scope=scope)  # on the host
    held = scope.get("w", copy=False)
    copy = held.copy()
    for _ in range(2):
        exe.run(main, FEED, scope=scope)
    assert scope.place("w") == place.name and np.array_equal(held, copy) and not np.array_equal(held, scope.get("w"))
