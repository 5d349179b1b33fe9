"""Operators are added, from C++ and from Python, while other threads build and run programs; `make tsan` runs this file."""

from own_operators.children import CUBE, prepared_compiler, printed

# The dice are made with also(), which other threads read when they plan a program.
DICE = CUBE.replace("cube", "dice").replace(
    'ops, unary("dice").doc("Out = X^3.")', 'ops, also({DType::Int32}, unary("dice").doc("Out = X^3."))'
)
DICE = DICE.replace('ops/family/unary.h"', 'ops/family/unary.h"\n#include "core/widening.h"')
CODE = """
import threading
from paddle_mini.thread_state import own_state
stop, failures, runs = threading.Event(), [], threading.Semaphore(0)
@pm.python_op
def first(x):
    return 2 * x
@first.gradient
def first_gradient(out_grad):
    return 2 * out_grad
def work():
    try:
        while not stop.is_set():
            with own_state(), pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
                x = pm.layers.data('x', [3])
                x.stop_gradient = False
                half = pm.layers.cast(x, 'float16')
                y = pm.layers.reduce_sum(first(pm.layers.cast(pm.layers.relu(half), 'float32')))
                (slope,) = pm.gradients([y], [x])
                found = pm.Executor().run(feed={'x': [1, 2, 3]}, fetch_list=[y, slope])
                assert found[0] == 12 and (found[1] == 2).all(), found
                runs.release()
    except BaseException as error:
        failures.append(error)
        runs.release(1000)
threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for thread in threads: thread.start()
for name in ('cube', 'dice'):
    for _ in range(3): runs.acquire()
    loaded = pm.load_op(name + '.cc')
    @pm.python_op(name='python_' + name, no_gradient='it is for a test')
    def added(x):
        return x + 1
    for one in (loaded, added):
        value = pm.Executor().run(feed={'x': [1, 2]}, fetch_list=[one(pm.layers.data('x', [2]))])[0]
        print(value.tolist())
for _ in range(3): runs.acquire()
stop.set()
for thread in threads: thread.join()
print(failures)
"""


def test_operators_are_added_while_threads_run_programs(tmp_path):
    (tmp_path / "cube.cc").write_text(CUBE)
    (tmp_path / "dice.cc").write_text(DICE)
    assert printed(CODE, tmp_path, PM_CXX=prepared_compiler()) == ["[1.0, 8.0]", "[2.0, 3.0]"] * 2 + ["[]"]
