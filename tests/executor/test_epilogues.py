"""epilogues: elementwise operators that run on parts of the output before them give the same bits."""

import numpy as np
import pytest

import paddle_mini as pm
import split_loops
from paddle_mini import _core, layers


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def threads(request):
    with split_loops.threads(request.param):
        yield


def images(channels, size, count=2):
    return np.random.default_rng(channels + size).normal(size=(count, channels, size, size)).astype("float32")


def convolution(x, filters, window, **how):
    return layers.conv2d(x, filters, window, bias_attr=False, **how)


def biased(out, kind):
    """The bias of each channel or column, an activation, and a second branch."""
    shape = [out.shape[1]] if kind == "channels" else [out.shape[-1]]
    bias = layers.create_parameter(shape, "float32", default_initializer=pm.initializer.Uniform(-1, 1, seed=5))
    return layers.elementwise_add(out, bias, axis=1 if kind == "channels" else -1)


# Each class of convolution of cpp/math/cpu; the sizes leave remainders everywhere.
CONVOLUTIONS = {
    "sums over taps": (3, 37, lambda x: convolution(x, 21, 3)),
    "several regions of one image": (4, 150, lambda x: convolution(x, 13, 1)),
    "parts of rows": (2, 50, lambda x: convolution(x, 5, (1, 3), stride=(1, 2), padding=(0, 1))),
    "depthwise": (19, 23, lambda x: convolution(x, 19, 3, groups=19, padding=1)),
    "Winograd": (32, 17, lambda x: convolution(x, 45, 3, padding=1)),
    "registers of filters": (64, 9, lambda x: convolution(x, 40, 3, stride=2, padding=1)),
    "patches": (8, 5, lambda x: convolution(x, 70, 3)),
    "groups": (8, 11, lambda x: convolution(x, 12, 3, groups=2)),
}


def results(build, feed, monkeypatch, fetch_inner=False):
    """The plan and the results of an inference program, with epilogues and without."""
    found = []
    for wanted in ("1", "0"):
        monkeypatch.setenv("PM_FUSE", wanted)
        main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
        main.random_seed = startup.random_seed = 3
        with pm.program_guard(main, startup), pm.unique_name.guard():
            x = layers.data("x", [-1, *feed.shape[1:]])
            inner, out = build(x)
        exe = pm.Executor()
        exe.run(startup, scope=scope)
        fetches = [inner, out] if fetch_inner else [out]
        plan = exe.plan_text(main, feed={"x": feed}, fetch_list=fetches, scope=scope)
        found.append((plan, exe.run(main, feed={"x": feed}, fetch_list=fetches, scope=scope)))
    return found


def assert_same_bits(found, operators):
    (plan, values), (apart, expected) = found
    assert plan.count("in parts with it") == operators and apart.count("in parts with it") == 0, plan
    for value, other in zip(values, expected, strict=True):
        np.testing.assert_array_equal(value, other)


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_bias_activation_and_sum_run_on_parts_of_a_convolution(name, threads, monkeypatch):
    channels, size, convolve = CONVOLUTIONS[name]

    def build(x):
        branch = layers.softmax(convolve(x))
        out = biased(convolve(x), "channels")
        return out, layers.relu6(layers.elementwise_add(out, branch))

    assert_same_bits(results(build, images(channels, size), monkeypatch), 3)


def bias_of(shape):
    return layers.create_parameter(shape, "float32", default_initializer=pm.initializer.Uniform(-1, 1, seed=5))


# Operators after a convolution whose output is 2 x 8 x 6 x 8, in the registers of its kernel or not; and their number.
FOLLOWERS = {
    "limits": (lambda out, other: layers.relu6(out), 1),
    "limits that are infinite": (lambda out, other: layers.relu(out), 1),
    "limits before a bias": (lambda out, other: biased(layers.relu6(out), "channels"), 2),
    "two limits": (lambda out, other: layers.relu6(layers.relu(out)), 2),
    "two biases": (lambda out, other: biased(biased(out, "channels"), "channels"), 2),
    "a bias along the last axis": (lambda out, other: layers.relu(biased(out, "columns")), 2),
    "a bias of images": (lambda out, other: layers.elementwise_add(out, bias_of([2, 1, 1, 1])), 1),
    "a bias of one number": (lambda out, other: layers.elementwise_add(out, bias_of([1])), 1),
    "a bias of channels and rows": (lambda out, other: layers.elementwise_add(out, bias_of([8, 6, 1])), 1),
    "the output twice": (lambda out, other: layers.relu(layers.elementwise_add(out, out)), 2),
    "the output second": (lambda out, other: layers.relu(layers.elementwise_add(other, out)), 2),
    "two sums": (lambda out, other: layers.elementwise_add(layers.elementwise_add(out, other), other), 2),
    "a sum before a bias": (lambda out, other: biased(layers.elementwise_add(out, other), "channels"), 2),
    "limits before a sum": (lambda out, other: layers.relu(layers.elementwise_add(layers.relu6(out), other)), 3),
    "a product with the output": (lambda out, other: layers.elementwise_mul(layers.relu6(out), out), 2),
}


@pytest.mark.parametrize("name", FOLLOWERS)
@pytest.mark.parametrize("window", [1, 3])
def test_steps_in_any_order_have_the_same_bits(name, window, threads, monkeypatch):
    """With NaN, infinities and zeros with a sign in the images."""
    follow, operators = FOLLOWERS[name]
    feed = images(5, 8)[:, :, :6]
    feed[0, :, 1, :5] = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0])
    feed[1] = -0.0

    def build(x):
        other = layers.softmax(convolution(x, 8, window, padding=window // 2))
        out = convolution(x, 8, window, padding=window // 2)
        return out, follow(out, other)

    found = results(build, feed, monkeypatch)
    assert_same_bits(found, operators)
    (_, (value,)), (_, (expected,)) = found
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(value[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize(
    "sizes", [(3, 5, 7), (2, 40, 300), (16, 64, 90), (70, 33, 20), (40, 600, 1100), (200, 700, 3), (300, 20, 45)], ids=str
)
def test_they_run_on_parts_of_a_product(sizes, threads, monkeypatch):
    rows, depth, columns = sizes
    feed = np.random.default_rng(0).normal(size=(rows, depth)).astype("float32")

    def build(x):
        other = layers.softmax(layers.fc(x, columns, bias_attr=False))
        out = biased(layers.fc(x, columns, bias_attr=False), "columns")
        return out, layers.gelu(layers.relu6(layers.elementwise_add(out, other)))

    assert_same_bits(results(build, feed, monkeypatch), 4)


def test_they_run_on_parts_of_a_batch_of_products(threads, monkeypatch):
    def build(x):
        product = layers.matmul(x, x, transpose_y=True)
        return product, layers.tanh(layers.scale(biased(product, "columns"), scale=0.5, bias=1.0))

    assert_same_bits(results(build, images(5, 37), monkeypatch), 3)


def test_a_value_inside_is_fetched_as_it_was(monkeypatch):
    def build(x):
        out = convolution(x, 32, 3, padding=1)
        return out, layers.relu(out)

    found = results(build, images(32, 17), monkeypatch, fetch_inner=True)
    assert_same_bits(found, 1)
    assert (found[0][1][0] < 0).any()


def test_a_sum_does_not_overwrite_what_the_convolution_still_reads(threads, monkeypatch):
    """x, which nothing reads later, has the bytes of the sum: but neighbouring pixels still need it."""

    def build(x):
        x = layers.softmax(x)
        out = convolution(x, 4, 3, padding=1)
        return out, layers.elementwise_add(x, out)

    assert_same_bits(results(build, images(4, 100), monkeypatch), 1)  # several regions of an image, one after the other


def test_channels_last_and_other_types_have_the_same_bits(monkeypatch):
    def build(x):
        out = convolution(layers.cast(x, "float64"), 6, 3, data_format="NHWC")
        return out, layers.relu(out)

    assert_same_bits(results(build, images(9, 9), monkeypatch), 1)


def trained(monkeypatch, fuse):
    monkeypatch.setenv("PM_FUSE", fuse)
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    main.random_seed = startup.random_seed = 3
    with pm.program_guard(main, startup), pm.unique_name.guard():
        x, label = layers.data("x", [-1, 3, 12, 12]), layers.data("label", [-1, 1], "int64")
        hidden = layers.conv2d(x, 8, 3, act="relu", padding=1)
        hidden = layers.relu(layers.elementwise_add(layers.batch_norm(hidden), hidden))
        hidden = layers.fc(hidden, 20, act="gelu")
        loss = layers.mean(layers.softmax_with_cross_entropy(layers.fc(hidden, 4), label))
        pm.optimizer.Adam(0.01).minimize(loss)
    exe = pm.Executor()
    exe.run(startup, scope=scope)
    feed = {"x": images(3, 12, 6), "label": np.arange(6).reshape(6, 1) % 4}
    losses = [exe.run(main, feed=feed, fetch_list=[loss], scope=scope)[0] for _ in range(3)]
    plan = exe.plan_text(main, feed=feed, fetch_list=[loss], scope=scope)
    return plan, [np.asarray(losses), *(scope.get(name) for name in sorted(scope.names()))]


def test_training_has_the_same_bits(threads, monkeypatch):
    (plan, values), (apart, expected) = trained(monkeypatch, "1"), trained(monkeypatch, "0")
    assert plan.count("in parts with it") >= 6 and apart.count("in parts with it") == 0, plan
    for value, other in zip(values, expected, strict=True):
        np.testing.assert_array_equal(value, other)


def test_a_check_names_the_operator_whose_value_an_activation_hides():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        x = layers.data("x", [-1, 4])
        out = layers.relu6(layers.scale(layers.fc(x, 3, bias_attr=False), scale=2.0))
    exe, feed = pm.Executor(), {"x": np.full((2, 4), 3e38, "float32")}
    exe.run(startup)
    assert "in parts with it: relu6" in exe.plan_text(main, feed=feed, fetch_list=[out])
    with pytest.raises(pm.OpError, match="mul"), pm.check_finite():
        exe.run(main, feed=feed, fetch_list=[out])


def test_ranges_of_any_length_have_the_same_bits(monkeypatch):
    def build(x):
        out = biased(convolution(x, 7, 3), "channels")
        return out, layers.swish(out)

    _core.set_epilogue_tile(5)
    try:
        assert_same_bits(results(build, images(3, 20), monkeypatch), 2)
    finally:
        _core.set_epilogue_tile()


@pytest.mark.parametrize("filters", [3, 16], ids=["in float32", "in tiles where the CPU has them"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_activations_of_convolutions_of_bfloat16(filters, layout, threads, monkeypatch):
    def build(x):
        return None, layers.relu(convolution(layers.cast(x, "bfloat16"), filters, 3, data_format=layout))

    (_, (value,)), (_, (expected,)) = results(build, images(9, 9), monkeypatch)
    np.testing.assert_array_equal(value, expected)
    assert not (value >> 15).any()  # no negative number
