# pm.onnx.export: a program as an ONNX file.
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._core import ProgramError, Scope, printable
from ..errors import printable_lines, shown
from ..io.parameters import make_folder, require_values
from ..io.regular_files import path_of
from ..program import Program
from ..scope import scope_or_global
from ..variable import Variable, name_of, names_of
from .tensors import element_number, tensor_proto
from .writing import GraphWriter

OPSETS = range(13, 22)
# protobuf does not read messages of 2 GiB: values of more than this are written to a file of their own.
_MOST_INSIDE = 2**31 - 2**24
_ALIGNMENT = 4096  # each value in that file begins at a page: ONNX recommends it for files that are mapped


def export(
    program: Program,
    path: str | os.PathLike[str],
    feeds: Sequence[Variable | str],
    fetches: Sequence[Variable | str],
    scope: Scope | None = None,
    opset: int = 18,
    external_data: bool = False,
) -> None:
    """Writes what computes `fetches` from `feeds` as an ONNX model.

    Operators of training are left out and is_test is set, as save_inference_model does. Persistable variables become
    initializers with their values in the scope; dimensions of -1 become dimensions with names. ONNX's checker accepts the model
    before the file is written, and the file is there whole or as it was before; its folder is made.

    program: is not changed. path: the file. feeds, fetches: variables or their names, the inputs and outputs of the graph.
    scope: has the values of the parameters; None: the global scope. opset: the version of ONNX's operators, 13 to 21.
    external_data: whether the values of parameters are written to a second file, path + ".data"; those of 2 GB and more
    always are.
    Raises ProgramError, which lists all operators that ONNX cannot express, and where they are; OpError if a parameter has no
    value.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, param_attr="weight")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.onnx.export(pm.default_main_program(), "linear.onnx", [x], [y])
        >>> program, feeds, fetches = pm.onnx.load("linear.onnx")
        >>> exe.run(program, {"x": np.ones((3, 8), "float32")}, fetches)[0].shape
        (3, 4)
    """
    _check_arguments(program, feeds, fetches, opset)
    path, scope = path_of(path), scope_or_global(scope)
    feed_names, fetch_names = ([name_of(var) for var in vars] for vars in (feeds, fetches))
    pruned = program.clone(for_test=True).prune(feed_names, fetch_names)
    pruned.handle()  # what follows relies on a program that is verified
    graph, parameters = _graph(pruned, feed_names, fetch_names, opset)
    require_values(pruned, parameters, scope)
    _check(graph, parameters, opset)
    large = external_data or sum(scope.get(name).nbytes for name in parameters) > _MOST_INSIDE
    _write(path, graph, {name: (scope.get(name), str(var.dtype)) for name, var in parameters.items()}, opset, large)


def _check_arguments(program: Program, feeds: Any, fetches: Any, opset: int) -> None:
    if not isinstance(program, Program):
        raise ProgramError(f"onnx.export: program is of type {type(program).__name__}, not a Program")
    for argument, given in (("feeds", feeds), ("fetches", fetches)):
        if not isinstance(given, (list, tuple)):
            raise ProgramError(f"onnx.export: {argument} must be a list, not {type(given).__name__}")
        names = names_of(given, f"onnx.export: {argument}")
        if len(set(names)) != len(names):
            raise ProgramError(f"onnx.export: {argument} has a variable twice")
    if not fetches:
        raise ProgramError("onnx.export: fetches is empty")
    if not isinstance(opset, int) or opset not in OPSETS:
        raise ProgramError(f"onnx.export: opset {shown(opset)}; this version writes {OPSETS[0]} to {OPSETS[-1]}")
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise ProgramError("pm.onnx needs the package onnx: pip install 'paddle_mini[onnx]'") from None


def _graph(program: Program, feeds: list[str], fetches: list[str], opset: int) -> tuple[Any, dict[str, Variable]]:
    """The graph without initializers, and the variables that are its initializers."""
    from onnx import helper

    block = program.global_block()
    writer = GraphWriter(program, feeds, fetches, opset)
    for name in feeds:
        if block.var(name).lod_level:
            writer.problems.append(f"feed '{printable(name)}': ONNX does not have sequences of rows")
    writer.write(block)
    nodes = writer.finish(fetches)
    inputs = [_value_info(block.var(name), named=True) for name in feeds]
    outputs = [_value_info(block.var(name), named=False) for name in fetches]
    return helper.make_graph(nodes, "program", inputs, outputs), writer.parameters


def _value_info(var: Variable, named: bool) -> Any:
    from onnx import helper

    shape = [dim if dim >= 0 else f"{var.name}_{axis}" if named else None for axis, dim in enumerate(var.shape)]
    return helper.make_tensor_value_info(var.name, element_number(str(var.dtype)), shape if var.shape_known else None)


def _model(graph: Any, opset: int) -> Any:
    from onnx import helper

    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(
        graph, producer_name="paddle_mini", opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets)
    )


def _check(graph: Any, parameters: Mapping[str, Variable], opset: int) -> None:
    """ONNX's own checks, with the parameters as inputs: their elements do not matter."""
    import onnx

    model = _model(graph, opset)
    model.graph.input.extend(_value_info(var, named=True) for var in parameters.values())
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # the errors of protobuf, of the checker and of shape inference have no common type
        raise ProgramError(f"onnx.export: ONNX refuses the model: {printable_lines(str(error))}") from None


def _write(path: str, graph: Any, values: Mapping[str, tuple[np.ndarray, str]], opset: int, external: bool) -> None:
    pieces: list[bytes] = []
    end = 0
    for name, (value, dtype) in values.items():
        tensor = tensor_proto(name, value, dtype)
        if external:
            end = _move_outside(tensor, os.path.basename(path) + ".data", pieces, end)
        graph.initializer.append(tensor)
    make_folder(os.path.dirname(path))
    files = [(path + ".data", pieces)] if external else []
    _core.write_files([*files, (path, [_model(graph, opset).SerializeToString()])])


def _move_outside(tensor: Any, file: str, pieces: list[bytes], end: int) -> int:
    """Moves the elements of a tensor to the pieces of the other file; returns its new size."""
    from onnx import TensorProto

    gap = -end % _ALIGNMENT
    content = tensor.raw_data
    pieces += [bytes(gap), content]
    for key, value in (("location", file), ("offset", end + gap), ("length", len(content))):
        tensor.external_data.add(key=key, value=str(value))
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    return end + gap + len(content)
