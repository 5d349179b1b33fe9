"""Writes the type stubs for mypy and editors: paddle_mini/_core.pyi from the signatures of the C++ module, and
paddle_mini/layers/ops.pyi from the layer functions that are made from schemas."""

import ast
import inspect
import pathlib
import tempfile
import textwrap

import pybind11_stubgen

from paddle_mini import _core
from paddle_mini.layers import ops

FOLDER = pathlib.Path(__file__).parent.parent / "paddle_mini"


def without_docstrings(tree):
    """They are in the module, where help() finds them."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Expr(ast.Constant(...))]
    return tree


def core_text():
    kinds = {kind: kind.__module__ for kind in vars(_core).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    added = [(_core.Error, "__str__"), (_core.Executor, "__reduce_ex__")]  # by paddle_mini, not in C++
    added += [(_core.Scope, name) for name in ("__getattr__", "__setattr__", "__reduce_ex__")]
    functions = [vars(kind)[name] for kind, name in added]
    try:
        for kind, name in added:
            delattr(kind, name)
        for kind in kinds:  # users see them as paddle_mini's, but they are defined here
            kind.__module__ = _core.__name__
        with tempfile.TemporaryDirectory() as folder:
            pybind11_stubgen.main(["--output-dir", folder, _core.__name__])
            made = pathlib.Path(folder, *_core.__name__.split(".")).with_suffix(".pyi").read_text()
    finally:
        for kind, module in kinds.items():
            kind.__module__ = module
        for (kind, name), function in zip(added, functions):
            setattr(kind, name, function)
    # The name that the type has before Python 3.12.
    made = made.replace("collections.abc.Buffer", "typing_extensions.Buffer")
    return "# Made by `make stub`.\n" + ast.unparse(without_docstrings(ast.parse(made))) + "\n"


def layers_text():
    """With docstrings: an editor cannot ask a function that is made at run time."""
    lines = ["# Made by `make stub`.", "from collections.abc import Sequence", "from ..variable import Variable"]
    lines += ["", f"__all__ = {ops.__all__!r}"]
    for name in ops.__all__:
        function = getattr(ops, name)
        doc = textwrap.indent(f'"""{inspect.getdoc(function)}\n"""', "    ")
        lines += ["", f"def {name}{unquoted(inspect.signature(function))}:", doc]
    return "\n".join(lines) + "\n"


def unquoted(signature):
    """The signature as source, with annotations that are strings as expressions."""
    (function,) = ast.parse(f"def f{signature}: ...").body
    arguments = [*function.args.args, *function.args.kwonlyargs]
    for argument in arguments:
        argument.annotation = ast.parse(argument.annotation.value, mode="eval").body
    return f"({ast.unparse(function.args)}) -> {function.returns.value}"


STUBS = {"_core.pyi": core_text, "layers/ops.pyi": layers_text}

if __name__ == "__main__":
    for path, text in STUBS.items():
        (FOLDER / path).write_text(text())
