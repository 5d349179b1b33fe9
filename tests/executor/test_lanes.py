"""lanes: in training, small images stay side by side from convolution to convolution."""

import numpy as np
import pytest

import paddle_mini as pm


def convolution(x, filters, size=3, stride=1, act=None, bias=False):
    x = pm.layers.conv2d(x, filters, size, stride, size // 2, bias_attr=None if bias else False)
    return pm.layers.batch_norm(x, act=act)


def residual(x, bias=False):
    """Two blocks as of a ResNet; the second one has a shortcut with stride 2."""
    x = convolution(x, 16, act="relu", bias=bias)
    for filters, stride in ((16, 1), (24, 2)):
        shortcut = x if stride == 1 else convolution(x, filters, 1, stride, bias=bias)
        inner = convolution(convolution(x, filters, 3, stride, "relu", bias), filters, bias=bias)
        x = pm.layers.relu(inner + shortcut)
    return x


def with_biases(x):
    return residual(x, bias=True)


def with_activations(x):
    x = pm.layers.conv2d(x, 8, 3, padding=1, act="tanh")
    for act in ("sigmoid", "leaky_relu", "swish"):
        x = pm.layers.conv2d(x, 8, 3, padding=1, groups=2, act=act) * 1.5 + x
    return x


class Model:
    def __init__(self, body=residual, images=32, size=12, dtype="float32", train=True):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
        self.startup.random_seed = 5
        draw = np.random.default_rng(3)
        self.feed = {"x": draw.standard_normal((images, 3, size, size)).astype(dtype), "label": draw.integers(0, 5, (images, 1))}
        with pm.program_guard(self.main, self.startup), pm.unique_name.guard():
            x = pm.layers.data("x", [-1, 3, size, size], dtype)
            self.inner = body(x)
            pooled = pm.layers.pool2d(self.inner, pool_type="avg", global_pooling=True)
            logits = pm.layers.fc(pooled, 5)
            self.loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, pm.layers.data("label", [-1, 1], "int64")))
            if train:
                pm.optimizer.Momentum(0.05, 0.9).minimize(self.loss)
        self.exe.run(self.startup, scope=self.scope)

    def steps(self, count=4, fetch=(), threads=1):
        exe = pm.Executor(threads=threads)
        return [exe.run(self.main, self.feed, [self.loss, *fetch], self.scope) for _ in range(count)]

    def operators(self, fetch=()):
        table = self.exe.plan_text(self.main, self.feed, [self.loss, *fetch], self.scope, stage="lanes")
        return [line.split()[1].split("(")[0] for line in table.splitlines() if line.startswith("#")]

    def values(self):
        return {name: self.scope.get(name) for name in sorted(self.scope.names())}


def in_lanes(model, **arguments):
    return sum(name.startswith("conv2d_in_lanes") for name in model.operators(**arguments))


@pytest.fixture(autouse=True)
def float_registers():
    if in_lanes(Model()) == 0:
        pytest.skip("the registers of this CPU's kernels hold one number")


@pytest.mark.parametrize(
    "body, copies", [(residual, 3), (with_biases, 3), (with_activations, 3)], ids=["residual", "biases", "activations"]
)
def test_training_is_that_of_images(monkeypatch, body, copies):
    """Images become lanes once; one copy goes to the pooling, and one comes back from its gradient."""
    model, other = Model(body), Model(body)
    operators = model.operators()
    assert not {"conv2d", "conv2d_grad"} & set(operators)
    assert sum(name.startswith("images_") for name in operators) == copies
    found = model.steps()
    monkeypatch.setenv("PM_PASSES", "")
    assert not any("lanes" in name for name in other.operators())
    expected = other.steps()
    np.testing.assert_allclose(np.array(found).ravel(), np.array(expected).ravel(), rtol=2e-5)
    for name, value in other.values().items():
        np.testing.assert_allclose(model.values()[name], value, rtol=2e-3, atol=2e-5, err_msg=name)


def test_one_step_is_as_exact_as_without_the_pass(monkeypatch):
    """Gradients beside those in float64, which has no lanes here."""
    errors = {}
    for passes in ("lanes", ""):
        monkeypatch.setenv("PM_PASSES", passes)
        narrow, wide = Model(), Model(dtype="float64")
        for name in wide.scope.names():
            wide.scope.set(name, narrow.scope.get(name).astype(wide.scope.get(name).dtype))
        gradients = [p.name + "@GRAD" for p in narrow.main.all_parameters() if len(p.shape) == 4]
        found, expected = narrow.steps(1, gradients)[0], wide.steps(1, gradients)[0]
        assert in_lanes(wide) == 0
        errors[passes] = max(np.abs(a - b).max() / np.abs(b).max() for a, b in zip(found[1:], expected[1:]))
    assert errors["lanes"] < max(2 * errors[""], 1e-5)


def with_computed_filters(x):
    """Images of one convolution are the filters of another one; and of themselves."""
    for _ in range(6):  # so many that the pass takes the copies of the filters
        x = convolution(x, 16, act="tanh")
    filters = convolution(x, 16, act="tanh")
    for image in (x, filters):
        out = x.block.create_var(name=pm.unique_name.generate("out"), shape=[-1, 16, -1, -1], dtype="float32")
        x.block.append_op("conv2d", {"Input": image, "Filter": filters}, {"Output": out}, {"paddings": [1, 1]})
        x = x + out * 0.01
    for _ in range(3):
        x = convolution(x, 16)
    return x


def test_filters_that_a_convolution_has_computed(monkeypatch):
    model, other = Model(with_computed_filters, 16, 3), Model(with_computed_filters, 16, 3)
    assert in_lanes(model) > 0
    found = model.steps(2)
    monkeypatch.setenv("PM_PASSES", "")
    np.testing.assert_allclose(np.array(found).ravel(), np.array(other.steps(2)).ravel(), rtol=1e-4)


def test_an_inner_variable_that_is_fetched_has_its_shape_and_value(monkeypatch):
    model, other = Model(), Model()
    inner = [op.output("Y")[0] for op in model.main.global_block().ops if op.type == "batch_norm"]
    found = model.steps(2, [*inner, model.inner])[1]
    monkeypatch.setenv("PM_PASSES", "")
    expected = other.steps(2, [*inner, other.inner])[1]
    for a, b in zip(found, expected):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def test_any_number_of_threads_gives_the_same_bits():
    models = {threads: Model() for threads in (1, 2, 3)}
    for threads, model in models.items():
        model.steps(3, threads=threads)
    for name, value in models[1].values().items():
        for model in models.values():
            np.testing.assert_array_equal(model.values()[name], value)


def test_batches_that_do_not_fill_the_lanes_alternate_with_those_that_do(monkeypatch):
    model, other = Model(), Model()
    feeds = [{name: value[:count] for name, value in model.feed.items()} for count in (32, 20, 32, 7, 16)]

    def losses(trained):
        return [float(trained.exe.run(trained.main, feed, [trained.loss], trained.scope)[0]) for feed in feeds]

    found = losses(model)
    monkeypatch.setenv("PM_PASSES", "")
    np.testing.assert_allclose(found, losses(other), rtol=5e-4)


@pytest.mark.parametrize(
    "model",
    [
        lambda: Model(images=30),
        lambda: Model(dtype="float64"),
        lambda: Model(train=False),
        lambda: Model(lambda x: pm.layers.conv2d(x, 8, 3)),  # two copies for two convolutions
        lambda: Model(lambda x: pm.layers.pool2d(pm.layers.conv2d(pm.layers.pool2d(pm.layers.conv2d(x, 8, 3), 2), 8, 3), 2)),
        lambda: Model(lambda x: convolution(convolution(pm.layers.conv2d(x, 400, 3), 400), 400), size=5),  # long rows of inputs
    ],
    ids=["part of the lanes", "float64", "inference", "one convolution", "pooling between them", "many channels"],
)
def test_what_does_not_gain_stays(model):
    assert in_lanes(model()) == 0


def test_devices_and_other_layouts_stay():
    model = Model()
    model.exe = pm.Executor(pm.EmulatedPlace(0))
    assert in_lanes(model) == 0

    def last(x):
        x = pm.layers.transpose(x, [0, 2, 3, 1])
        for _ in range(3):
            x = pm.layers.batch_norm(pm.layers.conv2d(x, 8, 3, data_format="NHWC"), data_layout="NHWC")
        return pm.layers.transpose(x, [0, 3, 1, 2])

    assert in_lanes(Model(last)) == 0


def test_images_of_sequences_stay(monkeypatch):
    """Their offsets count images."""
    model, other = Model(), Model()
    for one in (model, other):
        one.feed["x"] = pm.LoDTensor(one.feed["x"], [[0, 5, 32]])
        one.main.global_block().var("x").lod_level = 1
    assert in_lanes(model) == 0
    found = model.steps(2)
    monkeypatch.setenv("PM_PASSES", "")
    np.testing.assert_array_equal(found, other.steps(2))
