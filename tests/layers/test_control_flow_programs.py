"""Programs with loops and branches: valid and rejected ones, and how they are copied, pruned, saved and loaded."""

import numpy as np
import pytest

import paddle_mini as pm
from loops import count, power_loop

L = pm.layers


def test_only_the_branch_that_is_chosen_runs():
    main, scope = pm.Program(), pm.Scope()
    with pm.program_guard(main, pm.Program()):
        index, table = L.data("index", shape=[1], dtype="int64"), L.data("table", shape=[2, 2])
        zero = L.fill_constant([1], "int64", 0)
        out = L.cond(index < zero, lambda: L.zeros([1, 2]), lambda: L.gather(table, index))
    run_one = lambda i: pm.Executor(pm.CPUPlace()).run(
        main, feed={"index": count(i), "table": np.eye(2, dtype="float32")}, fetch_list=[out], scope=scope
    )[0]
    np.testing.assert_array_equal(run_one(-5), [[0, 0]])
    np.testing.assert_array_equal(run_one(1), [[0, 1]])
    with pytest.raises(pm.OpError, match="gather"):
        run_one(5)


def test_a_failure_inside_a_loop_leaves_the_scope_as_it_was():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        n, table = L.data("n", shape=[1], dtype="int64"), L.data("table", shape=[3, 1])
        total = L.create_global_var([1], 10.0, name="total")
        i = L.fill_constant([1], "int64", 0)

        def body(i):
            L.assign(total + L.reshape(L.gather(table, i), [1]), total)
            return [i + 1]

        L.while_loop(lambda i: i < n, body, [i])
    executor = pm.Executor(pm.CPUPlace())
    executor.run(startup, scope=scope)
    feed = {"n": count(2), "table": np.ones((3, 1), "float32")}
    executor.run(main, feed=feed, scope=scope)
    np.testing.assert_array_equal(scope.get("total"), [12])
    with pytest.raises(pm.OpError, match=r"gather[\s\S]*block 1"):
        executor.run(main, feed={**feed, "n": count(4)}, scope=scope)
    np.testing.assert_array_equal(scope.get("total"), [12])
    executor.run(main, feed=feed, scope=scope)
    np.testing.assert_array_equal(scope.get("total"), [14])


def test_a_program_with_a_loop_clones_for_test_and_prunes():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    startup.random_seed = 1
    with pm.program_guard(main, startup):
        x = L.data("x", shape=[2, 3])
        w = L.create_parameter([3, 3], name="w")
        n = L.data("n", shape=[1], dtype="int64")
        out = power_loop(x, w, n)
        pm.optimizer.SGD(0.1).minimize(L.mean(out))
    executor = pm.Executor(pm.CPUPlace())
    executor.run(startup, scope=scope)
    feed = {"x": np.ones((2, 3), "float32"), "n": count(2)}
    expected = np.tanh(np.tanh(feed["x"] @ scope.get("w")) @ scope.get("w"))
    for program in (main.clone(for_test=True), main.prune(["x", "n"], [out])):
        (found,) = executor.run(program, feed=feed, fetch_list=[out.name], scope=scope)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)  # sums of three may cancel out


def test_a_loop_has_gradients_where_it_keeps_values_and_has_none_yet():
    x, w = L.data("x", [2, 3]), L.create_parameter([3, 3], name="w")
    loss = L.reduce_sum(power_loop(x, w, L.fill_constant([1], "int64", 2)))
    pm.optimizer.SGD(0.1).minimize(loss)
    main = pm.default_main_program()
    with pytest.raises(pm.ProgramError, match="can be appended once to a program"):
        pm.gradients(loss, x)
    test, forward = main.clone(for_test=True), main.without(1 | 2)
    with pm.program_guard(test), pytest.raises(pm.ProgramError, match="the loop keeps no values for a gradient: is_test is set"):
        pm.gradients(test.global_block().var(loss.name), "x")
    with pm.program_guard(forward):
        (slope,) = pm.gradients(forward.global_block().var(loss.name), "x")
    executor = pm.Executor()
    executor.run(pm.default_startup_program())
    (found,) = executor.run(forward, feed={"x": np.zeros((2, 3), "float32")}, fetch_list=[slope])
    weight = pm.global_scope().get("w")
    np.testing.assert_allclose(found, np.ones((2, 3)) @ weight.T @ weight.T, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "build, words",
    [
        (lambda x: L.while_loop(lambda v: v, lambda v: v, [x]), "one bool"),
        (lambda x: L.while_loop(lambda v: L.reduce_sum(v) > 0.0, lambda v: [v, v], [x]), "nest differently"),
        (lambda x: L.while_loop(lambda v: L.reduce_sum(v) > 0.0, lambda v: L.cast(v, "int64"), [x]), "float32"),
        (lambda x: L.while_loop(lambda v: L.reduce_sum(v) > 0.0, lambda v: 3, [x]), "not a Variable"),
        (lambda x: L.while_loop(lambda v: v, lambda v: v, []), "at least one"),
        (lambda x: L.cond(x, lambda: x, lambda: x), "one bool"),
        (lambda x: L.cond(L.reduce_sum(x) > 0.0, lambda: x, lambda: None), "nest differently"),
        (lambda x: L.cond(L.reduce_sum(x) > 0.0, lambda: x, lambda: L.cast(x, "int64")), "int64"),
        (lambda x: L.case([]), "pred_fn_pairs"),
        (lambda x: L.case(3), "pred_fn_pairs"),
        (lambda x: L.case([(L.reduce_sum(x) > 0.0, 5)]), "pred_fn_pairs"),
        (lambda x: L.case([(L.reduce_sum(x) > 0.0, lambda: x)], default=5), "case: default is 5"),
        (lambda x: L.switch_case(L.reduce_sum(x), [lambda: x]), "branch_index is float32, it must be an integer"),
        (lambda x: L.switch_case(L.zeros([1], "int64"), []), "branch_fns is []"),
        (lambda x: L.switch_case(L.zeros([1], "int64"), 5), "branch_fns is 5"),
        (lambda x: L.switch_case(L.zeros([1], "int64"), [x, x]), "it must hold functions"),
        (lambda x: L.switch_case(L.zeros([1], "int64"), {"a": lambda: x}), "it must hold functions"),
        (lambda x: L.switch_case(L.zeros([1], "int64"), [(1, lambda: x, 3)]), "it must hold functions"),
        (lambda x: L.array_read(x, L.zeros([1], "int64")), "'x' is not an array"),
        (lambda x: L.array_write(x, L.zeros([1], "int64"), x), "'x' is not an array"),
        (lambda x: L.array_length(x), "'x' is not an array"),
        (lambda x: L.array_length(5), "array_length: the input is 5"),
        (lambda x: L.array_read(L.create_array(), x), "no value"),
    ],
)
def test_refused(build, words):
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x = L.data("x", shape=[2])
        with pytest.raises(pm.Error) as error:
            build(x)
            pm.Executor(pm.CPUPlace()).run(main, feed={"x": np.ones(2, "float32")}, scope=pm.Scope())
    assert words in str(error.value)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: L.cond(L.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x * 3.0),
        lambda x: power_loop(x, L.create_parameter([3, 3], name="w"), L.fill_constant([1], "int64", 2)),
        lambda x: L.rnn(L.GRUCell(3), L.unsqueeze(x, [0]))[0],
    ],
)
def test_a_model_with_blocks_is_saved_and_loaded(build, tmp_path):
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        x = L.data("x", shape=[2, 3])
        out = build(x)
    executor = pm.Executor(pm.CPUPlace())
    executor.run(startup, scope=scope)
    value = np.arange(6, dtype="float32").reshape(2, 3) - 2
    (expected,) = executor.run(main, feed={"x": value}, fetch_list=[out], scope=scope)
    pm.io.save_inference_model(tmp_path / "model", [x], [out], executor, program=main, scope=scope)
    other = pm.Scope()
    program, feeds, fetches = pm.io.load_inference_model(tmp_path / "model", executor, scope=other)
    (found,) = executor.run(program, feed={feeds[0]: value}, fetch_list=fetches, scope=other)
    np.testing.assert_array_equal(found, expected)


def test_a_parameter_with_as_many_rows_as_there_are_words_is_not_a_sequence():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        x = L.data("x", shape=[-1, 4], lod_level=1)
        loss = L.mean(L.fc(L.fc(x, 12), 1))
        pm.optimizer.Adam(0.1).minimize(loss)
    executor = pm.Executor(pm.CPUPlace())
    executor.run(startup, scope=scope)
    for rows in (12, 5, 12):
        executor.run(main, feed={"x": pm.LoDTensor(np.ones((rows, 4), "float32"), [[0, 2, rows]])}, scope=scope)
    assert not any(scope.lod(parameter.name) for parameter in main.all_parameters())
