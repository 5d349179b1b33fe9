"""The end of the interpreter, while threads run programs and in handlers that come after that of this package."""

import pytest

from own_operators.children import printed, started

# Python calls the handler that was registered first last.
REGISTERED_BEFORE = "atexit.unregister(_core.end_work); atexit.register({}); atexit.register(_core.end_work)"

# Work of two threads that do it again and again while the interpreter ends.
WORK = {
    "a run": "exe.run(pm.default_main_program(), feed={'x': [1]}, fetch_list=[relu])",
    "a run of a function": "exe.run(pm.default_main_program(), feed={'x': [1]}, fetch_list=[slow])",
    "a run inside a function": "exe.run(pm.default_main_program(), feed={'x': [1]}, fetch_list=[nested])",
    "the random state": "exe.set_random_state(exe.random_state())",
    "an executor": "pm.Executor(place)",
    "a plan": "exe.plan_text(feed={'x': [1]}, fetch_list=[relu])",
}


@pytest.mark.parametrize("place", ["CPUPlace()", "EmulatedPlace(0)"])
@pytest.mark.parametrize("work", WORK)
def test_the_interpreter_ends_while_threads_work(tmp_path, work, place):
    code = f"""
import atexit, threading, time
from paddle_mini import _core
from paddle_mini.thread_state import own_state
place = pm.{place}
@pm.python_op(no_gradient="it is for a test")
def slowly(x):
    time.sleep(0.01)
    return x + 1
inner = pm.Program()
with pm.program_guard(inner, pm.Program()):
    slower = slowly(pm.layers.data('x', [1]))
@pm.python_op(no_gradient="it is for a test")
def running(x):
    return pm.Executor().run(inner, feed={{'x': x}}, fetch_list=[slower], scope=pm.Scope())[0]
entered, stop = threading.Event(), threading.Event()
def work():
    with own_state(), pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        x = pm.layers.data('x', [1])
        relu, slow, nested = pm.layers.relu(x), slowly(x), running(x)
        exe = pm.Executor(place, allow_cpu_fallback=True)
        while not stop.is_set():
            {WORK[work]}
            entered.set()
workers = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for worker in workers: worker.start()
assert entered.wait(60)
def wait():
    stop.set()
    for worker in workers: worker.join()
    print('joined')
{REGISTERED_BEFORE.format("wait")}
"""
    child = started(code, tmp_path)
    out, err = child.communicate(timeout=120)
    assert (out, err.strip(), child.returncode) == ("joined\n", "", 0)


def test_a_handler_may_use_a_scope_and_start_a_thread_but_run_no_program(tmp_path):
    code = f"""
import atexit, threading
from paddle_mini import _core
out = pm.layers.relu(pm.layers.data('x', [1]))
exe, scope, begun = pm.Executor(), pm.Scope(), threading.Event()
half = np.ones(1 << 19, 'float32')
def work():
    while True:
        _core.set_in_parts(scope, [('w', [1 << 20], [half, half])])
        begun.set()
def run(who):
    try:
        exe.run(feed={{'x': [1]}}, fetch_list=[out])
    except BaseException as error:
        print(who, type(error).__name__, error)
def handle():
    print(scope.get('w').shape)
    run('the ending thread:')
    other = threading.Thread(target=run, args=['another:'])
    other.start()
    other.join()
{REGISTERED_BEFORE.format("handle")}
threading.Thread(target=work, daemon=True).start()
assert begun.wait(60)
"""
    expected = ["(1048576,)", "the ending thread: OpError the interpreter ends", "another: SystemExit "]
    assert printed(code, tmp_path) == expected
