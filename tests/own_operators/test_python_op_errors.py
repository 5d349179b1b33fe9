"""pm.python_op: declarations, results and exceptions that are refused, and what is then unchanged."""

from own_operators.children import printed, said

WRONG_RESULTS = {
    "x.astype('float64')": "ShapeError wrong: the function gives Out as [1, 2] float64; its declaration says [1, 2] float32",
    "x[:, :1]": "ShapeError wrong: the function gives Out as [1, 1] float32; its declaration says [1, 2] float32",
    "None": "OpError wrong: the function gives None for Out",
    "np.ma.masked_greater(x, 0)": "OpError wrong: the function gives a masked array for Out; give its filled(value)",
    "'text'": "ShapeError wrong: ",
    "kept.append(x) or x": "OpError wrong: the function keeps an array of its inputs, whose memory gets other",
    "kept.append(x[0]) or x": "OpError wrong: the function keeps an array of its inputs",
    "x.__setitem__(0, 1)": "OpError wrong: the function wrong raised ValueError: assignment destination is read-only",
    "x.setflags(write=True)": "OpError wrong: the function wrong raised ValueError: cannot set WRITEABLE flag to True",
    "undefined": "OpError wrong: the function wrong raised NameError: name 'undefined' is not defined",
    "exit(3)": "OpError wrong: the function wrong raised SystemExit: 3",
    "raise_without_text()": "OpError wrong: the function wrong raised WithoutText",
}


def test_runs_that_fail_keep_no_feeds(tmp_path):
    """The traceback of an exception has the arrays that the function got; a later run of other operators must not pay for it."""
    code = """
import gc, weakref
class Fed(np.ndarray): pass
@pm.python_op(no_gradient="it is for a test")
def fails(x): raise ValueError('no')
@pm.python_op(no_gradient="it is for a test")
def keeps(x): raise ValueError(x)
x = pm.layers.data('x', [-1, 4])
outs = [fails(x), keeps(x), pm.layers.one_hot(pm.layers.cast(x, 'int64'), 2)]
exe, main = pm.Executor(), pm.default_main_program()
def fed_and_kept(out):
    program, alive = main.prune(['x'], [out]), []
    for _ in range(3):
        value = np.full((5, 4), 7, 'float32').view(Fed)
        alive.append(weakref.ref(value))
        try: exe.run(program, feed={'x': value}, fetch_list=[out])
        except pm.Error: pass
        del value
    gc.collect()
    return sum(one() is not None for one in alive)
for i in (0, 2, 1, 2, 0): print(fed_and_kept(outs[i]))
"""
    assert printed(code, tmp_path) == ["0", "0", "3", "0", "0"]


def test_wrong_results_are_refused_and_the_scope_stays(tmp_path):
    code = """
kept = []
class WithoutText(Exception):
    def __str__(self): return 1 / 0
def raise_without_text(): raise WithoutText
"""
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
    assert line.startswith(
        "OpError fails: the function fails raised KeyError: 'missing' |   at mine.py:6: return values['missing'] | "
    )
    assert "added at <string>:" in line and line.count("|") < 12


def test_the_exception_of_the_function_is_the_cause(tmp_path):
    """With its traceback, which begins in the function; whether it comes from a run, on a device too, or from shapes. Local
    variables are gone: they were arrays in the memory of the run."""
    code = """
import traceback
class Mine(Exception): pass
def shape(x):
    raise LookupError('no shape')
@pm.python_op(no_gradient='it is for a test')
def fails(x):
    view = x[:1]
    raise Mine('because', 3)
@pm.python_op(no_gradient='it is for a test', outputs={'out': shape})
def shapeless(x):
    return x
def caused(call):
    try:
        call()
    except pm.Error as error:
        cause = error.__cause__
        frames = traceback.extract_tb(cause.__traceback__)
        left = [name for frame, _ in traceback.walk_tb(cause.__traceback__) for name in frame.f_locals]
        print(type(error).__name__, repr(cause), [frame.name for frame in frames], left)
x = pm.layers.data('x', [-1, 2])
out = fails(x)
for place in (pm.CPUPlace(), pm.EmulatedPlace(0)):
    exe = pm.Executor(place, allow_cpu_fallback=True)
    caused(lambda: exe.run(feed={'x': [[1, 2]]}, fetch_list=[out]))
caused(lambda: shapeless(x))
"""
    lines = [line for line in said(code, tmp_path) if not line.startswith("fallback")]
    mine = "OpError Mine('because', 3) ['fails'] []"
    assert lines[:3] == [mine, mine, "OpError LookupError('no shape') ['shape'] []"], lines


def test_an_exception_may_hold_an_array_of_the_inputs(tmp_path):
    """Its memory stays, whatever the runs after it compute."""
    code = """
@pm.python_op(no_gradient='it is for a test')
def fails(x):
    raise ValueError(x)
out = fails(pm.layers.scale(pm.layers.data('x', [-1, 2]), scale=3.0))
exe, causes = pm.Executor(), []
for i in range(20):
    try:
        exe.run(feed={'x': np.full((1000, 2), i, 'float32')}, fetch_list=[out])
    except pm.OpError as error:
        causes.append(error.__cause__)
print(len(causes), all(cause.args[0].shape == (1000, 2) and np.isfinite(cause.args[0]).all() for cause in causes))
"""
    assert said(code, tmp_path) == ["20 True"]


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
    "an output like nothing": ("@pm.python_op(outputs={'a': 'y'})\ndef f(x): return x", "which is not an input"),
    "an output called as an input": ("@pm.python_op(outputs=['x'])\ndef f(x): return x", "an output and a parameter"),
    "an unknown parameter of the gradient": (
        "f = pm.python_op(name='f')(lambda x: x)\nf.gradient(lambda z: z)",
        "a parameter 'z'; it may have x, out, out_grad",
    ),
    "an unknown keyword of the gradient": (
        "f = pm.python_op(name='f')(lambda x: x)\nf.gradient(lambda x, *, k: x)",
        "a keyword 'k', which is not an attribute",
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
    **{
        f"the declaration {said}": (
            f"f = pm.python_op(name='f', no_gradient='-', outputs={{'a': lambda x: {said}}})(lambda x: x)\n"
            "f(pm.layers.data('x', [1]))",
            "it must give (shape, dtype)",
        )
        for said in (
            "((1.5, 2), 'float32')",
            "((True, 2), 'float32')",
            "('22', 'float32')",
            "((2,), None)",
            "((2**63,), 'float32')",
        )
    },
    "a shape with too many elements": (
        "f = pm.python_op(name='f', no_gradient='-', outputs={'a': lambda x: ((2**40, 2**40), 'float32')})(lambda x: x)\n"
        "f(pm.layers.data('x', [1]))",
        "] has too many elements |   X 'x' [1] float32 |   in op f_",
    ),
    "a failing shape": (
        "f = pm.python_op(name='f', no_gradient='-', outputs={'a': lambda x: x.sape})(lambda x: x)\nf(pm.layers.data('x', [1]))",
        "outputs['a'] raised AttributeError",
    ),
}


def test_wrong_declarations_add_nothing(tmp_path):
    code = "import sys\n"
    for text, _ in DECLARATIONS.values():
        name = f"f_{len(code)}"  # a valid operator of another one of these calls stays
        text = text.replace("name='f'", f"name='{name}'")
        code += f"before = len(pm.default_main_program().global_block().ops)\nrefused(lambda: exec({text!r}, globals()))\n"
        code += "assert len(pm.default_main_program().global_block().ops) == before\n"
    lines = said(code + "print([name for name in pm._core.op_types() if name in ('Mine', 'f')])", tmp_path)
    for (what, (_, words)), line in zip(DECLARATIONS.items(), lines):
        assert words in line, (what, line)
        assert line.startswith(("ProgramError", "ShapeError", "OpError")), (what, line)
    assert lines[-1] == "[]" and len(lines) == len(DECLARATIONS) + 1
