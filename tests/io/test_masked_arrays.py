"""Masked arrays are refused wherever arrays go in: their mask would be lost, and what it hides would be used."""

import numpy as np
import pytest

import paddle_mini as pm

MASKED = np.ma.masked_array(np.ones((2, 4), "float32"), mask=[[0, 1, 0, 0]] * 2)


def feed(value):
    y = pm.layers.relu(pm.layers.data("x", [-1, 4]))
    pm.Executor().run(feed={"x": value}, fetch_list=[y])


def state(value):
    pm.layers.create_parameter([2, 4], name="w")
    pm.io.set_state(pm.default_main_program(), {"w": value})


def native(value):
    return pm.optimizer.NativeOptimizer(pm.optimizer.SGD(0.1).to_config(), value)


USES = {
    "a feed": feed,
    "a sequence": lambda value: feed(pm.LoDTensor(value, [[0, 2]])),
    "Scope.set": lambda value: pm.Scope().set("x", value),
    "set_state": state,
    "save_state": lambda value: pm.io.save_state("state.pdparams", {"w": value}),
    "assign": lambda value: pm.layers.assign(value),
    "an initial value": pm.initializer.NumpyArrayInitializer,
    "a parameter of the C library": native,
    "a gradient of the C library": lambda value: native(np.ones((2, 4), "float32")).update(value),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_masked_array_is_refused(use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pm.ShapeError, match=r"masked array; (pass|give) its filled\(value\)"):
        use(MASKED)
    assert not any(tmp_path.iterdir())
    use(MASKED.filled(0))
