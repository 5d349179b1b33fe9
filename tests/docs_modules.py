"""The programs that write pages of docs/."""

import importlib.util
import pathlib

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"


def docs_module(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
