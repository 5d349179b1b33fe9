"""pm.python_op: threads, runs inside functions, and Ctrl-C."""

from own_operators.children import PYTHON_CUBE, printed


def test_threads_with_executors_of_their_own(tmp_path):
    code = (
        PYTHON_CUBE
        + """
import threading
from paddle_mini.thread_state import own_state
failures, done = [], []
def work(number):
    try:
        with own_state(), pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
            out = pm.layers.reduce_sum(cube(pm.layers.data('x', [100])))
            program, exe = pm.default_main_program(), pm.Executor()
            for step in range(50):
                (value,) = exe.run(program, feed={'x': np.full(100, number, 'float32')}, fetch_list=[out])
                assert value == 100 * number ** 3
        done.append(number)
    except BaseException as error:
        failures.append(error)
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(failures, sorted(done))
"""
    )
    assert printed(code, tmp_path) == ["[] [0, 1, 2, 3]"]


def test_a_function_may_run_programs_but_not_in_the_scope_of_its_run(tmp_path):
    code = """
inner, startup = pm.Program(), pm.Program()
with pm.program_guard(inner, startup):
    doubled = pm.layers.scale(pm.layers.data('a', [2]), scale=2.0)
@pm.python_op(no_gradient="it is for a test")
def nested(x):
    try:
        pm.Executor().run(inner, feed={'a': x}, fetch_list=[doubled], scope=pm.global_scope())
    except pm.ScopeInUse:
        print('refused')
    return pm.Executor().run(inner, feed={'a': x}, fetch_list=[doubled], scope=pm.Scope())[0]
step = pm.layers.create_global_var([1], 0.0, 'float32', persistable=True, name='step')
pm.Executor().run(pm.default_startup_program())
pm.layers.increment(step)
out = nested(pm.layers.data('x', [2]))
print(pm.Executor().run(feed={'x': [1, 2]}, fetch_list=[out])[0].tolist())
"""
    assert printed(code, tmp_path) == ["refused", "[2.0, 4.0]"]


def test_ctrl_c_in_a_function_ends_the_run_and_the_scope_stays(tmp_path):
    code = """
import signal, os
@pm.python_op(no_gradient="it is for a test")
def stopped(x):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(10 ** 9): pass
step = pm.layers.create_global_var([1], 0.0, 'float32', persistable=True, name='step')
pm.layers.increment(step)
out = stopped(pm.layers.data('x', [2]))
exe = pm.Executor()
exe.run(pm.default_startup_program())
try:
    exe.run(feed={'x': [1, 2]}, fetch_list=[out])
except KeyboardInterrupt:
    print('stopped', pm.global_scope().get('step'))
"""
    assert printed(code, tmp_path) == ["stopped [0.]"]
