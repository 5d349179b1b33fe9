"""pm.layers.py_func, with the semantics of PaddlePaddle's. Each test runs in a process of its own."""

from own_operators.children import printed, said

SETUP = """
main = pm.default_main_program()
x = pm.layers.data('x', [-1, 2]); x.stop_gradient = False
def out(shape=(-1, 2), dtype='float32', name='out'):
    return main.current_block().create_var(name, shape=list(shape), dtype=dtype)
def run(*fetches):
    return [value.tolist() for value in pm.Executor().run(feed={'x': [[1, 2]]}, fetch_list=list(fetches))]
"""


def test_values_and_gradients(tmp_path):
    """backward_func gets x, out and the gradient of out; without those that it skips."""
    code = """
def backward(x, y, y_gradient):
    print([one.tolist() for one in (x, y, y_gradient)])
    return 2 * x * y_gradient
y = pm.layers.py_func(lambda x: x * x, x, out(), backward)
z = pm.layers.py_func(np.exp, x, out(name='other'), lambda out, gradient: out * gradient, skip_vars_in_backward_input=[x])
for one in (y, z):
    print([np.round(value, 3).tolist() for value in run(one, pm.gradients([pm.layers.reduce_sum(one)], [x])[0])])
"""
    assert said(SETUP + code, tmp_path) == [
        "[[[1.0, 2.0]], [[1.0, 4.0]], [[1.0, 1.0]]]",
        "[[[1.0, 4.0]], [[2.0, 4.0]]]",
        "[[[1.0, 2.0]], [[1.0, 4.0]], [[1.0, 1.0]]]",
        "[[[2.718, 7.389]], [[2.718, 7.389]]]",
    ]


def test_several_inputs_and_outputs_or_none(tmp_path):
    code = """
label = pm.layers.fill_constant([2], 'int64', 1)
total, count = pm.layers.py_func(lambda x, label: (x.sum(), label.sum(keepdims=True)), [x, label],
    [out([], name='total'), out([-1], 'int64', 'count')],
    lambda x, label, total, count, by_total, by_count: (0 * x + by_total, None))
pm.layers.py_func(lambda x: print('seen', x.tolist()), x, None)
made = pm.layers.py_func(lambda: np.arange(3), None, out([3], 'int64', 'made'))
print(run(total, count, made, pm.gradients([total], [x])[0]))
"""
    assert said(SETUP + code, tmp_path) == ["seen [[1.0, 2.0]]", "[3.0, [2], [0, 1, 2], [[1.0, 1.0]]]"]


def test_the_result_decides_open_dimensions(tmp_path):
    code = """
y = pm.layers.py_func(lambda x: np.repeat(x, 3, 0), x, out(), lambda x, y, gradient: gradient.sum(0, keepdims=True))
print(run(y, pm.gradients([pm.layers.reduce_sum(y)], [x])[0]))
z = pm.layers.py_func(lambda x: x.T, x, out([-1, 3], name='z'))
refused(lambda: run(z))
"""
    shapes, error = said(SETUP + code, tmp_path)
    assert shapes == "[[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], [[3.0, 3.0]]]"
    assert "the function gives Out as [2, 1] float32; its declaration says [-1, 3] float32" in error


def test_wrong_calls_append_nothing(tmp_path):
    code = """
refused(lambda: pm.layers.py_func(3, x, out()))
refused(lambda: pm.layers.py_func(np.exp, 3, 'y'))
refused(lambda: pm.layers.py_func(np.exp, x, 'y'))
refused(lambda: pm.layers.py_func(np.exp, None, None))
refused(lambda: pm.layers.py_func(np.exp, x, out(name='a'), np.exp, skip_vars_in_backward_input=['b']))
refused(lambda: pm.layers.py_func(np.exp, x, out(name='c'), backward_func=3))
print(len(main.global_block().ops))
y = pm.layers.py_func(lambda x: (x, x), x, out(name='d'))
refused(lambda: run(y))
"""
    lines = said(SETUP + code, tmp_path)
    words = [
        "can't be called",
        "x has 3",
        "out has 'y'",
        "neither x nor out",
        "has 'b', which is not in x or out",
        "can't be called",
    ]
    assert all(word in line and "added at" in line for word, line in zip(words, lines)), lines
    assert lines[6] == "0" and "returns 2 values, py_func has 1 outputs" in lines[7]


def test_a_saved_program_runs_where_its_function_is_registered(tmp_path):
    (tmp_path / "mine.py").write_text("def halved(x):\n    return x / 2\n")
    path = "import sys; sys.path.insert(0, '.')\nimport mine\n"
    printed(SETUP + path + "pm.layers.py_func(mine.halved, x, out())\nopen('program', 'wb').write(main.to_bytes())", tmp_path)
    run = "program = pm.Program.from_bytes(open('program', 'rb').read())\n"
    run += "refused(lambda: pm.Executor().run(program, feed={'x': [[1, 2]]}, fetch_list=['out'])[0].tolist())\n"
    assert said(path + "pm.register_py_func(mine.halved)\n" + run, tmp_path) == ["[[0.5, 1.0]]"]
    for before in ("", "pm.register_py_func(len)\n"):
        (error,) = said(before + run, tmp_path)
        assert "the Python function mine.halved" in error and "pass it to pm.register_py_func first" in error


def test_a_program_of_paddlepaddle_is_refused(tmp_path):
    """It has the number of a function in the process that made it, and nothing else."""
    code = """
pm.layers.py_func(np.tanh, x, out())
op = main.global_block().ops[-1]
op._attrs = {name: value for name, value in op._attrs.items() if name in ('forward_callable_id', 'backward_callable_id')}
open('program', 'wb').write(main.to_bytes())
"""
    printed(SETUP + code, tmp_path)
    run = "program = pm.Program.from_bytes(open('program', 'rb').read())\n"
    run += "refused(lambda: pm.Executor().run(program, feed={'x': [[1, 2]]}, fetch_list=['out']))\n"
    for before in ("", "pm.register_py_func(len)\n"):
        (error,) = said(before + run, tmp_path)
        assert error.startswith("ProgramError py_func: ") and "the process that made" in error


def test_functions_of_one_name_are_numbered(tmp_path):
    code = """
class Counter:
    def count(self, x): return x + 1
counter = Counter()
for function in (lambda x: x + 2, lambda x: 3 * x, counter.count, counter.count):
    pm.layers.py_func(function, x, out(name=f'out_{len(main.global_block().ops)}'))
print([op.attr('python_function') for op in main.global_block().ops], run('out_0', 'out_1', 'out_3'))
"""
    assert said(SETUP + code, tmp_path) == [
        "['__main__.<lambda>', '__main__.<lambda>#2', '__main__.Counter.count', '__main__.Counter.count'] "
        "[[[3.0, 4.0]], [[3.0, 6.0]], [[2.0, 3.0]]]"
    ]
