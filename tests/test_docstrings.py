"""Examples in docstrings run, and print the results that they show."""

import doctest
import inspect

import numpy as np
import pytest

import paddle_mini as pm

ELSEWHERE = ("paddle_mini.training", "paddle_mini.inspection")  # tests of these packages run their examples, on data
MODULES = [pm, pm.layers, pm.optimizer, pm.lr, pm.io, pm.clip, pm.initializer, pm.regularizer, pm.nets, pm.data]


def documented():
    """The public functions and classes, and the methods of these, each once, by name."""
    found = {}
    for module in MODULES:
        for name in getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]:
            value = getattr(module, name)
            if (inspect.isroutine(value) or inspect.isclass(value)) and not value.__module__.startswith(ELSEWHERE):
                found[f"{module.__name__}.{name}"] = value
    for path, value in list(found.items()):
        if inspect.isclass(value):
            methods = {name: one for name, one in vars(value).items() if inspect.isfunction(one) and not name.startswith("_")}
            found.update((f"{path}.{name}", one) for name, one in methods.items())
    return found


def examples_of(value):
    return doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")


def test_examples_give_the_results_that_they_show(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for examples that write files
    threads = pm.num_threads()
    failed, ran = [], 0
    for path, value in documented().items():
        examples = examples_of(value)
        with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
            test = doctest.DocTest(examples, {"pm": pm, "np": np}, path, None, 0, None)
            result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=failed.append)
        ran += result.attempted
    pm.set_num_threads(threads)
    assert not failed, "".join(failed)
    assert ran > 300


@pytest.mark.parametrize("name", pm.layers.__all__)
def test_layers_are_documented_in_full(name):
    """Those made from a schema, and those whose text would be too short for a reader who does not know them."""
    function = getattr(pm.layers, name)
    doc = inspect.getdoc(function)
    made = function.__module__ == "paddle_mini.layers.ops"
    if made or len(doc) < 90:
        assert examples_of(function)
        for heading in ("Args:", "Returns:", *(("Raises:", "Element types:") if made else ())):
            assert heading in doc or (heading == "Args:" and not inspect.signature(function).parameters)
