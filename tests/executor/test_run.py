"""run: a run that fails or is stopped leaves the scope as it was, or with a whole step."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import paddle_mini as pm


def model_with_statistics():
    """Batch normalization writes its statistics before the loss can reject a label."""
    x = pm.layers.data("x", shape=[-1, 4])
    label = pm.layers.data("label", shape=[-1, 1], dtype="int64")
    hidden = pm.layers.batch_norm(pm.layers.fc(x, 8))
    loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(pm.layers.fc(hidden, 3), label))
    pm.optimizer.Adam(learning_rate=0.1).minimize(loss)
    exe = pm.Executor(pm.CPUPlace())
    exe.run(pm.default_startup_program())
    return exe, loss


def snapshot():
    scope = pm.global_scope()
    return {name: scope.get(name).tobytes() for name in scope.names()}


def test_a_label_out_of_range_changes_nothing():
    exe, loss = model_with_statistics()
    feed = {"x": np.random.RandomState(0).randn(6, 4).astype("float32"), "label": np.zeros((6, 1), "int64")}
    exe.run(feed=feed, fetch_list=[loss])
    before = snapshot()
    bad = {**feed, "label": np.full((6, 1), 3, "int64")}
    with pytest.raises(pm.OpError) as error:
        exe.run(feed=bad, fetch_list=[loss])
    assert snapshot() == before
    assert "test_run.py" in str(error.value).splitlines()[-1] and len(str(error.value).splitlines()) <= 12
    (value,) = exe.run(feed=feed, fetch_list=[loss])
    assert np.isfinite(value) and snapshot() != before


def test_a_failed_run_is_repeated_with_the_same_random_numbers_from_the_state_before_it():
    x, ids = pm.layers.data("x", [-1, 64]), pm.layers.data("ids", [-1], dtype="int64")
    dropped = pm.layers.dropout(x, 0.5)
    pm.layers.one_hot(ids, 3)
    pm.seed(1)
    exe, feed = pm.Executor(), {"x": np.ones((2, 64), "float32"), "ids": np.array([1])}
    state = exe.random_state()
    (expected,) = exe.run(feed=feed, fetch_list=[dropped])
    for restored in (False, True):
        exe.set_random_state(state)
        with pytest.raises(pm.OpError, match="one_hot_v2"):
            exe.run(feed={**feed, "ids": np.array([3])}, fetch_list=[dropped])
        if restored:
            exe.set_random_state(state)
        (found,) = exe.run(feed=feed, fetch_list=[dropped])
        assert np.array_equal(found, expected) == restored


def test_what_the_last_operator_that_may_refuse_writes_is_not_copied():
    """Rows of a table are written in place; if a later operator may still reject its data, the table is backed up."""
    block = pm.default_main_program().global_block()
    table = block.create_var("table", shape=[50, 4], dtype="float32", persistable=True)
    ids, rows = pm.layers.data("ids", shape=[-1], dtype="int64"), pm.layers.data("rows", shape=[-1, 4])
    block.append_op("scatter", {"X": table, "Ids": ids, "Updates": rows}, {"Out": table})
    exe, scope = pm.Executor(pm.CPUPlace()), pm.global_scope()
    scope.set("table", np.zeros((50, 4), "float32"))
    feed = {"ids": np.array([3, 49]), "rows": np.ones((2, 4), "float32")}

    def refused(last_id, words):
        before = scope.get("table")
        with pytest.raises(pm.OpError, match=words):
            exe.run(feed={**feed, "ids": np.array([7, last_id])})
        np.testing.assert_array_equal(scope.get("table"), before)

    assert "keeps" not in exe.plan_text(feed=feed)
    exe.run(feed=feed)
    refused(50, "scatter: Ids has 50 at position 1")
    assert scope.get("table")[[3, 49]].min() == 1 and scope.get("table").sum() == 8
    pm.layers.one_hot(ids, 49)
    assert exe.plan_text(feed={**feed, "ids": np.array([3, 4])}).splitlines()[0].endswith(", keeps 800 bytes")
    refused(49, "one_hot_v2")


@pytest.mark.parametrize("changed", [False, True])
def test_a_gradient_refuses_nothing_that_the_operator_accepted(changed):
    """One table is trained when the gradient of the other is made: only ids that changed since may be rejected."""
    ids = pm.layers.scale(pm.layers.data("ids", shape=[-1], dtype="int64"), scale=1.0)
    rows = [pm.layers.embedding(ids, [50, 2], is_sparse=True, param_attr=name) for name in ("a", "b")]
    loss = pm.layers.mean(pm.layers.elementwise_add(*rows))
    pm.optimizer.SGD(1.0).minimize(loss, parameter_list=["a"])
    between = len(loss.block.ops)
    pm.optimizer.SGD(1.0).minimize(loss, parameter_list=["b"])
    if changed:
        loss.block.insert_op(between, "scale", {"X": ids}, {"Out": ids}, {"scale": 30.0})
    exe = pm.Executor(pm.CPUPlace())
    exe.run(pm.default_startup_program())
    assert (", keeps 400 bytes" in exe.plan_text(feed={"ids": np.array([1])})) == changed
    exe.run(feed={"ids": np.array([1])})
    before = snapshot()
    with pytest.raises(pm.OpError, match="lookup_table_v2_grad: id 60" if changed else "lookup_table_v2: id 60"):
        exe.run(feed={"ids": np.array([1, 2 if changed else 60])})
    assert snapshot() == before


def test_a_first_run_that_fails_leaves_no_variables():
    ids = pm.layers.data("ids", shape=[-1], dtype="int64")
    table = pm.layers.fill_constant([4, 2], "float32", 1.0)
    table.persistable = True
    block = pm.default_main_program().global_block()
    block.create_var("rows", persistable=True)
    block.append_op("lookup_table_v2", {"W": table, "Ids": ids}, {"Out": "rows"})
    exe = pm.Executor(pm.CPUPlace())
    with pytest.raises(pm.OpError):
        exe.run(feed={"ids": np.array([9])})
    assert pm.global_scope().names() == []
    exe.run(feed={"ids": np.array([3])})
    assert pm.global_scope().get("rows").tolist() == [[1, 1]]


def test_a_huge_tensor_is_refused_not_tried():
    big = pm.layers.fill_constant([2**20, 2**20], "float32", 1.0)
    with pytest.raises(pm.DeviceError, match="out of memory"):
        pm.Executor(pm.CPUPlace()).run(fetch_list=[big])


def test_threads_share_an_executor():
    x = pm.layers.data("x", shape=[-1, 64])
    y = pm.layers.fc(x, 64, act="relu")
    exe = pm.Executor(pm.CPUPlace())
    exe.run(pm.default_startup_program())
    program, scope = pm.default_main_program(), pm.global_scope()
    arrays = [np.random.RandomState(i).randn(8 + i, 64).astype("float32") for i in range(4)]
    expected = [exe.run(program, feed={"x": a}, fetch_list=[y], scope=scope)[0] for a in arrays]
    wrong = []

    def work(i):
        for _ in range(50):
            (value,) = exe.run(program, feed={"x": arrays[i]}, fetch_list=[y], scope=scope)
            if not np.array_equal(value, expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


LONG_STEP = textwrap.dedent("""
    import sys, numpy as np, paddle_mini as pm
    x = pm.layers.data("x", shape=[-1, 1500])
    h = x
    for _ in range(60):
        h = pm.layers.fc(h, 1500, bias_attr=False)
    steps = pm.layers.fill_constant([1], "float32", 0.0)
    loss = pm.layers.mean(h)
    pm.optimizer.SGD(learning_rate=1e-9).minimize(loss)
    exe = pm.Executor(pm.CPUPlace())
    exe.run(pm.default_startup_program())
    scope, main = pm.global_scope(), pm.default_main_program()
    names = [p.name for p in main.all_parameters()]
    feed = {"x": np.ones((700, 1500), "float32")}
    before = {n: scope.get(n).tobytes() for n in names}
    print("running", flush=True)
    try:
        exe.run(main, feed=feed, fetch_list=[loss])
        print("finished")
    except KeyboardInterrupt:
        changed = [n for n in names if scope.get(n).tobytes() != before[n]]
        print("stopped", len(changed), len(names))
""")


def test_ctrl_c_is_answered_and_leaves_a_whole_step():
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_STEP],
        stdout=subprocess.PIPE,
        text=True,
        cwd=pathlib.Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert process.stdout.readline() == "running\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    word, *counts = process.communicate(timeout=300)[0].split()
    # One matrix product of this step takes some 20 ms, the step some seconds.
    assert word == "stopped" and counts[0] in ("0", counts[1])


def test_looking_at_a_plan_leaves_no_trace():
    x = pm.layers.fill_constant([2], "float32", 1.0)
    x.persistable = True
    exe = pm.Executor(pm.CPUPlace())
    assert "fill_constant" in exe.plan_text(fetch_list=[x])
    assert pm.global_scope().names() == []
    assert exe.run(fetch_list=[x])[0].tolist() == [1, 1]


def test_selected_rows_that_persist_may_grow_between_runs():
    """A plan for one row must not be used for many."""
    from descriptions import op, program, var

    vars = [
        var("ids", [-1], "int64", need_check_feed=True),
        var("w", [50, 2], persistable=True),
        var("g", [-1, 2], need_check_feed=True),
        var("r", [50, 2], kind=8, persistable=True),
        var("y", [50, 2], kind=8),
    ]
    make = program(
        vars,
        [op("lookup_table_v2_grad", {"W": ["w"], "Ids": ["ids"], "Out@GRAD": ["g"]}, {"W@GRAD": ["r"]}, ("is_sparse", 6, True))],
    )
    use = program(vars, [op("scale", {"X": ["r"]}, {"Out": ["y"]}, ("scale", 1, 2.0))])
    exe, scope = pm._core.Executor("cpu"), pm._core.Scope()
    scope.set("w", np.zeros((50, 2), "float32"))
    for count in (1, 40, 2):
        exe.run(pm._core.Signature(make, ("ids", "g"), ()), scope, (np.arange(count), np.ones((count, 2), "float32")))
        rows, values, _ = exe.run(pm._core.Signature(use, (), ("y",)), scope, ())[0]
        assert rows.tolist() == list(range(count)) and values.shape == (count, 2) and (values == 2).all()


def test_a_scope_in_use_is_not_changed_and_a_signal_handler_can_not_run():
    x = pm.layers.data("x", shape=[-1, 1200])
    h = x
    for _ in range(40):
        h = pm.layers.fc(h, 1200, bias_attr=False)
    exe = pm.Executor(pm.CPUPlace())
    exe.run(pm.default_startup_program())
    program, scope, feed = pm.default_main_program(), pm.global_scope(), {"x": np.ones((800, 1200), "float32")}
    worker = threading.Thread(target=lambda: exe.run(program, feed=feed, fetch_list=[h], scope=scope))
    worker.start()
    time.sleep(0.1)
    refused = worker.is_alive()
    if refused:
        with pytest.raises(pm.OpError, match="in use by a run"):
            scope.erase("fc_0.w_0")
    worker.join()
    assert refused, "the run ended before the scope could be changed: make it longer"
    before = signal.signal(signal.SIGALRM, lambda *_: exe.run(program, feed=feed, fetch_list=[h], scope=scope))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(pm.OpError, match="running already in this thread"):
            exe.run(program, feed=feed, fetch_list=[h], scope=scope)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    exe.run(program, feed=feed, fetch_list=[h], scope=scope)
