"""pm.load_op: operators from C++ files of users. Each test loads them in a process of its own."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from own_operators.children import CUBE, prepared_compiler, printed, started
from thorough import some, thorough

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFUSED = """
before = pm._core.op_types()
try:
    pm.load_op({path!r})
except pm.ProgramError as error:
    print(error)
assert pm._core.op_types() == before
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with cube.cc, which is compiled there once."""
    folder = tmp_path_factory.mktemp("operators")
    (folder / "cube.cc").write_text(CUBE)
    printed("pm.load_op('cube.cc')", folder)
    return folder


def libraries(folder):
    return sorted((folder / "compiled").iterdir())


def refused(folder, text, name="cube", **environment):
    """The error for a file of this text, and that no operator was added."""
    (folder / f"{name}.cc").write_text(text)
    return "\n".join(printed(REFUSED.format(path=f"{name}.cc"), folder, **{"PM_CXX": prepared_compiler(), **environment}))


def test_values_and_gradients_are_those_of_the_file(compiled):
    code = """
cube = pm.load_op('cube.cc')
x = pm.layers.data('x', [-1, 2])
x.stop_gradient = False
loss = pm.layers.reduce_sum(cube(x))
(gradient,) = pm.gradients([loss], [x])
for place in (pm.CPUPlace(), pm.EmulatedPlace(0)):
    for value in pm.Executor(place).run(feed={'x': np.array([[2, -3]], 'float32')}, fetch_list=[loss, gradient]):
        print(value.tolist())
"""
    assert printed(code, compiled) == ["-19.0", "[[12.0, 27.0]]"] * 2


def test_the_layer_function_is_made_from_the_schema(compiled):
    code = """
import inspect
cube = pm.load_op('cube.cc')
print(cube.__name__, inspect.signature(cube))
print(cube.__doc__.splitlines()[0])
y = pm.layers.fc(pm.layers.data('x', [-1, 2]), 3, act='cube')
print(y.shape, pm.default_main_program().global_block().ops[-1].type)
try:
    cube(3)
except pm.ProgramError as error:
    print(str(error).splitlines()[0])
"""
    assert printed(code, compiled) == [
        "cube (x: 'Variable', *, name: 'str | None' = None) -> 'Variable'",
        "Out = x^3.",
        "(-1, 3) cube",
        "cube: X is 3, it must be a Variable",
    ]


def test_the_same_content_again_is_the_same_operator(compiled):
    shutil.copytree(compiled, compiled / "elsewhere", ignore=shutil.ignore_patterns("elsewhere"))
    code = "print(pm.load_op('cube.cc') is pm.load_op('elsewhere/cube.cc'))"
    assert printed(code, compiled) == ["True"]


def test_other_content_of_a_loaded_operator_is_refused(compiled):
    code = """
pm.load_op('cube.cc')
open('other.txt', 'w').write('')
import os; os.makedirs('new', exist_ok=True)
open('new/cube.cc', 'w').write(open('cube.cc').read() + '// changed')
try:
    pm.load_op('new/cube.cc')
except pm.ProgramError as error:
    print(error)
"""
    (line, place) = printed(code, compiled)
    assert "operator 'cube' is loaded already, from cube.cc with other content" in line and "added at" in place


def test_a_program_is_run_by_a_process_that_loads_the_operator_first(compiled):
    code = """
pm.load_op('cube.cc')
pm.load_op('cube.cc')(pm.layers.data('x', [1]), name='y')
open('program', 'wb').write(pm.default_main_program().to_bytes())
print(pm.default_main_program().global_block().ops[-1].output('Out')[0])
"""
    (out,) = printed(code, compiled)
    read = "program = pm.Program.from_bytes(open('program', 'rb').read())\n"
    run = f"print(pm.Executor().run(program, feed={{'x': np.array([2], 'float32')}}, fetch_list=[{out!r}])[0])"
    assert printed("pm.load_op('cube.cc')\n" + read + run, compiled) == ["[8.]"]
    child = started(read + run, compiled)
    error = child.communicate(timeout=300)[1]
    assert child.returncode and "operator 'cube' is not known" in error and "load that first: pm.load_op" in error


@thorough
def test_a_library_is_compiled_once_and_again_for_other_content(tmp_path):
    (tmp_path / "cube.cc").write_text(CUBE)
    count = f'case "$*" in *--version*) ;; *) echo compiled >> {tmp_path}/calls.txt;; esac'
    (tmp_path / "counted").write_text(f'#!/bin/sh\n{count}\nexec {prepared_compiler()} "$@"\n')
    (tmp_path / "counted").chmod(0o755)
    load = lambda: printed("pm.load_op('cube.cc')", tmp_path, PM_CXX=str(tmp_path / "counted"))
    load()
    load()
    assert (tmp_path / "calls.txt").read_text() == "compiled\n"
    (tmp_path / "cube.cc").write_text(CUBE + "// changed\n")
    load()
    assert (tmp_path / "calls.txt").read_text() == "compiled\n" * 2 and len(libraries(tmp_path)) == 2


@thorough
def test_processes_may_compile_at_the_same_time(tmp_path):
    (tmp_path / "cube.cc").write_text(CUBE)
    children = [started("print(pm.load_op('cube.cc').__name__)", tmp_path, PM_CXX=prepared_compiler()) for _ in range(2)]
    assert [child.communicate(timeout=300)[0] for child in children] == ["cube\n"] * 2
    assert len(libraries(tmp_path)) == 1


@thorough
def test_folders_that_killed_compilations_left_are_removed(tmp_path):
    """Those in which nothing has changed for a day; not one of a compilation that may still run."""
    (tmp_path / "cube.cc").write_text(CUBE)
    for name, age in (("compiling-old", 2 * 86400), ("compiling-new", 60)):
        left = tmp_path / "compiled" / name
        left.mkdir(parents=True)
        (left / "operator.so").write_bytes(b"half")
        os.utime(left, (os.stat(left).st_mtime - age,) * 2)
    os.chmod(tmp_path / "compiled", 0o700)
    assert printed("print(pm.load_op('cube.cc').__name__)", tmp_path, PM_CXX=prepared_compiler()) == ["cube"]
    assert [path.name for path in libraries(tmp_path) if path.is_dir()] == ["compiling-new"]


def test_pm_run_runs_programs_with_a_compiled_operator(compiled):
    code = """
y = pm.load_op('cube.cc')(pm.layers.fill_constant([2], 'float32', 3.0), name='y')
open('with_cube', 'wb').write(pm.default_main_program().to_bytes())
"""
    printed(code, compiled)
    (library,) = [path for path in libraries(compiled) if path.suffix == ".so"]
    pm_run = pathlib.Path(sys.executable).with_name("pm_run")
    run = lambda *words: subprocess.run(
        [pm_run, compiled / "with_cube", "--fetch", "y.tmp_0", *words], capture_output=True, text=True
    )
    done = run("--op", library)
    assert done.returncode == 0 and "27" in done.stdout, done.stderr
    assert "operator 'cube' is not known" in run().stderr
    assert "can't load the library of an operator" in run("--op", compiled / "cube.cc").stderr


@thorough
def test_a_link_in_place_of_a_library_is_not_followed(tmp_path, compiled):
    shutil.copytree(compiled, tmp_path, dirs_exist_ok=True)
    (library,) = libraries(tmp_path)
    library.unlink()
    planted = tmp_path / "planted.so"
    planted.write_bytes(b"not a library")
    library.symlink_to(planted)
    assert printed("print(pm.load_op('cube.cc').__name__)", tmp_path) == ["cube"]
    assert planted.read_bytes() == b"not a library" and not library.is_symlink()


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_is_refused(tmp_path, mode):
    (tmp_path / "compiled").mkdir()
    os.chmod(tmp_path / "compiled", mode)
    assert "only you may write" in refused(tmp_path, CUBE) and not libraries(tmp_path)


def test_an_error_of_the_compiler_names_the_line_of_the_file(tmp_path):
    error = refused(tmp_path, CUBE.replace("return x * x * x;", "return x * y * x;"))
    assert "cube.cc does not compile:\ncube.cc:10:" in error and "'y' was not declared" in error
    assert error.splitlines()[-1].strip().startswith("added at <string>") and len(error.splitlines()) <= 12


WRONG = {
    "no doc": (CUBE.replace('.doc("Out = X^3.")', ""), "doc"),
    "a name that exists": (CUBE.replace('unary("cube")', 'unary("relu")'), "operator 'relu' is defined twice"),
    "another name": (CUBE.replace('unary("cube")', 'unary("dice")'), "defines no operator 'cube'"),
    "a gradient that is missing": (
        CUBE.replace("add_unary<Cube, Saved::X>(ops, ", "ops.add(").replace(
            ', "X@GRAD = 3 X^2 Out@GRAD.")',
            '.gradient("cube_grad", {"X", "Out@GRAD"}, {"X@GRAD"}).kernels<UnaryKernel<Cube>::For, float>())',
        ),
        "its gradient 'cube_grad' is not defined",
    ),
    "an exception": (
        CUBE.replace("  add_unary<Cube", '  throw std::runtime_error("by the file");\n  add_unary<Cube'),
        "by the file",
    ),
    "a function that is missing": (CUBE.replace("define_cube", "define_it"), "does not define `void define_cube(OpTable&)`"),
    "a function that is only declared": (
        "namespace paddle_mini { class OpTable; void define_cube(OpTable&); }",
        "undefined reference",
    ),
    "a header beside it": ('#include "mine.h"\n' + CUBE, "mine.h: No such file"),
}


@pytest.mark.parametrize("what", some(WRONG, 3))
def test_a_wrong_file_adds_nothing(tmp_path, what):
    text, words = WRONG[what]
    (tmp_path / "mine.h").write_text("")
    error = refused(tmp_path, text)
    assert words in error and "cube.cc" in error and "added at <string>" in error


@pytest.mark.parametrize(
    "name, words",
    [
        ("relu.cc", "operator 'relu' exists already"),
        ("cube.cpp", "expected NAME.cc"),
        ("cube.cu", "expected NAME.cc: one file has the kernels for CPUs and for GPUs"),
        ("Cube.cc", "lower-case identifier"),
        ("missing.cc", "No such file"),
    ],
)
def test_wrong_names(tmp_path, name, words):
    if "missing" not in name:
        (tmp_path / name).write_text(CUBE)
    assert words in "\n".join(printed(REFUSED.format(path=name), tmp_path))


def test_without_a_compiler_the_error_says_so(tmp_path):
    assert "there is no such program" in refused(tmp_path, CUBE, PM_CXX="/nowhere/c++")
    assert "there is no C++ compiler" in refused(tmp_path, CUBE, PM_CXX="", PATH="/nowhere")


@thorough
def test_products_of_matrices_are_those_of_the_package(tmp_path):
    """An operator may use the code that operators share, in the package's library: a copy of mul gives its bits."""
    text = (ROOT / "cpp/ops/mul.cc").read_text()
    for name in ("define_mul(", '"mul"', '"mul_grad"'):
        text = text.replace(name, name.replace("mul", "product"))
    (tmp_path / "product.cc").write_text(text)
    code = """
product = pm.load_op('product.cc')
x, y = pm.layers.data('x', [40, 30]), pm.layers.data('y', [30, 50])
values = [np.random.default_rng(0).normal(size=size).astype('float32') for size in ((40, 30), (30, 50))]
one, other = pm.Executor().run(feed=dict(zip('xy', values)), fetch_list=[product(x, y), pm.layers.mul(x, y)])
print((one == other).all())
"""
    assert printed(code, tmp_path, PM_CXX=prepared_compiler()) == ["True"]


def test_operators_are_added_while_threads_build_programs(compiled):
    code = """
import threading
from paddle_mini.thread_state import own_state
stop, failures, built = threading.Event(), [], threading.Semaphore(0)
def build():
    while not stop.is_set():
        with own_state(), pm.program_guard(pm.Program(), pm.Program()):
            try:
                pm.layers.relu(pm.layers.data('x', [2]))
                built.release()
            except Exception as error:
                failures.append(error)
threads = [threading.Thread(target=build) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(20): built.acquire()
cube = pm.load_op('cube.cc')
for _ in range(20): built.acquire()
stop.set()
for thread in threads: thread.join()
print(failures, cube.__name__)
"""
    assert printed(code, compiled) == ["[] cube"]
