"""The pool of threads: how users choose their number, and what happens to errors, nested loops, forks and limits."""

import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core
from small_model import SmallModel, batch
from split_loops import threads
from threads import repeated, together


def script(text, status=0, **environment):
    """The output and the standard error of a process that runs the text."""
    code = "import os, numpy as np, paddle_mini as pm\nfrom paddle_mini import _core\n" + text
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )
    assert ran.returncode == status, ran.stderr
    return ran.stdout.strip(), ran.stderr


SUM = """
def run(threads, n=300):
    main = pm.Program()
    with pm.program_guard(main):
        x = pm.layers.data("x", [n, n])
        y = pm.layers.softmax(pm.layers.matmul(x, x))
    feed = {"x": np.random.default_rng(0).normal(size=(n, n)).astype("float32")}
    return pm.Executor(pm.CPUPlace(), threads=threads).run(main, feed, [y])[0].tobytes()
"""


@pytest.mark.parametrize("wrong", [0, -1, 1025, 2**40, 1.5, "2", True, None])
def test_numbers_that_are_refused(wrong):
    before = pm.num_threads()
    with pytest.raises(pm.ProgramError, match="integer from 1 to 1024"):
        pm.set_num_threads(wrong)
    if wrong is not None:
        with pytest.raises(pm.ProgramError, match="integer from 1 to 1024"):
            pm.Executor(pm.CPUPlace(), threads=wrong)
    assert pm.num_threads() == before


@pytest.mark.parametrize("value", ["0", "-3", "many", "4x", "2000", "1.5"])
def test_an_invalid_environment_variable(value):
    _, error = script("pm.Executor(pm.CPUPlace()).run(pm.Program())", status=1, PM_NUM_THREADS=value)
    assert f"PM_NUM_THREADS is '{value}', it must be an integer from 1 to 1024" in error


def test_the_environment_variable_and_the_function():
    text = "print(pm.num_threads(), _core.num_threads_reason()); pm.set_num_threads(3); print(pm.num_threads())"
    assert script(text, PM_NUM_THREADS="5")[0] == "5 PM_NUM_THREADS\n3"


def test_the_default_is_the_number_of_usable_cpus():
    text = "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); print(pm.num_threads(), _core.num_threads_reason())"
    assert script(text, PM_NUM_THREADS="")[0] == "1 CPUs of this process"


@pytest.mark.parametrize(
    "groups, files, quota",
    [
        ("0::/\n", {}, 0),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000", "a/cpu.max": "150000 100000"}, 1.5),
        ("0::/a\n", {"a/cpu.max": "400000 100000", "cpu.max": "200000 100000"}, 2),
        ("3:cpu,cpuacct:/a\n", {"cpu,cpuacct/a/cpu.cfs_quota_us": 50000, "cpu,cpuacct/a/cpu.cfs_period_us": 100000}, 0.5),
        ("3:cpu,cpuacct:/a\n", {"cpu/a/cpu.cfs_quota_us": -1, "cpu/a/cpu.cfs_period_us": 100000}, 0),
        ("0::/a\n", {"a/cpu.max": "nonsense"}, 0),
    ],
)
def test_the_quota_of_a_container(tmp_path, groups, files, quota):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(groups)
    for path, text in files.items():
        (tmp_path / "sys/fs/cgroup" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sys/fs/cgroup" / path).write_text(f"{text}\n")
    assert _core.container_cpu_quota(str(tmp_path)) == quota


@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_each_item_runs_once_and_lanes_are_below_the_number_of_threads(count):
    for items in (1, 2, 7, 1000):
        ran, lanes = _core.try_loop(count, items)
        assert ran == [1] * items and max(lanes) < count


def test_a_thread_has_the_same_half_of_each_loop():
    """Its part of an array stays in its core's cache, also where the pool has more workers than the loop. A worker may start
    late, so not every loop shows it."""
    halves = [0] * 8 + [1] * 8
    _core.try_loop(16, 1000)
    assert any(_core.try_loop(2, 16, microseconds=500)[1] == halves for _ in range(200))


@pytest.mark.parametrize("count", [1, 2, 8])
def test_the_first_error_is_raised_and_the_pool_remains_usable(count):
    for _ in range(50):
        with pytest.raises(pm.OpError, match="item 40$"):
            _core.try_loop(count, 400, [40, 41, 399])
    assert _core.try_loop(count, 400)[0] == [1] * 400


def test_loops_of_many_callers():
    """More callers than threads: all loops end, and every item runs once."""
    wrong = []

    def loops():
        for i in range(300):
            if _core.try_loop(2 + i % 3, 100)[0] != [1] * 100:
                wrong.append(i)

    callers = [threading.Thread(target=loops) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def test_one_thread_starts_no_worker():
    text = (
        SUM
        + "run(1); print(_core.started_workers()); run(3); print(_core.started_workers()); run(2); print(_core.started_workers())"
    )
    assert script(text)[0].split() == ["0", "2", "2"]


def test_a_forked_child_has_a_pool_of_its_own():
    text = """
    before = run(4)
    child = os.fork()
    if child == 0:
        os._exit(0 if run(4) == before and _core.started_workers() == 3 else 1)
    print(os.waitpid(child, 0)[1], run(4) == before)
    """
    assert script(SUM + textwrap.dedent(text))[0] == "0 True"


def test_a_system_that_refuses_threads():
    """One message, fewer threads, the same bits."""
    text = """
    import resource
    expected = run(1)
    used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGESIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + (6 << 20), resource.RLIM_INFINITY))
    print(run(4) == expected, run(4) == expected, _core.started_workers())
    """
    out, error = script(SUM + textwrap.dedent(text), PM_NUM_THREADS="1")
    assert out == "True True 0"
    assert error.count("the system refused to start a thread") == 1


def test_an_idle_pool_uses_no_cpu_time():
    with threads(4):
        _core.try_loop(4, 1000)
        time.sleep(0.05)
        before = time.process_time()
        time.sleep(0.5)
        assert time.process_time() - before < 0.05


def test_changing_the_number_between_runs():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        y = pm.layers.conv2d(pm.layers.data("x", [4, 3, 20, 20]), 8, 3)
    exe = pm.Executor(pm.CPUPlace())
    exe.run(startup)
    feed, results = {"x": np.random.default_rng(0).normal(size=(4, 3, 20, 20)).astype("float32")}, set()
    for count in (1, 8, 2, 8, 3, 1):
        with threads(count):
            results.add(exe.run(main, feed, [y])[0].tobytes())
    assert len(results) == 1


def test_executors_in_several_threads():
    """Two executors run at once in scopes of their own, both with the results of one alone."""
    main = pm.Program()
    with pm.program_guard(main):
        x = pm.layers.data("x", [200, 200])
        y = pm.layers.softmax(pm.layers.matmul(x, x))
    feed = {"x": np.random.default_rng(0).normal(size=(200, 200)).astype("float32")}
    expected = pm.Executor(pm.CPUPlace(), threads=1).run(main, feed, [y])[0].tobytes()
    wrong = []

    def runs(count):
        exe, scope = pm.Executor(pm.CPUPlace(), threads=count), pm.Scope()
        wrong.extend(i for i in range(100) if exe.run(main, feed, [y], scope)[0].tobytes() != expected)

    callers = [threading.Thread(target=runs, args=(count,)) for count in (1, 2, 2, 3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@pytest.mark.parametrize("count", [1, 2])
def test_executors_train_and_fail_at_once(count):
    """Three train one program, each in a scope of its own; two evaluate in one scope; operators and loops of others fail.
    Each has the results, and the error, that it has alone."""
    model = SmallModel(pm.optimizer.Adam(0.1).minimize)
    state, testing = pm.io.get_state(model.main, model.scope), model.main.clone(for_test=True)
    with pm.program_guard(pm.Program(), pm.Program()):
        rows = pm.layers.gather(pm.layers.data("x", [50, 4]), pm.layers.data("at", [50], dtype="int64"))
        failing = rows.block.program
    at = np.arange(50)
    at[[30, 40]] = 50, 60

    def trained():
        exe, scope = pm.Executor(pm.CPUPlace(), threads=count), pm.Scope()
        pm.io.set_state(model.main, state, scope)
        for number in range(6):
            exe.run(model.main, batch(number), [model.loss], scope)
        return [scope.get(name).tobytes() for name in sorted(state)]

    def evaluated(exe):
        return exe.run(testing, batch(0), [model.logits], model.scope)[0].tobytes()

    def fail(exe):
        with pytest.raises(pm.OpError, match="Index has 50 at position 30"):
            exe.run(failing, {"x": np.zeros((50, 4), "float32"), "at": at}, [rows], pm.Scope())

    def fail_in_a_loop():
        with pytest.raises(pm.OpError, match="item 40$"):
            _core.try_loop(count, 400, [40, 41, 399])

    executors = [pm.Executor(pm.CPUPlace(), threads=count) for _ in range(3)]
    expected, logits, others = trained(), evaluated(executors[0]), []
    with threads(count):
        together(
            *[repeated(lambda: others.append(trained() == expected), 10)] * 3,
            *(repeated(lambda exe=exe: others.append(evaluated(exe) == logits), 60) for exe in executors[:2]),
            repeated(lambda: fail(executors[2]), 60),
            repeated(fail_in_a_loop, 60),
        )
    assert others == [True] * 150
