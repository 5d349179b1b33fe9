# ONNX: models of other libraries as programs.
"""load reads an ONNX model as a program whose parameters can be trained further; supported_operators lists the operators that it
knows. The package `onnx` reads the files: pip install 'paddle_mini[onnx]'. docs/onnx.md lists the operators and the limits."""

from .load import load
from .node import supported_operators

__all__ = ["load", "supported_operators"]
