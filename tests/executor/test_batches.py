"""batches: operators run for a few entries of a batch at a time, and give the same bits."""

import re

import numpy as np
import pytest

import paddle_mini as pm
import split_loops
from paddle_mini import _core, layers


@pytest.fixture(autouse=True)
def small_batches():
    """Splits batches of any size: one entry at a time."""
    with split_loops.threads(1, None):
        _core.set_batch_bytes(0)
        try:
            yield
        finally:
            _core.set_batch_bytes()


def images(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


def convolution(x, filters, window=3, **how):
    return layers.conv2d(x, filters, window, padding=how.pop("padding", window // 2), **how)


class Model:
    """An inference program, and its runs with the pass and without."""

    def __init__(self, build, shape):
        self.main, startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        self.main.random_seed = startup.random_seed = 3
        with pm.program_guard(self.main, startup), pm.unique_name.guard():
            self.fetches = build(layers.data("x", [-1, *shape[1:]]))
        self.exe = pm.Executor()
        self.exe.run(startup, scope=self.scope)
        self.feed = {"x": images(*shape)}

    def plan(self):
        return self.exe.plan_text(self.main, feed=self.feed, fetch_list=self.fetches, scope=self.scope)

    def run(self, feed=None):
        return self.exe.run(self.main, feed=feed or self.feed, fetch_list=self.fetches, scope=self.scope)

    def run_whole(self, monkeypatch, feed=None):
        with monkeypatch.context() as patch:
            patch.setenv("PM_PASSES", "fold,constants,fuse,epilogues")
            exe = pm.Executor()
            assert "parts of a batch" not in exe.plan_text(self.main, feed=self.feed, fetch_list=self.fetches, scope=self.scope)
            return exe.run(self.main, feed=feed or self.feed, fetch_list=self.fetches, scope=self.scope)


def loops_of(plan):
    return [tuple(map(int, found)) for found in re.findall(r"parts of a batch: #(\d+) to #(\d+) run (\d+) times", plan)]


def assert_same_bits(model, loops, monkeypatch):
    plan = model.plan()
    assert len(loops_of(plan)) == loops, plan
    for _ in range(2):
        for value, expected in zip(model.run(), model.run_whole(monkeypatch), strict=True):
            assert value.dtype == expected.dtype and value.shape == expected.shape
            assert value.tobytes() == expected.tobytes()


# Chains with each class of convolution of cpp/math/cpu; one entry has a multiple of 64 bytes.
CHAINS = {
    "sums over taps": (3, 16, lambda x: convolution(x, 21)),
    "pixels": (16, 16, lambda x: convolution(x, 13, 1)),
    "depthwise": (19, 16, lambda x: convolution(x, 19, groups=19, stride=2)),
    "Winograd": (32, 16, lambda x: convolution(x, 45)),
    "Winograd, many filters": (256, 8, lambda x: convolution(x, 520)),
    "registers of filters": (64, 8, lambda x: convolution(x, 40, stride=2)),
    "small planes": (128, 4, lambda x: convolution(x, 96, 1)),
    "patches": (8, 4, lambda x: convolution(x, 72)),
    "groups": (8, 12, lambda x: convolution(x, 12, groups=2)),
    "channels last": (8, 16, lambda x: convolution(x, 16, data_format="NHWC")),
    "maxima": (4, 16, lambda x: layers.pool2d(x, 3, "max", 2, 1)),
    "means": (16, 5, lambda x: layers.pool2d(x, pool_type="avg", global_pooling=True)),
    "normalization": (4, 16, lambda x: layers.batch_norm(convolution(x, 8, bias_attr=False), is_test=True)),
    "channels after one another": (4, 16, lambda x: layers.concat([x, convolution(x, 3)], axis=1)),
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("count", [2, 5, 6])
def test_a_batch_in_parts_has_the_same_bits(name, count, monkeypatch):
    channels, size, make = CHAINS[name]
    wide = (count, size, size, channels) if name == "channels last" else (count, channels, size, size)

    def build(x):
        out = layers.relu6(make(layers.scale(x, scale=0.5)))
        return [layers.elementwise_add(out, layers.sigmoid(out))]

    model = Model(build, wide)
    assert_same_bits(model, 1, monkeypatch)
    assert f"run {count} times" in model.plan()


@pytest.mark.parametrize("options", [{"stride": [1, 2], "padding": [0, 1], "dilation": [2, 1]}, {"padding": 1}])
def test_transposed_convolutions_are_not_split(options, monkeypatch):
    """Their sums have another order for many images than for one."""

    def build(x):
        out = layers.conv2d_transpose(layers.relu(x), 32, filter_size=4, **options)
        return [layers.sigmoid(layers.conv2d(layers.relu(out), 4, 3))]

    model = Model(build, (17, 32, 3, 49))
    assert "conv2d_transpose(Input=relu_0.tmp_0 [17" in model.plan()
    assert_same_bits(model, 1, monkeypatch)


def test_convolutions_with_filters_that_are_fed_are_not_split(monkeypatch):
    """Those of a few pixels are not computed by Winograd's algorithm then."""

    def build(x):
        filters = layers.data("filters", [32, 32, 3, 3])
        out = x.block.create_var(name="out", shape=[-1, 32, 12, 12], dtype="float32")
        x.block.append_op("conv2d", {"Input": layers.relu(x), "Filter": filters}, {"Output": out}, {"paddings": [1, 1]})
        return [layers.relu(out)]

    model = Model(build, (4, 32, 12, 12))
    model.feed["filters"] = images(32, 32, 3, 3)
    assert_same_bits(model, 0, monkeypatch)


def test_as_many_entries_as_fit_run_at_once(monkeypatch):
    def build(x):
        return [layers.relu(convolution(layers.relu(convolution(x, 4)), 4))]

    model = Model(build, (12, 4, 16, 16))  # 8 KB are read and written for an entry
    for kilobytes, times in ((8, 12), (17, 6), (32, 3), (33, 3), (95, 2)):
        _core.set_batch_bytes(kilobytes << 10)
        model.exe = pm.Executor()
        assert [times for *_, times in loops_of(model.plan())] == [times], kilobytes
        assert model.run()[0].tobytes() == model.run_whole(monkeypatch)[0].tobytes()
    _core.set_batch_bytes(96 << 10)
    assert loops_of(Model(build, (12, 4, 16, 16)).plan()) == []


def test_values_inside_have_memory_for_one_entry(monkeypatch):
    def build(x):
        for _ in range(4):
            x = layers.relu(convolution(x, 16))
        return [layers.pool2d(x, pool_type="avg", global_pooling=True)]

    def arena(model):
        return int(re.search(r"arena of (\d+) bytes", model.plan())[1])

    model = Model(build, (64, 16, 16, 16))
    monkeypatch.setenv("PM_PASSES", "fold,constants,fuse,epilogues,batches")
    split = arena(model)
    monkeypatch.setenv("PM_PASSES", "fold,constants,fuse,epilogues")
    model.exe = pm.Executor()
    assert 3 * split < arena(model)


def test_a_value_inside_is_fetched_as_a_whole(monkeypatch):
    def build(x):
        inside = convolution(x, 8)
        return [inside, layers.relu(convolution(layers.relu(inside), 4)), layers.relu(x)]

    assert_same_bits(Model(build, (6, 4, 16, 16)), 1, monkeypatch)


def test_a_value_that_is_read_after_the_chain_is_stored_as_a_whole(monkeypatch):
    def build(x):
        inside = layers.relu(convolution(x, 8))
        after = layers.softmax(convolution(inside, 8), axis=0)  # over the batch
        return [layers.elementwise_add(after, inside)]

    assert_same_bits(Model(build, (6, 8, 16, 16)), 1, monkeypatch)


def test_two_chains_and_what_lies_between(monkeypatch):
    def build(x):
        first = layers.relu(convolution(layers.relu(convolution(x, 8)), 8))
        between = layers.softmax(first, axis=0)
        return [layers.relu(convolution(layers.elementwise_add(between, first), 4))]

    assert_same_bits(Model(build, (6, 8, 16, 16)), 2, monkeypatch)


# Operands of a chain that belong to all entries, or to each in a way of its own.
OPERANDS = {
    "a bias with as many columns as entries": ((16, 16), lambda x: layers.elementwise_add(x, bias([16])), 1),
    "a bias of entries": ((4, 4, 8, 8), lambda x: layers.elementwise_add(x, bias([4, 1, 1, 1])), 0),
    "a factor of entries, along the first axis": ((4, 16), lambda x: layers.elementwise_mul(x, bias([4]), axis=0), 0),
    "a constant of the batch's shape": ((4, 16), lambda x: layers.elementwise_mul(x, bias([4, 16])), 1),
    "a bias of one entry's shape": ((4, 4, 8, 8), lambda x: layers.elementwise_add(x, bias([1, 4, 8, 8])), 1),
    "entries one after the other": ((4, 16), lambda x: layers.concat([x, x], axis=0), 0),
    "a part that begins anywhere": ((4, 5), lambda x: layers.scale(x, scale=2.0), 0),
    "one entry": ((1, 16), lambda x: layers.scale(x, scale=2.0), 0),
    "no entries": ((0, 16), lambda x: layers.scale(x, scale=2.0), 0),
}


def bias(shape):
    return layers.create_parameter(shape, "float32", default_initializer=pm.initializer.Uniform(-1, 1, seed=5))


@pytest.mark.parametrize("name", OPERANDS)
def test_operands_of_the_whole_batch(name, monkeypatch):
    shape, make, loops = OPERANDS[name]
    monkeypatch.setenv("PM_FUSE", "0")  # each operator by itself, so that the chain would be two

    def build(x):
        return [make(layers.relu6(x))]

    assert_same_bits(Model(build, shape), loops, monkeypatch)


def test_a_computed_operand_stays_until_the_last_entry(monkeypatch):
    """It has the bytes of one entry, and its last reader may work in place."""

    def build(x):
        operand = layers.softmax(layers.reduce_sum(x, dim=0, keep_dim=True))
        out = layers.elementwise_add(operand, layers.relu(convolution(x, 4)))
        return [layers.relu(convolution(out, 4))]

    assert_same_bits(Model(build, (6, 4, 8, 8)), 1, monkeypatch)


def test_other_arrays_in_each_run(monkeypatch):
    model = Model(lambda x: [layers.relu(convolution(layers.relu(convolution(x, 4)), 4))], (4, 4, 16, 16))
    for seed in range(3):
        feed = {"x": np.random.default_rng(seed).normal(size=(4, 4, 16, 16)).astype("float32")}
        assert model.run(feed)[0].tobytes() == model.run_whole(monkeypatch, feed)[0].tobytes()


def test_threads_share_the_entries_of_a_whole_batch():
    with split_loops.threads(2, None):
        assert loops_of(Model(lambda x: [layers.relu(convolution(convolution(x, 4), 4))], (4, 4, 16, 16)).plan()) == []


def test_training_is_not_split():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        x = layers.data("x", [-1, 4, 16, 16])
        loss = layers.mean(layers.relu(convolution(layers.relu(convolution(x, 4)), 4)))
        pm.optimizer.SGD(0.1).minimize(loss)
    exe = pm.Executor()
    exe.run(startup)
    assert loops_of(exe.plan_text(main, feed={"x": images(4, 4, 16, 16)}, fetch_list=[loss])) == []


def test_a_check_names_the_operator_and_the_next_run_is_whole():
    model = Model(lambda x: [layers.relu(convolution(layers.exp(x), 4))], (4, 4, 16, 16))
    expected = model.run()[0]
    odd = model.feed["x"].copy()
    odd[2, 1] = 1e3
    assert loops_of(model.plan())
    with pytest.raises(pm.OpError, match="exp"), pm.check_finite():
        model.run({"x": odd})
    assert model.run()[0].tobytes() == expected.tobytes()


def test_a_profile_counts_each_part():
    model = Model(lambda x: [layers.relu(convolution(layers.exp(x), 4))], (4, 4, 16, 16))
    model.run()
    with pm.profile() as profile:
        model.run()
    calls = {row.operator: row.calls for row in profile.rows}
    assert calls["exp"] == calls["conv2d"] == 4, calls
