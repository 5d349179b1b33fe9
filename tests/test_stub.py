# paddle_mini/_core.pyi describes the C++ module correctly.
import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


def test_the_stub_is_that_of_the_module():
    pytest.importorskip("pybind11_stubgen", reason="pybind11-stubgen is not installed: make lint installs it")
    spec = importlib.util.spec_from_file_location("make_stub", ROOT / "python/make_stub.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.STUB.read_text() == module.text(), "run make stub"
