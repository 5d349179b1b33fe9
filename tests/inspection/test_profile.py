"""pm.profile: calls, lines and costs of operators; traces; runs on devices, in loops, in threads; PM_LOG=run."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import paddle_mini as pm
from loops import doubled_in_a_loop
from paddle_mini.inspection import profiler
from paddle_mini.inspection.peak import Peak
from small_model import SmallModel, assert_same_bits, batch

L = pm.layers


def rows_of(profile):
    return {row.operator: row for row in profile.rows}


def trace_of(profile, folder):
    profile.save_trace(folder / "trace.json")
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    return [event for event in events if event["ph"] == "X"], [event for event in events if event["ph"] == "M"]


def assert_nested(events):
    """Events of one thread are apart, or one is inside the other."""
    for thread in {event["tid"] for event in events}:
        own = sorted((one for one in events if one["tid"] == thread), key=lambda one: (one["ts"], -one["dur"]))
        open_ends = []
        for event in own:
            while open_ends and open_ends[-1] <= event["ts"] + 1e-3:
                open_ends.pop()
            end = event["ts"] + event["dur"]
            assert not open_ends or end <= open_ends[-1] + 1e-3, event
            open_ends.append(end)


def test_calls_costs_and_lines():
    x = L.data("x", shape=[-1, 64])
    y = L.fc(x, 32, act="relu")
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    feed = {"x": np.ones((8, 64), "float32")}
    exe.run(feed=feed, fetch_list=[y])
    with pm.profile() as profile:
        for _ in range(5):
            exe.run(feed=feed, fetch_list=[y])
    exe.run(feed=feed, fetch_list=[y])  # outside
    rows = rows_of(profile)
    assert {name: row.calls for name, row in rows.items()} == {"mul": 5, "elementwise_add": 5, "relu": 5}
    assert rows["mul"].flops == 5 * 2 * 8 * 64 * 32
    assert rows["mul"].bytes == 5 * 4 * (8 * 64 + 64 * 32 + 8 * 32)
    assert all("test_profile.py:" in row.line and row.place == "cpu" and row.microseconds > 0 for row in rows.values())
    assert len({row.line for row in rows.values()}) == 1
    table = profile.table()
    assert "mul" in table and "5 runs" in table and str(profile) == table
    assert "<table>" in profile._repr_html_()


def test_other_shapes_are_added_to_the_row():
    x = L.data("x", shape=[-1, 4])
    y = L.relu(x)
    exe = pm.Executor()
    with pm.profile() as profile:
        for count in (1, 2, 3):
            exe.run(feed={"x": np.ones((count, 4), "float32")}, fetch_list=[y])
    (row,) = profile.rows
    assert (row.calls, row.flops, row.bytes) == (3, 24, 2 * 4 * 24) and len(profile.sites) == 3


def test_fused_operators_name_all_lines():
    model = SmallModel(
        lambda loss: pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Exponential(0.9)).minimize(loss)
    )
    model.step()
    with pm.profile() as profile:
        model.step()
    fused = [row for row in profile.rows if "sgd" in row.operator]
    assert sum(row.calls for row in fused) == 4 and any(row.operator == "sgd + parameter_average" for row in fused)
    assert all("test_profile.py:" in row.line and row.flops and row.bytes for row in fused)


def test_a_profiled_step_has_the_same_bits():
    model, same = (SmallModel(pm.optimizer.Adam(0.1).minimize) for _ in range(2))
    for number in range(3):
        with pm.profile():
            model.step(number)
        same.step(number)
    assert_same_bits(model.everything(), same.everything())


def test_the_trace_has_runs_with_their_operators_inside(tmp_path):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    with pm.profile() as profile:
        model.step()
        model.step()
    events, named = trace_of(profile, tmp_path)
    assert [event["name"] for event in events if event["cat"] == "run"] == ["run 1", "run 2"]
    operators = [event["name"] for event in events if event["cat"] == "operator"]
    assert operators == 2 * [op.type for op in model.main.global_block().ops]
    assert_nested(events)
    assert {event["pid"] for event in events} == {1} and {"process_name", "thread_name"} <= {event["name"] for event in named}
    mul = next(event for event in events if event["name"] == "mul")
    assert mul["args"]["flops"] == 2 * 8 * 6 * 5 and mul["args"]["run"] == 1 and "small_model.py:" in mul["args"]["line"]


def test_a_loop_is_around_its_operators(tmp_path):
    x = L.data("x", shape=[-1, 4])
    y = doubled_in_a_loop(L.assign(x), steps=3)
    exe, feed = pm.Executor(), {"x": np.ones((2, 4), "float32")}
    exe.run(feed=feed, fetch_list=[y])
    with pm.profile() as profile:
        exe.run(feed=feed, fetch_list=[y])
    rows = rows_of(profile)
    assert rows["while"].calls == 1 and rows["scale"].calls == 3 and rows["scale"].flops == 3 * 8
    events, _ = trace_of(profile, tmp_path)
    assert_nested(events)
    loop = next(event for event in events if event["name"] == "while")
    inside = [event for event in events if event["name"] == "scale"]
    assert all(loop["ts"] <= one["ts"] and one["ts"] + one["dur"] <= loop["ts"] + loop["dur"] + 1e-3 for one in inside)
    # The loop's own time lacks that of the operators inside; the sum is at most the time of the run.
    assert rows["while"].microseconds <= loop["dur"] - sum(one["dur"] for one in inside) + 1e-3
    (run,) = [event for event in events if event["cat"] == "run"]
    assert sum(row.microseconds for row in rows.values()) <= run["dur"]


def test_shapes_that_depend_on_data():
    x = L.data("x", shape=[-1, 4])
    pm.default_main_program().global_block().append_op("where_index", {"Condition": x > 0}, {"Out": "where"})
    exe = pm.Executor()
    with pm.profile() as profile:
        for value in (1.0, -1.0):
            exe.run(feed={"x": np.full((2, 4), value, "float32")}, fetch_list=["where"])
    assert rows_of(profile)["where_index"].calls == 2


def test_a_device_has_a_thread_of_its_own(tmp_path):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize, place=pm.EmulatedPlace(0))
    with pm.profile() as profile:
        model.step()
    events, _ = trace_of(profile, tmp_path)
    assert_nested(events)
    assert len({event["tid"] for event in events}) > 1


def test_all_threads_and_executors_are_in_it():
    models = [SmallModel(pm.optimizer.SGD(0.1).minimize) for _ in range(3)]
    with pm.profile() as profile:
        threads = [threading.Thread(target=lambda model=model: [model.step() for _ in range(4)]) for model in models]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert rows_of(profile)["mean"].calls == 12
    assert len(profile._core.runs()) == 12


def test_events_beyond_the_limit_are_counted_only():
    model = SmallModel()
    with pm.profile(most_events=5) as profile:
        model.step()
        model.step()
    assert len(profile._core.events()) == 5 and profile._core.dropped() > 0
    assert rows_of(profile)["mean"].calls == 2 and "the trace lacks" in profile.table()


def test_one_profile_at_a_time_and_an_end_after_an_error():
    with pm.profile() as outer, pytest.raises(pm.ProgramError, match="on already"), pm.profile():
        pass
    assert outer.rows == []
    model = SmallModel()
    with pytest.raises(ZeroDivisionError), pm.profile():
        raise ZeroDivisionError
    with pm.profile() as profile, pytest.raises(pm.OpError):
        model.exe.run(model.main, {**batch(0), "label": np.full((8, 1), 99)}, [model.loss], model.scope)
    assert "mul" in rows_of(profile)  # until the operator that refused
    with pytest.raises(pm.ProgramError, match="most_events"):
        pm.profile(most_events=-1)


def test_the_share_of_the_peak(monkeypatch):
    monkeypatch.setattr(profiler, "measured_peak", lambda: Peak(gflops=100.0, gbytes=10.0))
    row = profiler.ProfileRow("mul", "", "cpu", calls=1, microseconds=1000.0, bytes=1_000_000, flops=50_000_000)
    assert (row.gflops, row.gbytes) == (50.0, 1.0)
    assert profiler._share_of(Peak(100.0, 10.0), row) == "50 %"  # 50 % of arithmetic, 10 % of memory
    with pm.profile() as profile:
        SmallModel().step()
    assert "of peak" in profile.table(peak=True) and "100 GFLOP/s, 10 GB/s" in profile.table(peak=True)


def test_the_peak_is_measured():
    from paddle_mini.inspection.peak import measured_peak

    peak = measured_peak()
    assert peak.gflops > 0 and peak.gbytes > 0 and measured_peak() is peak


@pytest.mark.parametrize("word, tables", [("run", 1), ("runs", 4), ("plan", 0)])
def test_pm_log_sums_the_runs_or_prints_each(word, tables):
    code = (
        "import numpy as np, paddle_mini as pm\nx = pm.layers.data('x', shape=[-1, 4])\n"
        "y = pm.layers.relu(x)\nexe = pm.Executor()\n"
        "for _ in range(4): exe.run(feed={'x': np.ones((2, 4), 'float32')}, fetch_list=[y])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PM_LOG": word})
    lines = [line for line in done.stderr.splitlines() if " us in " in line]
    assert done.returncode == 0 and len(lines) == tables, done.stderr
    assert ("relu x 4, mean" in done.stderr) == (word == "run")


def test_a_call_without_with_is_a_warning():
    with pytest.warns(UserWarning, match=r"pm.profile\(\) has an effect inside `with` only") as caught:
        pm.profile()
    assert caught[0].filename == __file__
