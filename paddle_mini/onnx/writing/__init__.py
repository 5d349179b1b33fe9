# The operators of programs as nodes of ONNX, one family in each file.
"""Importing this package fills the table of exporters, EXPORTERS of op.py."""

from . import (  # noqa: F401
    activation,
    arithmetic,
    blocks,
    creation,
    indexing,
    losses,
    neural,
    padding,
    pooling,
    products,
    recurrent,
    reduce,
    resize,
    shapes,
    sorting,
)
from .graph import REASONS, GraphWriter
from .op import EXPORTERS

__all__ = ["EXPORTERS", "REASONS", "GraphWriter"]
