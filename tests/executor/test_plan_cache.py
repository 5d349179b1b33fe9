"""Plans are cached for every set of shapes that recurs, and evicted by the time of their last use."""

import numpy as np
import pytest

import paddle_mini as pm
from loops import doubled_in_a_loop


def network():
    x = pm.layers.data("x", [-1, 6])
    loss = pm.layers.mean(pm.layers.fc(pm.layers.fc(x, 8, act="relu"), 1))
    pm.optimizer.SGD(0.01).minimize(loss)
    return loss


def batches(counts):
    return [np.random.RandomState(count).randn(count, 6).astype("float32") for count in counts]


@pytest.mark.parametrize("lengths", [17, 100])
def test_batches_of_many_lengths_in_turn(monkeypatch, capfd, lengths):
    loss, exe = network(), pm.Executor()
    exe.run(pm.default_startup_program())
    arrays = batches(range(1, lengths + 1))
    monkeypatch.setenv("PM_LOG", "plan")
    capfd.readouterr()
    for array in arrays:
        exe.run(feed={"x": array}, fetch_list=[loss])
    assert capfd.readouterr().err.count("sgd") >= lengths
    for array in [*arrays, *arrays[::-1], *arrays]:
        exe.run(feed={"x": array}, fetch_list=[loss])
    assert capfd.readouterr().err == ""


def test_sequences_of_many_lengths_in_turn(monkeypatch, capfd):
    x = pm.layers.data("x", [-1, 3], lod_level=1)
    y = pm.layers.sequence_pool(x, "sum")
    exe, random = pm.Executor(), np.random.RandomState(0)
    feeds = [pm.LoDTensor(random.randn(n + 3, 3).astype("float32"), [[0, n, n + 3]]) for n in range(1, 41)]
    first = [exe.run(feed={"x": feed}, fetch_list=[y])[0] for feed in feeds]
    monkeypatch.setenv("PM_LOG", "plan")
    capfd.readouterr()
    again = [exe.run(feed={"x": feed}, fetch_list=[y])[0] for feed in feeds]
    assert all(np.array_equal(a, b) for a, b in zip(first, again))
    assert capfd.readouterr().err == ""


def test_loops_over_values_of_many_lengths_in_turn(monkeypatch, capfd):
    """Segments of blocks, too."""
    x = pm.layers.data("x", [-1, 4])
    out = pm.layers.scale(doubled_in_a_loop(pm.layers.scale(x, scale=1.0)), scale=0.5)
    exe = pm.Executor()
    arrays = [np.full((count, 4), count, "float32") for count in range(1, 31)]
    for array in arrays:
        assert np.array_equal(exe.run(feed={"x": array}, fetch_list=[out])[0], array * 4)
    monkeypatch.setenv("PM_LOG", "plan")
    capfd.readouterr()
    for array in [*arrays, *arrays]:
        assert np.array_equal(exe.run(feed={"x": array}, fetch_list=[out])[0], array * 4)
    assert capfd.readouterr().err == ""


def test_plans_that_keep_much_are_few(monkeypatch, capfd):
    """Bytes saved for rollback count: the plans used last stay, the others are rebuilt."""
    with pm.program_guard(pm.Program(), pm.Program()):
        x = pm.layers.data("x", [-1, 1], dtype="int64")
        block = pm.default_main_program().global_block()
        state = block.create_var("state", shape=[4 << 20], dtype="float32", persistable=True)  # 16 MiB
        pm.layers.assign(pm.layers.scale(state, bias=1.0), output=state)
        table = block.create_var("table", shape=[10, 2], dtype="float32", persistable=True)
        out = block.create_var("out", shape=[-1, 1, 2], dtype="float32")
        block.append_op("lookup_table_v2", {"W": table, "Ids": x}, {"Out": out})  # may reject an id: the state is saved
        program = block.program
    scope, exe = pm.Scope(), pm.Executor()
    scope.set("state", np.zeros(4 << 20, "float32"))
    scope.set("table", np.zeros((10, 2), "float32"))
    feeds = [np.zeros((count, 1), "int64") for count in range(1, 19)]
    for feed in feeds:
        exe.run(program, {"x": feed}, [out], scope)
    used = pm._core.memory_in_use()
    monkeypatch.setenv("PM_LOG", "plan")
    capfd.readouterr()
    for feed in feeds[-16:]:  # the last 16 are cached
        exe.run(program, {"x": feed}, [out], scope)
    assert capfd.readouterr().err == ""
    exe.run(program, {"x": feeds[0]}, [out], scope)
    assert capfd.readouterr().err != ""
    for feed in feeds[-15:]:  # the new one has replaced the least recently used one
        exe.run(program, {"x": feed}, [out], scope)
    assert capfd.readouterr().err == ""
    assert pm._core.memory_in_use() <= used + (1 << 20)
    with pytest.raises(pm.OpError):
        exe.run(program, {"x": np.full((1, 1), 10)}, [out], scope)
    assert scope.get("state")[0] == len(feeds) + 16 + 1 + 15


@pytest.mark.parametrize(
    "layer",
    [
        lambda x: pm.layers.flip(x, [0]),
        lambda x: pm.layers.pool2d(pm.layers.reshape(x, [1, 1, 1, -1]), [1, 2], "max", [1, 2]),
        lambda x: pm.layers.repeat_interleave(x, 1),
        lambda x: pm.layers.take_along_axis(pm.layers.unsqueeze(x, [1]), pm.layers.cast(pm.layers.unsqueeze(x, [1]), "int64"), 1),
    ],
    ids=["flip", "pool2d", "repeat_interleave", "take_along_axis"],
)
def test_offsets_that_kernels_keep_count(layer):
    """8 bytes or more for each of 2.5 million elements are 20 MB a plan, of which the cache holds 16."""
    x = pm.layers.data("x", [-1])
    out = pm.layers.reduce_sum(layer(x))
    exe = pm.Executor()
    for count in range(40):
        exe.run(feed={"x": np.zeros(2_500_000 + 2 * count, "float32")}, fetch_list=[out])
        if count == 20:
            used = pm._core.memory_in_use()
    assert used > 16 * 20_000_000
    assert abs(pm._core.memory_in_use() - used) < 2 << 20


def test_a_plan_that_no_longer_fits_the_scope_is_made_anew():
    x = pm.layers.data("x", [-1, 2])
    program = pm.default_main_program()
    w = program.global_block().create_var("w", shape=[-1], dtype="float32", persistable=True)
    y = pm.layers.elementwise_add(x, pm.layers.reduce_sum(w))
    scope, exe = pm.Scope(), pm.Executor()
    for size in (3, 5, 3):
        scope.set("w", np.ones(size, "float32"))
        for count in (1, 2, 1):
            assert (exe.run(program, {"x": np.zeros((count, 2), "float32")}, [y], scope)[0] == size).all()


def test_sessions_are_dropped_by_the_time_they_were_last_used(monkeypatch, capfd):
    """An executor caches 64 sessions: one that is used between all others stays."""
    x = pm.layers.data("x", [-1, 4])
    y, exe, first = pm.layers.scale(x, scale=2.0), pm.Executor(), pm.Scope()
    feed = {"x": np.ones((2, 4), "float32")}
    exe.run(feed=feed, fetch_list=[y], scope=first)
    monkeypatch.setenv("PM_LOG", "plan")
    capfd.readouterr()
    for _ in range(100):
        exe.run(feed=feed, fetch_list=[y], scope=pm.Scope())
        exe.run(feed=feed, fetch_list=[y], scope=first)
    assert capfd.readouterr().err.count("scale(") == 100


def test_calls_that_say_the_same_share_a_plan(monkeypatch, capfd):
    """Whether they name a variable or pass it."""
    x = pm.layers.data("x", [-1, 4])
    y, exe = pm.layers.scale(x, scale=2.0), pm.Executor()
    monkeypatch.setenv("PM_LOG", "plan")
    for fetch in ([y], [y.name], y, [y]):
        exe.run(feed={"x": np.ones((2, 4), "float32")}, fetch_list=fetch)
    assert capfd.readouterr().err.count("scale(") == 1
