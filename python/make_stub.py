"""Writes paddle_mini/_core.pyi, the types of the C++ module for mypy and editors, from the signatures that the module has."""

import ast
import pathlib
import tempfile

import pybind11_stubgen

from paddle_mini import _core

STUB = pathlib.Path(__file__).parent.parent / "paddle_mini/_core.pyi"


def without_docstrings(tree):
    """They are in the module, where help() finds them."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Expr(ast.Constant(...))]
    return tree


def text():
    kinds = {kind: kind.__module__ for kind in vars(_core).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    text_of_errors = _core.Error.__dict__["__str__"]  # which paddle_mini/errors.py sets
    try:
        del _core.Error.__str__
        for kind in kinds:  # users see them as paddle_mini's, but they are defined here
            kind.__module__ = _core.__name__
        with tempfile.TemporaryDirectory() as folder:
            pybind11_stubgen.main(["--output-dir", folder, _core.__name__])
            made = pathlib.Path(folder, *_core.__name__.split(".")).with_suffix(".pyi").read_text()
    finally:
        for kind, module in kinds.items():
            kind.__module__ = module
        _core.Error.__str__ = text_of_errors
    # The name that the type has before Python 3.12.
    made = made.replace("collections.abc.Buffer", "typing_extensions.Buffer")
    return "# Made by `make stub`.\n" + ast.unparse(without_docstrings(ast.parse(made))) + "\n"


if __name__ == "__main__":
    STUB.write_text(text())
