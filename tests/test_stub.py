# The stubs in paddle_mini describe the C++ module, and the layer functions that are made from schemas, correctly.
import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("stub", ["_core.pyi", "layers/ops.pyi"])
def test_the_stub_is_what_would_be_made_now(stub):
    pytest.importorskip("pybind11_stubgen", reason="pybind11-stubgen is not installed: make lint installs it")
    spec = importlib.util.spec_from_file_location("make_stub", ROOT / "python/make_stub.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert set(module.STUBS) == {str(path.relative_to(module.FOLDER)) for path in module.FOLDER.rglob("*.pyi")}
    assert (module.FOLDER / stub).read_text() == module.STUBS[stub](), "run make stub"
