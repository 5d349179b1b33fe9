"""scope.get(copy=False): read-only arrays in the memory of a variable, which keep the value that it had."""

import gc
import threading

import numpy as np
import pytest

import paddle_mini as pm
from loops import doubled_in_a_loop

L = pm.layers


def address(array):
    return array.__array_interface__["data"][0]


def add_one(count):
    L.assign(L.scale(count, bias=1.0), count)


def counting_program(size=1000):
    """The startup program sets `count` to 0; each run of the main program adds 1 in place."""
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        count = L.create_global_var([size], 0.0, "float32", persistable=True, name="count")
        add_one(count)
    exe, scope = pm.Executor(), pm.Scope()
    exe.run(startup, scope=scope)
    return exe, main, scope


def test_memory_is_shared_while_nothing_is_written():
    scope = pm.Scope()
    scope.set("w", np.arange(6, dtype="float32").reshape(2, 3))
    first, second = scope.get("w", copy=False), scope.get("w", copy=False)
    assert np.shares_memory(first, second) and first.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not np.shares_memory(first, scope.get("w"))
    assert np.shares_memory(np.from_dlpack(scope.get("w", copy=False)), first)


def test_it_can_not_be_written():
    scope = pm.Scope()
    scope.set("w", np.ones(3, "float32"))
    value = scope.get("w", copy=False)
    with pytest.raises(ValueError):
        value[0] = 2
    with pytest.raises(ValueError):
        value.flags.writeable = True


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "int16", "int64", "bool", "float16", "uint16"])
def test_element_types_and_shapes(dtype):
    scope = pm.Scope()
    for shape in ((), (0, 2), (3,), (2, 1, 2)):
        array = np.ones(shape, dtype)
        scope.set("w", array)
        value = scope.get("w", copy=False)
        assert value.dtype == array.dtype and value.shape == shape and value.tolist() == array.tolist()


def test_runs_write_elsewhere():
    exe, main, scope = counting_program()
    before = scope.get("count", copy=False)
    exe.run(main, scope=scope)
    between = scope.get("count", copy=False)
    exe.run(main, scope=scope)
    assert before[0] == 0 and between[0] == 1 and scope.get("count")[0] == 2
    assert (before == before[0]).all() and (between == between[0]).all()


def test_a_dropped_reader_costs_nothing():
    exe, main, scope = counting_program()
    exe.run(main, scope=scope)
    there = address(scope.get("count", copy=False))
    for step in range(2, 5):
        exe.run(main, scope=scope)
        value = scope.get("count", copy=False)
        assert value[0] == step and address(value) == there
        del value


def test_a_reader_costs_one_copy():
    exe, main, scope = counting_program()
    value = scope.get("count", copy=False)
    places = []
    for _ in range(3):
        exe.run(main, scope=scope)
        places.append(address(scope.get("count", copy=False)))
    assert len(set(places)) == 1 and places[0] != address(value)


def test_set_writes_elsewhere():
    scope = pm.Scope()
    scope.set("w", np.zeros(3, "float32"))
    value = scope.get("w", copy=False)
    scope.set("w", np.ones(3, "float32"))
    assert value.tolist() == [0, 0, 0] and scope.get("w").tolist() == [1, 1, 1]


def test_it_outlives_the_variable_and_the_scope():
    exe, main, scope = counting_program()
    exe.run(main, scope=scope)
    value = scope.get("count", copy=False)
    scope.erase("count")
    other = scope.set("count", np.zeros(4, "float32"))
    del exe, main, scope, other
    gc.collect()
    assert (value == 1).all()


def test_all_parameters_while_training_continues():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        x, y = L.data("x", [-1, 4]), L.data("y", [-1, 1])
        loss = L.mean(L.square_error_cost(L.fc(L.fc(x, 8, act="relu"), 1), y))
        pm.optimizer.Adam(0.1).minimize(loss)
    random = np.random.default_rng(0)
    feeds = [{"x": random.normal(size=(6, 4)).astype("float32"), "y": np.ones((6, 1), "float32")} for _ in range(5)]
    results = []
    for share in (False, True):
        pm.seed(3)
        exe, scope, views, copies = pm.Executor(), pm.Scope(), [], []
        exe.run(startup, scope=scope)
        for feed in feeds:
            names = scope.names()
            if share:
                views.append([scope.get(name, copy=False) for name in names])
            copies.append([scope.get(name) for name in names])
            exe.run(main, feed, scope=scope)
        for step, step_copies in zip(views, copies):
            assert all(np.array_equal(view, copy) for view, copy in zip(step, step_copies))
        results.append(copies)
    assert all(np.array_equal(a, b) for one, two in zip(*results) for a, b in zip(one, two))


def test_a_failed_run_changes_neither():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        ids = L.data("ids", [-1, 1], dtype="int64")
        count = L.create_global_var([3], 0.0, "float32", persistable=True, name="count")
        add_one(count)
        row = L.embedding(ids, [4, 2])
    exe, scope = pm.Executor(), pm.Scope()
    exe.run(startup, scope=scope)
    exe.run(main, {"ids": [[1]]}, [row], scope)
    value = scope.get("count", copy=False)
    with pytest.raises(pm.OpError):
        exe.run(main, {"ids": [[9]]}, [row], scope)
    assert value.tolist() == scope.get("count").tolist() == [1, 1, 1]
    exe.run(main, {"ids": [[2]]}, [row], scope)
    assert value.tolist() == [1, 1, 1] and scope.get("count").tolist() == [2, 2, 2]


def test_values_that_a_loop_of_the_program_writes():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        doubled_in_a_loop(L.create_global_var([2], 1.0, "float32", persistable=True, name="w"))
    exe, scope = pm.Executor(), pm.Scope()
    exe.run(startup, scope=scope)
    views = []
    for _ in range(3):
        views.append(scope.get("w", copy=False))
        exe.run(main, scope=scope)
    assert [view.tolist() for view in views] == [[1, 1], [8, 8], [64, 64]] and scope.get("w").tolist() == [512, 512]


def test_averages_in_place_of_parameters():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        x = L.data("x", [-1, 2])
        loss = L.mean(L.fc(x, 1, param_attr=pm.ParamAttr(name="w"), bias_attr=False))
        average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.5), pm.averaging.Exponential(0.5))
        average.minimize(loss)
    exe, scope, feed = pm.Executor(), pm.Scope(), {"x": np.ones((1, 2), "float32")}
    exe.run(startup, scope=scope)
    for _ in range(3):
        exe.run(main, feed, scope=scope)
    raw, copy = scope.get("w", copy=False), scope.get("w")
    with average.apply(exe, scope):
        averaged = scope.get("w", copy=False)
        held = averaged.tolist()
        assert held != copy.tolist() and raw.tolist() == copy.tolist()
    exe.run(main, feed, scope=scope)
    assert raw.tolist() == copy.tolist() and averaged.tolist() == held and scope.get("w").tolist() != copy.tolist()


def test_selected_rows_are_refused():
    scope = pm.Scope()
    scope.set_rows("rows", [0, 2], np.ones((2, 3), "float32"), 4)
    with pytest.raises(pm.ShapeError, match="'rows' is selected rows, which get"):
        scope.get("rows", copy=False)
    with pytest.raises(pm.OpError, match="'none' is not in the scope"):
        scope.get("none", copy=False)


def test_readers_in_threads_never_see_half_a_step():
    exe, main, scope = counting_program(200_000)
    seen, done = [], threading.Event()

    def read():
        held = []
        while not done.is_set():
            value = scope.get("count", copy=False)
            held = [*held[-3:], (value, value[0])]
            seen.append(all((view == first).all() for view, first in held))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(50):
        exe.run(main, scope=scope)
    done.set()
    for reader in readers:
        reader.join()
    assert seen and all(seen) and scope.get("count")[0] == 50
