"""Every public function and class has an example, which runs and prints the results that it shows."""

import doctest
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest

import paddle_mini as pm
from own_operators.children import printed
from paddle_mini.shared_docs import describe_shared
from paddle_mini.thread_state import own_state, state

MODULES = [pm, *(value for name in pm.__all__ if inspect.ismodule(value := getattr(pm, name)))]


def public():
    """The public functions and classes, each once, by name."""
    found = {}
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            if (inspect.isroutine(value) or inspect.isclass(value)) and value not in found.values():
                found[f"{module.__name__}.{name}"] = value
    return found


PUBLIC = public()
TRAINING = {name for name, value in PUBLIC.items() if value.__module__.startswith("paddle_mini.training")}
ERRORS = {name for name, value in PUBLIC.items() if inspect.isclass(value) and issubclass(value, Exception)}


def documented():
    """Modules, functions, classes, and the methods of classes, by name."""
    found = {module.__name__: module for module in MODULES} | PUBLIC
    for path, value in PUBLIC.items():
        if inspect.isclass(value):
            methods = {name: one for name, one in vars(value).items() if is_method(one) and not name.startswith("_")}
            found.update((f"{path}.{name}", one) for name, one in methods.items())
    return found


def is_method(value):
    return inspect.isfunction(value) or isinstance(value, property)


def examples_of(value):
    return doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")


def names():
    """The names that examples use; those of pm.training are about a loss and data."""
    x, y = pm.layers.data("x", [-1, 2]), pm.layers.data("y", [-1, 1])
    loss = pm.layers.mean(pm.layers.square_error_cost(pm.layers.fc(x, 1), y))
    inputs = np.arange(16, dtype="float32").reshape(8, 2) / 16
    return {"loss": loss, "inputs": inputs, "targets": inputs.sum(1)}


# Their examples add operators, which a process can't forget: each runs in a process of its own.
ADD_OPERATORS = {"paddle_mini.load_op", "paddle_mini.python_op", "paddle_mini.register_py_func", "paddle_mini.layers.py_func"}


@pytest.mark.parametrize("name", sorted(ADD_OPERATORS))
def test_an_example_that_adds_operators_gives_its_results(name, tmp_path):
    code = f"import doctest\ndoctest.run_docstring_examples({name.replace('paddle_mini', 'pm')}, {{'pm': pm, 'np': np}})"
    assert ">>>" in inspect.getdoc(PUBLIC[name]) and printed(code, tmp_path) == []


def test_examples_give_the_results_that_they_show(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for examples that write files
    threads = pm.num_threads()
    failed, ran = [], 0
    for path, value in documented().items():
        if path in ADD_OPERATORS:
            continue
        with own_state():  # default programs, scope and seed of its own
            pm.reset_default_programs()
            state().scope = pm.Scope()
            known = {"pm": pm, "np": np, **(names() if path in TRAINING else {})}
            test = doctest.DocTest(examples_of(value), known, path, None, 0, None)
            result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=failed.append)
        ran += result.attempted
    pm.set_num_threads(threads)
    pm.devices.emulate(9)
    assert not failed, "".join(failed)
    assert ran > 1000


def test_every_method_and_property_is_described():
    """In its class, or where a base class defines it."""
    assert [path for path, value in documented().items() if not inspect.getdoc(value)] == []


def parameters_of(value):
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:  # a class of the C++ module
        return []
    return [] if value is pm.loggers.Logger else [one.name for one in parameters]  # a protocol has the signature of object


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - ERRORS))
def test_every_parameter_is_described_and_there_is_an_example(name):
    text, example, _ = inspect.getdoc(PUBLIC[name]).partition("Example:")
    assert examples_of(PUBLIC[name]), "without an example"
    assert example or name in TRAINING or "\n>>> " in text
    text = text.partition(">>> ")[0]
    assert [one for one in parameters_of(PUBLIC[name]) if not re.search(rf"(?<!\w){one}(?!\w)", text)] == []


FUNCTIONS = {f"{module.__name__}.{name}" for module in (pm.layers, pm.nets) for name in module.__all__} & PUBLIC.keys()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_layer_says_what_it_returns_and_raises(name):
    doc = inspect.getdoc(PUBLIC[name])
    assert "ShapeError" in doc and "ProgramError" in doc
    assert "Returns" in doc or inspect.isclass(PUBLIC[name])
    if PUBLIC[name].__module__ == "paddle_mini.layers.ops":  # made from a schema
        for heading in ("Args:", "Returns:", "Raises:", "Element types:"):
            assert heading in doc


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_every_error_class_is_described(name):
    """The messages of errors, with causes and remedies, are in docs/errors.md."""
    doc = vars(PUBLIC[name])["__doc__"]
    assert doc and doc.endswith(".")


def test_shared_descriptions_come_before_the_example():
    def function(x, axis=0, name=None):
        """Does it.

        x: any shape. axis: the axis.
        Example:
            >>> 1
            1
        """

    def sectioned(x, name=None):
        """Does it.

        Args:
            x: any shape
        Returns:
            the same
        """

    shared = {"name": "its name", "axis": "not used"}
    describe_shared([function, sectioned, function], shared, {"ShapeError": "shapes"})
    lines = ["x: any shape. axis: the axis.", "name: its name.", "Raises ShapeError for shapes.", "Example:"]
    assert function.__doc__.splitlines()[2:6] == lines
    arguments = ["Args:", "    x: any shape", "    name: its name"]
    assert sectioned.__doc__.splitlines()[2:] == [*arguments, "Returns:", "    the same", "Raises:", "    ShapeError: for shapes"]


def test_python_without_docstrings():
    code = "import paddle_mini as pm; pm.layers.relu(pm.layers.data('x', [2]))"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
