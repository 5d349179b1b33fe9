# ONNX: models of other libraries as programs, and programs as models for them.
"""load reads an ONNX model as a program whose parameters can be trained further; export writes a program as an ONNX model.
supported_operators lists the operators that load knows. The package `onnx` reads and writes the files: pip install
'paddle_mini[onnx]'. docs/onnx.md lists the operators and the limits."""

from ..renamed import show_public
from .export import export
from .load import load
from .node import supported_operators

__all__ = ["export", "load", "supported_operators"]

show_public(globals())
