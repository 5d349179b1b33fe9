"""Statistics of batch normalization for averaged parameters are computed from the data; training keeps its own."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Exponential, Uniform, Window
from paddle_mini.optimizer import ParameterAverage
from small_model import assert_same_bits

O = pm.optimizer
NAMES = ["batch_norm_0.w_1", "batch_norm_0.w_2", "batch_norm_1.w_1", "batch_norm_1.w_2"]


def feed(number, dtype="float64"):
    random = np.random.RandomState(number)
    x = (random.randn(16, 4) * [1, 2, 0.5, 1] + [0, 1, 2, 3]).astype(dtype)
    return {"x": x, "y": x[:, :1] * 2 - x[:, 1:2]}


class Normalized:
    """fc, batch normalization, tanh, fc, batch normalization, fc; with an average."""

    def __init__(self, average, dtype="float64", **normalization):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
        self.average, self.dtype = average, dtype
        with pm.program_guard(self.main, self.startup):
            self.x = pm.layers.data("x", [-1, 4], dtype=dtype)
            y = pm.layers.data("y", [-1, 1], dtype=dtype)
            hidden = pm.layers.batch_norm(pm.layers.fc(self.x, 5), act="tanh", epsilon=1e-3, **normalization)
            hidden = pm.layers.dropout(hidden, 0.3, dropout_implementation="upscale_in_train")
            self.out = pm.layers.fc(pm.layers.batch_norm(pm.layers.fc(hidden, 3)), 1)
            self.loss = pm.layers.mean(pm.layers.square(self.out - y))
            average.minimize(self.loss)
        pm.seed(2)
        self.exe.run(self.startup, scope=self.scope)

    def train(self, numbers):
        pm.seed(4)
        return np.array([self.exe.run(self.main, feed(number, self.dtype), [self.loss], self.scope)[0] for number in numbers])

    def everything(self):
        return {name: self.scope.get(name) for name in sorted(self.scope.names()) if "@average_state" not in name}

    def averages(self, scheme=None):
        with self.average.apply(self.exe, self.scope, scheme):
            return {name: self.scope.get(name) for name in self.scope.names()}

    def reestimate(self, numbers, scheme=None):
        data = [feed(number, self.dtype) for number in numbers]
        self.average.reestimate_batch_norm(self.exe, self.main, data, self.scope, scheme)

    def outputs(self, program):
        return self.exe.run(program, feed(99, self.dtype), [self.out.name], self.scope)[0]


def by_definition(values, numbers):
    """Means over the batches of each batch's mean and biased variance at both layers; and the network's output with
    them on batch 99."""
    first, second = ([values[f"batch_norm_{i}.{kind}_0"] for kind in "wb"] for i in (0, 1))
    found = []

    def forward(x, moments):
        hidden = x @ values["fc_0.w_0"] + values["fc_0.b_0"]
        mean, variance = moments(hidden, 0)
        hidden = np.tanh((hidden - mean) / np.sqrt(variance + 1e-3) * first[0] + first[1])
        hidden = hidden @ values["fc_1.w_0"] + values["fc_1.b_0"]
        mean, variance = moments(hidden, 1)
        hidden = (hidden - mean) / np.sqrt(variance + 1e-5) * second[0] + second[1]
        return hidden @ values["fc_2.w_0"] + values["fc_2.b_0"]

    def of_batch(hidden, _):
        found.extend([hidden.mean(0), hidden.var(0)])
        return found[-2:]

    for number in numbers:
        forward(feed(number)["x"], of_batch)
    means = [np.mean(found[i::4], 0) for i in range(4)]
    return dict(zip(NAMES, means)), forward(feed(99)["x"], lambda _, i: means[2 * i : 2 * i + 2])


def assert_close(found, expected, tolerance):
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=tolerance, atol=tolerance, err_msg=name)


SCHEMES = [Uniform(), Exponential(0.8), Window(4)]


@pytest.mark.parametrize("buffers", ["copy", "average"])
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-10), ("float32", 2e-5)])
def test_they_are_those_of_the_data_with_averaged_parameters(dtype, tolerance, scheme, buffers, monkeypatch):
    # The folded batch_norm rounds otherwise: only operators as they are written have the same bits.
    monkeypatch.setenv("PM_PASSES", "fuse")
    net = Normalized(ParameterAverage(O.Adam(0.05), scheme, buffers=buffers), dtype)
    net.train(range(13))
    before = net.averages()
    expected, out = by_definition({name: value.astype("float64") for name, value in before.items()}, range(5))
    net.reestimate(range(5))
    found = net.averages()
    assert any(np.abs(found[name] - before[name]).max() > 1e-2 for name in NAMES)
    assert_close(found, expected, tolerance)
    assert_close(found, {name: before[name] for name in ("fc_0.w_0", "batch_norm_1.w_0")}, 0)
    testing = net.main.clone(for_test=True)
    with net.average.apply(net.exe, net.scope):
        applied = net.outputs(testing)
    np.testing.assert_allclose(applied, out, rtol=10 * tolerance, atol=10 * tolerance)
    assert net.outputs(net.average.program(testing)).tobytes() == applied.tobytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda: ParameterAverage(O.Adam(0.05), Window(4)),
        lambda: O.ScheduleFree(O.Adam(0.05, beta1=0.0)),
        lambda: ParameterAverage(O.Adam(0.05), Window(4), buffers="average"),
        lambda: O.AveragedSGD(0.1),
    ],
    ids=["ParameterAverage", "ScheduleFree", "buffers averaged", "AveragedSGD"],
)
def test_training_changes_by_no_bit(make):
    measured, plain = (Normalized(make()) for _ in range(2))
    for first in range(0, 15, 5):
        assert measured.train(range(first, first + 5)).tobytes() == plain.train(range(first, first + 5)).tobytes()
        before = measured.everything()
        measured.reestimate(range(3))
        assert_same_bits(measured.everything(), before)
        assert_same_bits(measured.everything(), plain.everything())


def test_calling_it_again_replaces_them():
    net = Normalized(ParameterAverage(O.Adam(0.05), Window(4), buffers="average"))
    for numbers in (range(3), range(4, 9)):
        net.train(range(7))
        net.reestimate(range(20, 21))
        net.reestimate(numbers)
        expected, out = by_definition(net.averages(), numbers)
        assert_close(net.averages(), expected, 1e-10)
        testing = net.average.program(net.main.clone(for_test=True))
        np.testing.assert_allclose(net.outputs(testing), out, rtol=1e-9, atol=1e-9)


def test_each_scheme_has_its_own():
    net = Normalized(ParameterAverage(O.Adam(0.05), [Exponential(0.5), Uniform()]))
    net.train(range(9))
    before = net.averages()
    net.reestimate(range(4), Uniform())
    assert_close(net.averages(Uniform()), by_definition(net.averages(Uniform()), range(4))[0], 1e-10)
    assert_same_bits({name: net.averages()[name] for name in NAMES}, {name: before[name] for name in NAMES})
    net.reestimate(range(4))
    for scheme in (Exponential(0.5), Uniform()):
        assert_close(net.averages(scheme), by_definition(net.averages(scheme), range(4))[0], 1e-10)


def test_a_program_for_testing_will_do():
    """Its labels need not be fed if it has none."""
    net = Normalized(ParameterAverage(O.Adam(0.05), Uniform()))
    net.train(range(9))
    testing = net.main.clone(for_test=True).prune([net.x], [net.out])
    net.average.reestimate_batch_norm(net.exe, testing, ({"x": feed(number)["x"]} for number in range(4)), net.scope)
    assert_close(net.averages(), by_definition(net.averages(), range(4))[0], 1e-10)


def test_models_and_programs_have_them(tmp_path):
    net = Normalized(ParameterAverage(O.Adam(0.05), Window(4), buffers="average"))
    net.train(range(13))
    net.reestimate(range(5))
    expected, out = by_definition(net.averages(), range(5))
    net.average.save(tmp_path / "m", [net.x], [net.out], net.exe, scope=net.scope, raw=True)
    program, _, fetches = pm.io.load_inference_model(tmp_path / "m", scope=(scope := pm.Scope()))
    assert_close({name: scope.get(name) for name in NAMES}, expected, 1e-10)
    np.testing.assert_allclose(net.exe.run(program, {"x": feed(99)["x"]}, fetches, scope)[0], out, rtol=1e-9, atol=1e-9)
    pm.io.load_inference_model(tmp_path / "m.raw", scope=(raw := pm.Scope()))
    assert_same_bits({name: raw.get(name) for name in NAMES}, {name: net.scope.get(name) for name in NAMES})
    before = net.everything()
    net.exe.run(net.average.apply_program(keep_raw=True), scope=net.scope)
    assert_close({name: net.scope.get(name) for name in NAMES}, expected, 1e-10)
    net.exe.run(net.average.restore_program(), scope=net.scope)
    assert_same_bits({name: net.scope.get(name) for name in before}, before)


def test_a_layer_whose_statistics_training_reads_keeps_them():
    net = Normalized(ParameterAverage(O.Adam(0.05), Uniform()), use_global_stats=True)
    net.train(range(9))
    before = net.averages()
    net.reestimate(range(4))
    found = net.averages()
    assert_same_bits({name: found[name] for name in NAMES[:2]}, {name: before[name] for name in NAMES[:2]})
    assert all(np.abs(found[name] - before[name]).max() > 1e-3 for name in NAMES[2:])


def test_statistics_that_two_layers_share_are_of_both():
    names = {"moving_mean_name": "mean", "moving_variance_name": "variance"}
    main, startup, scope, exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
    average = ParameterAverage(O.SGD(0.1), Uniform())
    with pm.program_guard(main, startup):
        x = pm.layers.data("x", [-1, 4], dtype="float64")
        out = pm.layers.batch_norm(x, **names) + pm.layers.batch_norm(x * 3.0, **names)
        average.minimize(pm.layers.mean(pm.layers.square(pm.layers.fc(out, 2))))
    exe.run(startup, scope=scope)
    values = [feed(number)["x"] for number in range(4)]
    exe.run(main, {"x": values[0]}, scope=scope)
    average.reestimate_batch_norm(exe, main, [{"x": value} for value in values], scope)
    with average.apply(exe, scope):
        for name, expected in (
            ("mean", [value.mean(0) * 2 for value in values]),
            ("variance", [value.var(0) * 5 for value in values]),
        ):
            np.testing.assert_allclose(scope.get(name), np.mean(expected, 0), rtol=1e-9)


def test_a_network_whose_parameters_are_not_averaged():
    """Its statistics belong to the parameters it has."""
    net = Normalized(ParameterAverage(O.Adam(0.05), Uniform(), parameters=["fc_2.w_0"]))
    net.train(range(9))
    net.reestimate(range(4))
    values = {name: net.scope.get(name) for name in net.scope.names()}
    assert_close(net.averages(), by_definition(values, range(4))[0], 1e-10)


def test_what_is_refused():
    average = ParameterAverage(O.Adam(0.05), Uniform())
    with pytest.raises(pm.ProgramError, match="call minimize"):
        average.reestimate_batch_norm(pm.Executor(), pm.Program(), [])
    net = Normalized(average)
    net.train(range(3))
    before = net.averages()
    with pytest.raises(pm.ProgramError, match="hold no batch"):
        net.reestimate([])
    with pytest.raises(pm.ProgramError, match="no batch normalization"):
        net.average.reestimate_batch_norm(net.exe, pm.Program(), [feed(0)], net.scope)
    with pytest.raises(pm.ProgramError, match=r"Window\(3\) is not averaged"):
        net.reestimate([0], Window(3))
    with net.average.apply(net.exe, net.scope), pytest.raises(pm.OpError, match="applied already"):
        net.reestimate([0])
    with pm.program_guard(other := pm.Program(), startup := pm.Program()):
        pm.layers.batch_norm(pm.layers.data("x", [-1, 4], dtype="float64"), name="other")
    net.exe.run(startup, scope=net.scope)
    with pytest.raises(pm.ProgramError, match="has no variable 'other"):
        net.average.reestimate_batch_norm(net.exe, other, [{"x": feed(0)["x"]}], net.scope)
    assert_same_bits({name: net.averages()[name] for name in before}, before)


def test_a_frozen_layer_keeps_its_statistics():
    """Training reads them (is_test), and the program for testing does not tell it from the others."""
    main, startup, scope, exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
    average = ParameterAverage(O.SGD(0.1), Uniform())
    with pm.program_guard(main, startup):
        x = pm.layers.data("x", [-1, 4], dtype="float64")
        frozen = pm.layers.batch_norm(pm.layers.fc(x, 3), is_test=True, moving_mean_name="frozen")
        out = pm.layers.batch_norm(pm.layers.fc(frozen, 3), moving_mean_name="moving")
        average.minimize(pm.layers.mean(pm.layers.square(pm.layers.fc(out, 2))))
    exe.run(startup, scope=scope)
    data = [{"x": feed(number)["x"]} for number in range(4)]
    for batch in data:
        exe.run(main, batch, scope=scope)
    for program in (main, main.clone(for_test=True)):
        average.reestimate_batch_norm(exe, program, data, scope)
        before = {name: scope.get(name) for name in ("frozen", "moving")}
        with average.apply(exe, scope):
            assert scope.get("frozen").tobytes() == before["frozen"].tobytes()
            assert scope.get("moving").tobytes() != before["moving"].tobytes()
