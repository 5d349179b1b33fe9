"""Loops that never end: Ctrl-C ends them, and so does a bound on their steps; the scope stays as it was."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import paddle_mini as pm
from test_pm_run import PM_RUN

L = pm.layers


def grow(p, depth):
    """A parameter grows while the condition holds, which is always."""
    going_on = L.fill_constant([1], "bool", True)
    loop = L.While(going_on)
    with loop.block():
        L.assign(L.scale(p, scale=1.0, bias=1.0), output=p)
        if depth > 1:
            grow(p, depth - 1)
        L.assign(L.fill_constant([1], "bool", True), output=going_on)


def endless(nested=False):
    grow(L.create_parameter([2], attr=pm.ParamAttr("p", pm.initializer.Constant(1.0))), 1 + nested)
    exe = pm.Executor(pm.CPUPlace())
    exe.run(pm.default_startup_program())
    return pm.default_main_program()


@pytest.mark.parametrize("nested", [False, True])
def test_a_bound_ends_a_loop_and_names_it(nested):
    main, scope = endless(nested), pm.global_scope()
    with pytest.raises(pm.OpError) as error:
        pm.Executor(pm.CPUPlace(), max_loop_steps=7).run(main)
    message = str(error.value)
    assert f"the loop has run block {1 + nested} 7 times, max_loop_steps allows no more" in message
    assert "while:" in message and "in op #" in message and "test_endless_loops.py" in message.splitlines()[-1]
    assert len(message.splitlines()) <= 12
    assert scope.get("p").tolist() == [1, 1]


def test_a_bound_that_is_just_enough():
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 7)
    going_on = L.less_than(i, n)
    loop = L.While(going_on)
    with loop.block():
        L.increment(i, value=1)
        L.assign(L.less_than(i, n), output=going_on)
    for _ in range(2):  # each run counts from 0
        assert pm.Executor(pm.CPUPlace(), max_loop_steps=7).run(fetch_list=[i])[0] == [7]
    with pytest.raises(pm.OpError, match="6 times"):
        pm.Executor(pm.CPUPlace(), max_loop_steps=6).run()


def test_steps_over_sequences_are_bounded_too():
    x = L.data("x", [5, 3])
    rnn = L.StaticRNN()
    with rnn.step():
        rnn.step_output(L.scale(rnn.step_input(x), scale=2.0))
    with pytest.raises(pm.OpError, match="the loop has run block 1 4 times"):
        pm.Executor(pm.CPUPlace(), max_loop_steps=4).run(feed={"x": np.ones((5, 3), "float32")}, fetch_list=[rnn()])


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "7", True, 2**63], ids=repr)
def test_a_bound_is_a_whole_number(wrong):
    with pytest.raises(pm.ProgramError, match="it must be an integer from 1 on, or None"):
        pm.Executor(pm.CPUPlace(), max_loop_steps=wrong)


def test_pm_run_takes_a_bound(tmp_path):
    main, scope = endless(), pm.global_scope()
    pm.io.save_program(tmp_path / "endless", main, scope)
    words = [PM_RUN, tmp_path / "endless.pdmodel", "--params", tmp_path / "endless.pdiparams", "--max-loop-steps", "3"]
    ended = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1 and "the loop has run block 1 3 times" in ended.stderr


ENDLESS = """
    import sys
    sys.path[:0] = [%r, %r]
    import numpy as np
    import paddle_mini as pm
    import test_endless_loops
    main = test_endless_loops.endless(True)
    scopes = [pm.global_scope()]
    run = lambda: pm.Executor(pm.CPUPlace()).run(main)
    if %r:
        replicas = pm.DataParallel([pm.EmulatedPlace(0), pm.EmulatedPlace(1)])
        replicas.run(pm.default_startup_program())
        scopes, run = replicas.scopes, lambda: replicas.run(main)
    print("running", flush=True)
    try:
        run()
    except KeyboardInterrupt:
        print("stopped", *(scope.get("p").tolist() for scope in scopes), flush=True)
"""


@pytest.mark.parametrize("replicas", [False, True], ids=["one", "replicas"])
def test_ctrl_c_ends_an_endless_loop(replicas):
    here = pathlib.Path(__file__).parent
    source = "\n".join(line[4:] for line in (ENDLESS % (str(here), str(here.parent), replicas)).splitlines())
    process = subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": ""}
    )
    assert process.stdout.readline() == "running\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    try:
        answer = process.communicate(timeout=20)[0]
    finally:
        process.kill()
    assert answer.split() == ["stopped", *["[1.0,", "1.0]"] * (1 + replicas)]
