"""pm.python_op: operators whose kernels are Python functions. Each test defines them in a process of its own."""

import subprocess
import sys

import pytest

from own_operators.children import PYTHON_CUBE, printed, said

X = "x = pm.layers.data('x', [-1, 2]); x.stop_gradient = False\n"


def test_values_and_gradients_are_those_of_the_functions(tmp_path):
    code = (
        PYTHON_CUBE
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
        PYTHON_CUBE
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


def test_a_gradient_needs_only_the_names_of_attributes(tmp_path):
    code = (
        """
@pm.python_op
def scaled(x, *, by=2.0):
    return x * np.float32(by)
@scaled.gradient
def scaled_gradient(out_grad, *, by):
    return out_grad * np.float32(by)
"""
        + X
        + """
(gradient,) = pm.gradients([scaled(x, by=3.0)], [x])
print(pm.Executor().run(feed={'x': [[1, 1]]}, fetch_list=[gradient])[0].tolist())
"""
    )
    assert printed(code, tmp_path) == ["[[3.0, 3.0]]"]


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


def test_a_saved_program_names_the_function(tmp_path):
    (tmp_path / "mine.py").write_text("import paddle_mini as pm" + PYTHON_CUBE)
    made = "import sys; sys.path.insert(0, '.')\nimport mine\nmine.cube(pm.layers.data('x', [1]), name='y')\n"
    printed(made + "open('program', 'wb').write(pm.default_main_program().to_bytes())", tmp_path)
    read = "program = pm.Program.from_bytes(open('program', 'rb').read())\n"
    run = "refused(lambda: pm.Executor().run(program, feed={'x': [2]}, fetch_list=['y.tmp_0'])[0].tolist())"
    assert said("import sys; sys.path.insert(0, '.')\nimport mine\n" + read + run, tmp_path) == ["[8.0]"]
    (error,) = said(read + run, tmp_path)
    assert "ProgramError cube: the operator is the Python function mine.cube, which this process does not have" in error
    assert "import the module that defines it" in error


TEST = """
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
"""


@pytest.mark.parametrize("factor, passes", [("3", True), ("4", False)])
def test_the_harness_tests_python_operators(tmp_path, factor, passes):
    (tmp_path / "test_mine.py").write_text(TEST.format(cube=PYTHON_CUBE.replace("return 3 *", f"return {factor} *")))
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", "test_mine.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode == 0) == passes, done.stdout
    assert ("1 passed" if passes else "1 failed") in done.stdout, done.stdout
