"""docs/errors.md: each example raises the error that it shows, and every error class is described."""

import inspect
import linecache
import pathlib
import re
import runpy
import warnings

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.thread_state import own_state, state

PAGE = (pathlib.Path(__file__).resolve().parents[1] / "docs/errors.md").read_text()
ENTRY = re.compile(r"\n```python\n(?P<code>.*?)```\n\n```text\n(?P<error>.*?)\n```\n\n(?P<advice>[^#|]+)", re.S)
ENTRIES = [
    (phrase, *ENTRY.match(text).groups()) for phrase, text in re.findall(r"^### ([^\n]*)\n(.*?)(?=^##|\Z)", PAGE, re.S | re.M)
]


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with own_state():
        pm.reset_default_programs()
        state().scope = pm.Scope()
        yield
    pm.devices.emulate(9)


@pytest.mark.parametrize("phrase, code, error, advice", ENTRIES, ids=[entry[0] for entry in ENTRIES])
def test_an_example_raises_the_error_that_it_shows(phrase, code, error, advice, fresh):
    if "CUDAPlace" in code and pm.devices.gpu_count():
        pytest.skip("there is a GPU here")
    pathlib.Path("train.py").write_text(code)
    linecache.clearcache()  # messages show lines of train.py
    names = {"np": np, "pm": pm, "x": pm.layers.data("x", [-1, 4]), "exe": pm.Executor(), "rows": np.ones((3, 4), "float32")}
    with pytest.raises(Exception) as raised, warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path("train.py", init_globals=names)
    shown = f"{raised.type.__name__}: {raised.value}".splitlines()[0]
    assert re.fullmatch(re.escape(error).replace(r"\.\.\.", ".*"), shown), shown
    assert phrase in error
    assert advice.strip()


def test_each_message_is_listed_once():
    assert len(ENTRIES) == PAGE.count("```python") > 35
    assert len({entry[0] for entry in ENTRIES}) == len(ENTRIES)


PUBLIC = [getattr(module, name) for module in (pm, pm.optimizer, pm.cluster) for name in module.__all__]
ERRORS = [value for value in PUBLIC if inspect.isclass(value) and issubclass(value, Exception)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_error_class_is_listed(error):
    (row,) = re.findall(rf"^\|[^|]*`{error.__name__}`[^|]*\|([^|]*)\|", PAGE, re.M)
    if error.__module__ == "paddle_mini":  # a class of the C++ module
        assert inspect.getdoc(error).partition(" docs/errors.md")[0] in row
