"""Programs that are planned in segments: shapes that depend on data, and operators that run blocks."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.layers.emit import emit

L = pm.layers


def arange(end):
    block = pm.default_main_program().global_block()
    start, step = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 1)
    return emit("range", {"Start": start, "End": end, "Step": step}, outputs={"Out": block.create_var(dtype="int64", shape=[-1])})


def build(then=lambda numbers: numbers + 1):
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        n = L.data("n", shape=[1], dtype="int64")
        doubled = n * 2
        numbers = arange(doubled)
        out = then(numbers)
    return main, startup, [doubled, numbers, out]


def test_each_segment_sees_what_was_made_before():
    main, _, wanted = build()
    executor, scope = pm.Executor(pm.CPUPlace()), pm.Scope()
    for n in (3, 0, 5, 3):
        doubled, numbers, out = executor.run(main, feed={"n": np.array([n])}, fetch_list=wanted, scope=scope)
        np.testing.assert_array_equal(doubled, [2 * n])
        np.testing.assert_array_equal(numbers, np.arange(2 * n))
        np.testing.assert_array_equal(out, np.arange(2 * n) + 1)


def test_a_feed_is_read_after_the_cut_too_and_is_not_written():
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        n, x = L.data("n", shape=[1], dtype="int64"), L.data("x", shape=[-1])
        out = L.cast(arange(n), "float32") * x
        L.assign(x * 2.0, x)
    x = np.array([1.0, 2.0, 3.0], "float32")
    (value,) = pm.Executor(pm.CPUPlace()).run(main, feed={"n": np.array([3]), "x": x}, fetch_list=[out], scope=pm.Scope())
    np.testing.assert_array_equal(value, [0, 2, 6])
    np.testing.assert_array_equal(x, [1, 2, 3])


def test_what_the_scope_holds_is_put_back_when_a_later_segment_refuses():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        n, table = L.data("n", shape=[1], dtype="int64"), L.data("table", shape=[4, 1])
        count = L.create_global_var([1], 1.0, name="count")
        L.assign(count + 1.0, count)
        rows = L.gather(table, arange(n))
        L.assign(count + L.reduce_sum(rows), count)
        made = main.global_block().create_var("made", shape=[1], dtype="float32", persistable=True)
        L.assign(count, made)
    executor = pm.Executor(pm.CPUPlace())
    executor.run(startup, scope=scope)
    table = np.ones((4, 1), "float32")
    with pytest.raises(pm.OpError, match="gather"):
        executor.run(main, feed={"n": np.array([9]), "table": table}, scope=scope)
    np.testing.assert_array_equal(scope.get("count"), [1])
    assert "made" not in scope
    executor.run(main, feed={"n": np.array([4]), "table": table}, scope=scope)
    np.testing.assert_array_equal(scope.get("count"), [6])
    with pytest.raises(pm.OpError, match="gather"):
        executor.run(main, feed={"n": np.array([9]), "table": table}, scope=scope)
    np.testing.assert_array_equal(scope.get("count"), [6])
    np.testing.assert_array_equal(scope.get("made"), [6])


def test_a_value_that_is_missing_after_the_cut_is_refused_by_name():
    main, _, wanted = build(
        lambda numbers: numbers + pm.default_main_program().global_block().create_var("nowhere", shape=[-1], dtype="int64")
    )
    with pytest.raises(pm.OpError, match="'nowhere' has no value"):
        pm.Executor(pm.CPUPlace()).run(main, feed={"n": np.array([3])}, fetch_list=wanted, scope=pm.Scope())


def test_a_shape_that_does_not_fit_after_the_cut_is_refused_with_its_line():
    main, _, wanted = build(lambda numbers: numbers + L.fill_constant([3], "int64", 1))
    executor = pm.Executor(pm.CPUPlace())
    with pytest.raises(pm.ShapeError, match=r"elementwise_add[\s\S]*added at .*test_blocks.py"):
        executor.run(main, feed={"n": np.array([4])}, fetch_list=wanted, scope=pm.Scope())


def test_the_plan_says_where_it_stops():
    main, _, wanted = build()
    text = pm.Executor(pm.CPUPlace()).plan_text(main, feed={"n": np.array([3])}, fetch_list=wanted, scope=pm.Scope())
    assert "then range; what follows is planned when it is reached" in text


def test_a_parameter_may_be_trained_after_a_cut():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        n = L.data("n", shape=[1], dtype="int64")
        x = L.reshape(L.cast(arange(n), "float32"), [-1, 1])
        loss = L.mean(L.square_error_cost(L.fc(x, 1), x * 3.0 + 1.0))
        pm.optimizer.Adam(0.05).minimize(loss)
    executor = pm.Executor(pm.CPUPlace())
    executor.run(startup, scope=scope)
    losses = [float(executor.run(main, feed={"n": np.array([4 + i % 3])}, fetch_list=[loss], scope=scope)[0]) for i in range(300)]
    assert losses[-1] < 0.05 * losses[0]


def test_arrays_and_sequences_are_fetched_as_they_are():
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x = L.data("x", shape=[-1, 1], lod_level=1)
        array = L.array_write(x * 2.0, L.fill_constant([1], "int64", 1))
    feed = {"x": pm.LoDTensor(np.ones((3, 1), "float32"), [[0, 1, 3]])}
    executor = pm.Executor(pm.CPUPlace())
    (plain,) = executor.run(main, feed=feed, fetch_list=[array], scope=pm.Scope())
    assert plain[0] is None
    np.testing.assert_array_equal(plain[1], np.full((3, 1), 2))
    (rich,) = executor.run(main, feed=feed, fetch_list=[array], scope=pm.Scope(), return_numpy=False)
    assert rich[1].lod == [[0, 1, 3]]


@pytest.mark.parametrize(
    "lod",
    [[[0, 2]], [[1, 3]], [[0, 2, 1, 3]], [[]], [[0, 4]], [[0, 1], [0, 1, 2]], [[0, 2**70]], [[0.5, 3]], [["x"]], [[0, -1, 3]]],
)
def test_a_lod_that_does_not_fit_its_rows_is_refused(lod):
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x = L.data("x", shape=[-1, 1], lod_level=1)
        out = x * 2.0
    with pytest.raises(pm.ShapeError, match="lod"):
        pm.Executor(pm.CPUPlace()).run(
            main, feed={"x": pm.LoDTensor(np.ones((3, 1), "float32"), lod)}, fetch_list=[out], scope=pm.Scope()
        )


def test_sequences_go_with_their_rows():
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x = L.data("x", shape=[-1, 4], lod_level=1)
        same, fewer = L.fc(x, 3, act="tanh"), L.reduce_sum(x)
    executor, scope = pm.Executor(pm.CPUPlace()), pm.Scope()
    for var in main.all_parameters():
        scope.set(var.name, np.ones(var.shape, "float32"))
    for lod in ([[0, 1, 3]], [[0, 3]], [[0, 0, 3]]):
        feed = {"x": pm.LoDTensor(np.ones((3, 4), "float32"), lod)}
        kept, lost = executor.run(main, feed=feed, fetch_list=[same, fewer], scope=scope, return_numpy=False)
        assert kept.lod == lod
        assert isinstance(lost, np.ndarray)


@pytest.mark.parametrize("lod", [[0, 2], ["0", "2"], [None]])
def test_a_lod_that_is_no_list_of_lists_is_refused(lod):
    with pytest.raises(pm.ShapeError, match="list of lists"):
        pm.LoDTensor(np.ones((2, 1)), lod)
