"""Updates of many parameters and their averages, which a GPU launches together: the same as on the CPU, one by one."""

import numpy as np
import pytest

import paddle_mini as pm

SIZES = (1, 5, 1027, 4096, 9001)  # with and without a rest of a load of 16 bytes; more than one chunk
STEPS = 40  # blocks of an average end in between
OPTIMIZERS = {
    "sgd": lambda: pm.optimizer.SGD(0.1),
    "momentum": lambda: pm.optimizer.Momentum(0.1, 0.9),
    "adam": lambda: pm.optimizer.Adam(0.01),
    "adamw": lambda: pm.optimizer.AdamW(0.01, weight_decay=0.1),
    "rmsprop": lambda: pm.optimizer.RMSProp(0.01),  # its averages are launched after it
}
SCHEMES = {
    "exponential": pm.averaging.Exponential(0.99),
    "large weights": pm.averaging.Exponential(0.8),
    "window": pm.averaging.Window(7),
    "several": [pm.averaging.Exponential(0.99), pm.averaging.Uniform(), pm.averaging.Window(7)],
}


class Updates:
    """An optimizer and averages on gradients that are given."""

    def __init__(self, optimizer, scheme, place, averaged):
        self.main, startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor(place)
        with pm.program_guard(self.main, startup):
            self.parameters = [pm.layers.create_parameter([size], name=f"p{size}") for size in SIZES]
            gradients = [pm.layers.data(f"g{size}", [size]) for size in SIZES]
            names = [parameter.name for parameter in self.parameters if int(parameter.name[1:]) in averaged]
            average = pm.optimizer.ParameterAverage(OPTIMIZERS[optimizer](), SCHEMES[scheme], parameters=names)
            average.apply_gradients(list(zip(self.parameters, gradients)))
        pm.seed(1)
        self.exe.run(startup, scope=self.scope)

    def run(self):
        draw = np.random.default_rng(2)
        for _ in range(STEPS):
            feed = {f"g{size}": draw.standard_normal(size).astype("float32") for size in SIZES}
            self.exe.run(self.main, feed, [], self.scope)
        return {name: self.scope.get(name) for name in sorted(self.scope.names())}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_updates_and_averages(place, optimizer, scheme):
    averaged = SIZES[1:] if optimizer == "momentum" else SIZES
    there, here = (Updates(optimizer, scheme, on, averaged).run() for on in (place, pm.CPUPlace()))
    assert there.keys() == here.keys()
    for name, value in here.items():
        # The weights of averages are computed with a logarithm, which a GPU rounds otherwise.
        np.testing.assert_allclose(there[name], value, 1e-5, 1e-6, err_msg=name)
        if name in {f"p{size}" for size in SIZES}:
            assert there[name].tobytes() == value.tobytes(), name


def test_one_launch_updates_and_averages(place):
    if not place.name.startswith("gpu"):
        pytest.skip("only a GPU launches them together")
    updates = Updates("adam", "exponential", place, SIZES)
    feed = {f"g{size}": np.zeros(size, "float32") for size in SIZES}
    text = updates.exe.plan_text(updates.main, feed, [], updates.scope)
    assert text.count("launched with it: parameter_average(") == len(SIZES), text
