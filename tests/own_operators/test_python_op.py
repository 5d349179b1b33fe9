"""pm.python_op: operators whose kernels are Python functions. Each test defines them in a process of its own."""

import subprocess
import sys

import pytest

from own_operators.children import printed, started

CUBE = """
@pm.python_op
def cube(x):
    "out = x^3, element by element."
    return x ** 3
@cube.gradient
def cube_gradient(x, out_grad):
    return 3 * x * x * out_grad
"""
X = "x = pm.layers.data('x', [-1, 2]); x.stop_gradient = False\n"
REFUSED = """
def refused(call):
    try:
        print(call())
    except pm.Error as error:
        print(type(error).__name__, str(error).replace(chr(10), ' | '))
"""


def said(code, folder, **environment):
    return printed(REFUSED + code, folder, **environment)


def test_values_and_gradients_are_those_of_the_functions(tmp_path):
    code = (
        CUBE
        + X
        + """
loss = pm.layers.reduce_sum(cube(x))
(gradient,) = pm.gradients([loss], [x])
for place in (pm.CPUPlace(), pm.EmulatedPlace(0)):
    for value in pm.Executor(place, allow_cpu_fallback=True).run(feed={'x': [[2, -3]]}, fetch_list=[loss, gradient]):
        print(value.tolist(), value.dtype)
"""
    )
    assert printed(code, tmp_path) == ["-19.0 float32", "[[12.0, 27.0]] float32"] * 2


def test_the_operator_has_what_others_have(tmp_path):
    code = (
        CUBE
        + X
        + """
import inspect
print(inspect.signature(cube), cube.__doc__.splitlines()[0])
print(pm.layers.fc(x, 3, act='cube').shape, pm.default_main_program().global_block().ops[-1].type)
half = pm.layers.cast(x, 'bfloat16')
print(cube(half).dtype)
"""
    )
    assert printed(code, tmp_path) == [
        "(x: 'Variable', *, name: 'str | None' = None) -> 'Variable' out = x^3, element by element.",
        "(-1, 3) cube",
        "bfloat16",
    ]


def test_attributes_lists_and_inputs_that_may_be_left_out(tmp_path):
    code = """
@pm.python_op(no_gradient="it is for a test")
def weighted(xs: list, bias=None, *, factor=2.0, names: str, powers=(1, 2)):
    made = sum(x.astype('float64') ** power for x, power in zip(xs, powers)) * factor
    return (made + (0 if bias is None else bias) + len(names)).astype(xs[0].dtype)
x, y = pm.layers.data('x', [2]), pm.layers.data('y', [2])
feed = {'x': [1, 2], 'y': [3, 4]}
exe = pm.Executor()
for out in (weighted([x, y], 'ab'), weighted([x, y], '', bias=x, factor=0.5, powers=[2, 1])):
    print(exe.run(feed=feed, fetch_list=[out])[0].tolist())
"""
    assert printed(code, tmp_path) == ["[22.0, 38.0]", "[3.0, 6.0]"]


def test_several_outputs_and_shapes(tmp_path):
    """`like` an input, by a function of the Specs, and decided by the data."""
    code = """
@pm.python_op(outputs={"doubled": "x", "counts": lambda x, least: (x.shape[:1], "int64"),
                       "large": lambda x, least: ((-1,), x.dtype)}, no_gradient="it is for a test")
def facts(x, *, least=0.0):
    return 2 * x, (x > least).sum(1), x[x > least]
outs = facts(pm.layers.data('x', [-1, 2]), least=1.0)
print([(out.shape, out.dtype) for out in outs])
after = pm.layers.relu(outs[2])
exe = pm.Executor()
for value in ([[2, 3]], [[0, 1], [5, 1]]):
    print([found.tolist() for found in exe.run(feed={'x': value}, fetch_list=[*outs, after])])
"""
    assert printed(code, tmp_path) == [
        "[((-1, 2), 'float32'), ((-1,), 'int64'), ((-1,), 'float32')]",
        "[[[4.0, 6.0]], [2], [2.0, 3.0], [2.0, 3.0]]",
        "[[[0.0, 2.0], [10.0, 2.0]], [0, 1], [5.0], [5.0]]",
    ]


def test_a_function_runs_once_where_its_result_decides_the_shape(tmp_path):
    code = """
calls = []
@pm.python_op(outputs={"kept": lambda x: ((-1,), x.dtype)}, no_gradient="it is for a test")
def kept(x):
    calls.append(1)
    return x[x > 0]
out = kept(pm.layers.data('x', [4]))
print(pm.Executor().run(feed={'x': [1, -1, 2, -2]}, fetch_list=[out])[0].tolist(), len(calls))
"""
    assert printed(code, tmp_path) == ["[1.0, 2.0] 1"]


def test_a_gradient_of_several_inputs(tmp_path):
    """It names what it needs; labels have none; an input that it does not name is not kept for it."""
    code = """
@pm.python_op(outputs={"loss": lambda x, y, label: (x.shape, x.dtype), "sign": lambda x, y, label: (x.shape, "bool")})
def pick(x, y, label):
    return np.where(label == 1, x * y, y), x > 0
@pick.gradient
def pick_gradient(label, y, loss_grad):
    chosen = (label == 1).astype(y.dtype)
    return y * chosen * loss_grad, None, None
x, y = pm.layers.data('x', [2]), pm.layers.data('y', [2])
x.stop_gradient = False
loss, sign = pick(x, y, pm.layers.data('label', [2], 'int64'))
(gradient,) = pm.gradients([pm.layers.reduce_sum(loss)], [x])
feed = {'x': [1, 2], 'y': [3, 4], 'label': np.array([1, 0])}
print([value.tolist() for value in pm.Executor().run(feed=feed, fetch_list=[loss, sign, gradient])])
print([port['shape_only'] for port in pm._core.op_schema('pick_grad')['inputs']])
y.stop_gradient = False
try:
    (other,) = pm.gradients([pm.layers.reduce_sum(loss)], [y])
    pm.Executor().run(feed=feed, fetch_list=[other])
except pm.OpError as error:
    print(str(error).splitlines()[0])
"""
    assert printed(code, tmp_path) == [
        "[[3.0, 4.0], [True, True], [3.0, 0.0]]",
        "[True, False, False, False]",
        "pick_grad: the function gives None for Y@GRAD",
    ]


WRONG_RESULTS = {
    "x.astype('float64')": "ShapeError wrong: the function gives Out as [1, 2] float64; its declaration says [1, 2] float32",
    "x[:, :1]": "ShapeError wrong: the function gives Out as [1, 1] float32; its declaration says [1, 2] float32",
    "None": "OpError wrong: the function gives None for Out",
    "'text'": "ShapeError wrong: ",
    "kept.append(x) or x": "OpError wrong: the function keeps an array of its inputs, whose memory gets other values: keep x.copy()",
    "kept.append(x[0]) or x": "OpError wrong: the function keeps an array of its inputs",
    "x.__setitem__(0, 1)": "OpError wrong: the function wrong raised ValueError: assignment destination is read-only",
    "x.setflags(write=True)": "OpError wrong: the function wrong raised ValueError: cannot set WRITEABLE flag to True",
    "undefined": "OpError wrong: the function wrong raised NameError: name 'undefined' is not defined",
    "exit(3)": "OpError wrong: the function wrong raised SystemExit: 3",
}


def test_wrong_results_are_refused_and_the_scope_stays(tmp_path):
    code = "kept = []\n"
    for i, result in enumerate(WRONG_RESULTS):
        code += f"""
@pm.python_op(no_gradient="it is for a test", name="wrong_{i}")
def wrong(x):
    return {result}
with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
    step = pm.layers.create_global_var([1], 0.0, 'float32', persistable=True, name='step')
    pm.Executor().run(pm.default_startup_program())
    pm.layers.increment(step)
    out = wrong(pm.layers.data('x', [-1, 2]))
    pm.layers.increment(step)
    refused(lambda: pm.Executor().run(feed={{'x': [[1, 2]]}}, fetch_list=[out]))
    assert pm.global_scope().get('step') == 0
"""
    lines = said(code, tmp_path)
    for (i, words), line in zip(enumerate(WRONG_RESULTS.values()), lines):
        assert line.startswith(words.replace("wrong:", f"wrong_{i}:")), line
        assert f"in op #1 wrong_{i} -> " in line and "added at <string>" in line
    assert len(lines) == len(WRONG_RESULTS)


def test_an_error_of_the_gradient_leaves_the_scope_as_it_was(tmp_path):
    """Its forward operator has accepted the data, from which nothing follows for a function of the user."""
    code = """
@pm.python_op
def same(x):
    return x.copy()
@same.gradient
def same_gradient(out_grad):
    raise ArithmeticError('too steep')
loss = pm.layers.mean(same(pm.layers.fc(pm.layers.data('x', [-1, 2]), 3)))
step = pm.layers.create_global_var([1], 0.0, 'float32', persistable=True, name='step')
pm.layers.increment(step)
pm.optimizer.SGD(0.1).minimize(loss)
exe = pm.Executor()
exe.run(pm.default_startup_program())
before = pm.global_scope().get('fc_0.w_0')
refused(lambda: exe.run(feed={'x': [[1, 2]]}, fetch_list=[loss]))
print(pm.global_scope().get('step'), (pm.global_scope().get('fc_0.w_0') == before).all())
"""
    error, values = said(code, tmp_path)
    assert "OpError same_grad: the gradient same_gradient raised ArithmeticError: too steep" in error
    assert values == "[0.] True"


def test_an_exception_names_the_line_of_the_function_and_of_the_program(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import paddle_mini as pm\n\n@pm.python_op(no_gradient='it is for a test')\ndef fails(x):\n"
        "    values = {}\n    return values['missing']\n"
    )
    code = "import sys; sys.path.insert(0, '.')\nimport mine\nout = mine.fails(pm.layers.data('x', [1]))\n"
    (line,) = said(code + "refused(lambda: pm.Executor().run(feed={'x': [1]}, fetch_list=[out]))", tmp_path)
    assert line.startswith("OpError fails: the function fails raised KeyError: 'missing' |   at mine.py:6: return values['missing'] | ")
    assert "added at <string>:" in line and line.count("|") < 12


def test_a_saved_program_names_the_function(tmp_path):
    (tmp_path / "mine.py").write_text("import paddle_mini as pm" + CUBE)
    made = "import sys; sys.path.insert(0, '.')\nimport mine\nmine.cube(pm.layers.data('x', [1]), name='y')\n"
    printed(made + "open('program', 'wb').write(pm.default_main_program().to_bytes())", tmp_path)
    read = "program = pm.Program.from_bytes(open('program', 'rb').read())\n"
    run = "refused(lambda: pm.Executor().run(program, feed={'x': [2]}, fetch_list=['y.tmp_0'])[0].tolist())"
    assert said("import sys; sys.path.insert(0, '.')\nimport mine\n" + read + run, tmp_path) == ["[8.0]"]
    (error,) = said(read + run, tmp_path)
    assert "ProgramError cube: the operator is the Python function mine.cube, which this process does not have" in error
    assert "import the module that defines it" in error


DECLARATIONS = {
    "a name that exists": ("@pm.python_op(no_gradient='-')\ndef relu(x): return x", "operator 'relu' exists already"),
    "a name of other letters": ("@pm.python_op(no_gradient='-')\ndef Mine(x): return x", "lower-case identifier"),
    "a lambda": ("pm.python_op(lambda x: x)", "lower-case identifier"),
    "not a function": ("pm.python_op(3)", "is not a function"),
    "any number": ("@pm.python_op\ndef f(*xs): return xs", "write xs: list"),
    "an input with a default": ("@pm.python_op\ndef f(x=3): return x", "the input 'x' has a default"),
    "an attribute without a type": ("@pm.python_op\ndef f(x, *, k): return x", "the attribute 'k' has no type"),
    "a reserved parameter": ("@pm.python_op\ndef f(name): return name", "needs another name"),
    "no outputs": ("@pm.python_op(outputs=[])\ndef f(x): return x", "it must be names of outputs"),
    "no inputs": ("@pm.python_op\ndef f(): return 1", "outputs must say its shapes"),
    "an output like nothing": ("@pm.python_op(outputs={'a': 'y'})\ndef f(x): return x", "which is no input"),
    "an output called as an input": ("@pm.python_op(outputs=['x'])\ndef f(x): return x", "an output and a parameter"),
    "an unknown parameter of the gradient": (
        "f = pm.python_op(name='f')(lambda x: x)\nf.gradient(lambda z: z)",
        "a parameter 'z'; it may have x, out, out_grad",
    ),
    "an unknown keyword of the gradient": (
        "f = pm.python_op(name='f')(lambda x: x)\nf.gradient(lambda x, *, k=1: x)",
        "a keyword 'k', which is no attribute",
    ),
    "a gradient again": (
        "f = pm.python_op(name='f', no_gradient='-')(lambda x: x)\nf.gradient(lambda x: x)",
        "is complete already",
    ),
    "a call without a gradient": (
        "f = pm.python_op(name='f')(lambda x: x)\nf(pm.layers.data('x', [1]))",
        "has no gradient yet: decorate its gradient with @f_",
    ),
    "a wrong shape": (
        "f = pm.python_op(name='f', no_gradient='-', outputs={'a': lambda x: 3})(lambda x: x)\nf(pm.layers.data('x', [1]))",
        "it must give (shape, dtype)",
    ),
    "a wrong element type": (
        "f = pm.python_op(name='f', no_gradient='-', outputs={'a': lambda x: ((1,), 'text')})(lambda x: x)\n"
        "f(pm.layers.data('x', [1]))",
        "is not an element type",
    ),
    "a failing shape": (
        "f = pm.python_op(name='f', no_gradient='-', outputs={'a': lambda x: x.sape})(lambda x: x)\nf(pm.layers.data('x', [1]))",
        "outputs['a'] raised AttributeError",
    ),
}


def test_wrong_declarations_add_nothing(tmp_path):
    code = "import sys\n"
    for what, (text, _) in DECLARATIONS.items():
        name = f"f_{len(code)}"  # a valid operator of another one of these calls stays
        text = text.replace("name='f'", f"name='{name}'")
        code += f"before = len(pm.default_main_program().global_block().ops)\nrefused(lambda: exec({text!r}, globals()))\n"
        code += "assert len(pm.default_main_program().global_block().ops) == before\n"
    lines = said(code + "print([name for name in pm._core.op_types() if name in ('Mine', 'f')])", tmp_path)
    for (what, (_, words)), line in zip(DECLARATIONS.items(), lines):
        assert words in line, (what, line)
        assert line.startswith(("ProgramError", "ShapeError", "OpError")), (what, line)
    assert lines[-1] == "[]" and len(lines) == len(DECLARATIONS) + 1


def test_threads_with_executors_of_their_own(tmp_path):
    code = (
        CUBE
        + """
import threading
failures, done = [], []
def work(number):
    try:
        with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
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


@pytest.mark.parametrize("place", ["CPUPlace()", "EmulatedPlace(0)"])
@pytest.mark.parametrize("operator", ["slow", "pm.layers.relu"])
def test_the_interpreter_ends_while_threads_run_programs(tmp_path, operator, place):
    code = f"""
import threading, time
@pm.python_op(no_gradient="it is for a test")
def slow(x):
    time.sleep(0.01)
    return x + 1
entered = threading.Event()
def work():
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        out = {operator}(pm.layers.data('x', [1]))
        program, exe = pm.default_main_program(), pm.Executor(pm.{place}, allow_cpu_fallback=True)
        while True:
            exe.run(program, feed={{'x': [1]}}, fetch_list=[out])
            entered.set()
for _ in range(2): threading.Thread(target=work, daemon=True).start()
entered.wait()
"""
    child = started(code, tmp_path)
    assert child.communicate(timeout=120)[1] in ("", "\n") and child.returncode == 0


TEST = '''
import numpy as np
import paddle_mini as pm
from paddle_mini.testing import array, op_tests
{cube}
test_cube = op_tests(
    "cube",
    lambda inputs, attrs: {{"Out": inputs["X"] ** 3}},
    cases={{"matrix": ({{"X": array(3, 4)}}, {{}})}},
    gradients=["X"],
)
'''


@pytest.mark.parametrize("factor, passes", [("3", True), ("4", False)])
def test_the_harness_tests_python_operators(tmp_path, factor, passes):
    (tmp_path / "test_mine.py").write_text(TEST.format(cube=CUBE.replace("return 3 *", f"return {factor} *")))
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", "test_mine.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode == 0) == passes, done.stdout
    assert "4 passed" in done.stdout if passes else "1 failed, 3 passed" in done.stdout
