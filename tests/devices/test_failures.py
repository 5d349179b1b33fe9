"""Failed runs on a device: their errors, and the state they leave."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import paddle_mini as pm
from devices.test_offload import reference
from small_model import SmallModel, assert_same_bits, batch


def averaged(place, **arguments):
    return SmallModel(
        lambda loss: pm.optimizer.ParameterAverage(
            pm.optimizer.Adam(0.1), pm.averaging.Window(3), place=pm.CPUPlace(), **arguments
        ).minimize(loss),
        place=place,
    )


def with_label(value):
    feed = batch(0)
    feed["label"] = feed["label"].copy()
    feed["label"][3] = value
    return feed


def test_refused_data_changes_nothing(place):
    model, same = averaged(place), averaged(reference(place))
    for number in range(4):
        model.step(number), same.step(number)
    before = model.everything()
    with pytest.raises(pm.OpError) as caught:
        model.exe.run(model.main, with_label(7), [model.loss], model.scope)
    message = str(caught.value)
    assert "softmax_with_cross_entropy" in message and "7" in message and "small_model.py" in message.splitlines()[-1], message
    assert len(message.splitlines()) <= 12
    assert_same_bits(model.everything(), before)
    model.step(5), same.step(5)
    assert_same_bits(model.everything(), same.everything())


def test_refused_data_behind_statistics_that_moved(place):
    """Batch normalization writes its statistics before the labels are checked: they are restored."""

    def model(on):
        main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(main, startup):
            x, label = pm.layers.data("x", [-1, 6]), pm.layers.data("label", [-1, 1], dtype="int64")
            hidden = pm.layers.batch_norm(pm.layers.fc(x, 5))
            loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(pm.layers.fc(hidden, 3), label))
            pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Uniform(), place=pm.CPUPlace()).minimize(loss)
        exe = pm.Executor(on)
        pm.seed(1)
        exe.run(startup, scope=scope)
        return lambda feed: exe.run(main, feed, [loss], scope), lambda: {name: scope.get(name) for name in sorted(scope.names())}

    (step, values), (same, same_values) = model(place), model(reference(place))
    for number in range(5):
        step(batch(number)), same(batch(number))
        before = values()
        with pytest.raises(pm.OpError, match="softmax_with_cross_entropy"):
            step(with_label(-2))
        assert_same_bits(values(), before)
    assert_same_bits(values(), same_values())


def test_refused_data_behind_statistics_of_a_recorded_plan(place):
    """From the fourth run on, a GPU's launches are a recording, which also saves the statistics."""
    x, label = pm.layers.data("x", [-1, 6]), pm.layers.data("label", [-1, 1], dtype="int64")
    hidden = pm.layers.batch_norm(pm.layers.fc(x, 5))
    loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(pm.layers.fc(hidden, 3), label))
    pm.optimizer.SGD(0.1).minimize(loss)
    exe, scope = pm.Executor(place), pm.global_scope()
    exe.run(pm.default_startup_program())
    for number in range(8):
        exe.run(feed=batch(number), fetch_list=[loss])
    before = {name: scope.get(name) for name in sorted(scope.names())}
    with pytest.raises(pm.OpError, match="softmax_with_cross_entropy"):
        exe.run(feed=with_label(-2), fetch_list=[loss])
    assert_same_bits({name: scope.get(name) for name in sorted(scope.names())}, before)


def test_what_an_operator_wrote_that_refuses(place):
    """A GPU's kernel can't stop: its writes are undone when the host receives the error about its data."""
    table = pm.default_main_program().global_block().create_var("table", shape=[9, 2], dtype="float32", persistable=True)
    ids, rows = pm.layers.data("ids", shape=[-1], dtype="int64"), pm.layers.data("rows", shape=[-1, 2])
    table.block.append_op("scatter", {"X": table, "Ids": ids, "Updates": rows}, {"Out": table})
    exe, scope = pm.Executor(place), pm.global_scope()
    scope.set("table", np.zeros((9, 2), "float32"))
    with pytest.raises(pm.OpError, match="Ids has 9 at position 1"):
        exe.run(feed={"ids": np.array([3, 9]), "rows": np.ones((2, 2), "float32")})
    assert not scope.get("table").any()
    exe.run(feed={"ids": np.array([3, 8]), "rows": np.ones((2, 2), "float32")})
    assert scope.get("table")[[3, 8]].tolist() == [[1, 1], [1, 1]]


def test_what_fails_behind_a_run_is_told_to_the_next_one(place):
    """A parameter that is not finite: the run that made it has returned when the average checks it."""
    model = averaged(place, non_finite="raise")
    model.step()
    before = {name: model.scope.get(name) for name in model.scope.names() if "average" in name}
    name = model.parameters[0]
    model.scope.set(name, np.full_like(model.scope.get(name), np.nan))
    with pytest.raises(pm.OpError, match="parameter_average") as caught:
        model.step()
        model.scope.synchronize()
    assert "in op #" in str(caught.value)
    counters = next(name for name in before if "counters" in name)
    np.testing.assert_array_equal(model.scope.get(counters), before[counters])
    model.scope.set(name, np.zeros_like(model.scope.get(name)))
    model.exe.run(model.startup, scope=model.scope)
    assert np.isfinite(model.step())


def test_a_kernel_that_refuses_on_the_host_side(place):
    x = pm.layers.data("ids", [-1, 1], dtype="int64")
    rows = pm.layers.embedding(x, [5, 2])
    with pm.device_guard("cpu"):
        picked = pm.layers.gather(rows, pm.layers.reshape(x, [-1]))
    loss = pm.layers.mean(picked)
    pm.optimizer.SGD(0.1).minimize(loss)
    exe, scope = pm.Executor(place), pm.global_scope()
    exe.run(pm.default_startup_program())
    w = scope.names()[0]
    before = {name: scope.get(name) for name in scope.names()}
    with pytest.raises(pm.OpError, match="gather"):
        exe.run(feed={"ids": np.array([[4], [0]])}, fetch_list=[loss])
    assert_same_bits({name: scope.get(name) for name in scope.names()}, before)
    exe.run(feed={"ids": np.array([[1], [0]])}, fetch_list=[loss])
    assert not np.array_equal(scope.get(w), before[w])


def test_interrupted_runs_leave_a_whole_step():
    """Ctrl-C while a device works: the run ends at once or at the end of its step, and the process stays usable."""
    code = """
import os, signal, sys, threading, time
sys.path.insert(0, "tests")
import numpy as np, paddle_mini as pm
pm.devices.emulate(0)
main, startup = pm.Program(), pm.Program()
with pm.program_guard(main, startup):
    x = pm.layers.data("x", [-1, 300]); h = x
    for _ in range(6): h = pm.layers.fc(h, 300, act="relu")
    loss = pm.layers.mean(h)
    average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(1e-3), pm.averaging.Uniform(), place=pm.CPUPlace())
    average.minimize(loss)
exe, scope = pm.Executor(pm.EmulatedPlace(0)), pm.Scope()
exe.run(startup, scope=scope)
feed = {"x": np.ones((64, 300), "float32")}
counters = next(name for name in scope.names() if "counters" in name)
for number in range(20):
    threading.Timer(0.01 + 0.003 * number, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        while True: exe.run(main, feed, [loss], scope)
    except KeyboardInterrupt:
        pass
    before = int(scope.get(counters)[0])
    exe.run(main, feed, [loss], scope)
    assert int(scope.get(counters)[0]) == before + 1
print("whole")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.stdout == "whole\n", ended.stderr


@pytest.mark.parametrize("end", ["", "del exe, scope, model", "sys.exit(0)"])
def test_a_process_may_end_while_a_device_works(end):
    code = f"""
import sys
sys.path.insert(0, "tests")
import paddle_mini as pm
from small_model import *
pm.devices.emulate(0, latency=0.01)
model = SmallModel(lambda loss: pm.optimizer.ParameterAverage(
    pm.optimizer.Adam(0.1), pm.averaging.Window(3), place=pm.CPUPlace()).minimize(loss), place=pm.EmulatedPlace(0))
exe, scope = model.exe, model.scope
for number in range(3): exe.run(model.main, batch(number), [], scope)
{end}
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_dropping_everything_while_a_device_works(place):
    for _ in range(5):
        model = averaged(place)
        model.exe.run(model.main, batch(0), [], model.scope)
        scope = model.scope
        del model
        assert all(np.isfinite(scope.get(name)).all() for name in scope.names())


def test_threads_share_a_device(place):
    models = [averaged(place) for _ in range(3)]
    same = averaged(reference(place))

    def train(model):
        for number in range(20):
            model.step(number)

    threads = [threading.Thread(target=train, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    train(same)
    for model in models:
        assert_same_bits(model.everything(), same.everything())


def test_looking_at_values_while_a_thread_trains(place):
    model, errors, done = averaged(place), [], threading.Event()

    def look():
        try:
            while not done.is_set():
                assert all(np.isfinite(model.scope.get(name)).all() for name in model.parameters)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    for number in range(100):
        model.step(number)
    done.set()
    thread.join()
    assert not errors


def test_the_former_name_of_synchronize_warns():
    with pytest.warns(DeprecationWarning, match="Scope.synchronize"):
        pm.Scope().settle()
