# pm.onnx.load: an ONNX file as a program.
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._core import Error, ProgramError, Scope, as_array, printable
from ..errors import listed, printable_lines
from ..feeds import cast
from ..io.regular_files import path_of
from ..program import Program
from ..scope import scope_or_global
from ..variable import Variable

# They fill the table of converters.
from . import (  # noqa: F401
    blocks,
    detection,
    indexing,
    math,
    neural,
    padding,
    pooling,
    quantized,
    random,
    recurrent,
    reduce,
    resize,
    sampling,
    sequences,
    shapes,
    spectral,
)
from .graph import OLDEST_OPSET, GraphReader, set_values
from .microsoft import replace_integers
from .node import CONVERTERS, DEFAULT_DOMAINS
from .order import inner_graphs, sort_nodes
from .tensors import Unsupported, element_type, tensor_array


def load(
    path: str | os.PathLike[str], scope: Scope | None = None, constants: Mapping[str, Any] | None = None
) -> tuple[Program, list[str], list[Variable]]:
    """Reads an ONNX model: the program, the names to feed, the variables to fetch.

    Initializers of floats become parameters of the same names, which append_backward and optimizers train; the statistics of
    batch normalization are not trained. Computations of shapes are carried out while the model is read. Models of opsets
    before 13 are converted to opset 13 first, by the package onnx.

    path: the file; external data must be in its folder, or below. scope: for the parameters; None: the global scope.
    constants: values, by name, of inputs of the graph that are no longer inputs then, such as axes that a run would give.
    Raises ProgramError, which lists all operators that cannot be expressed, and where they are; or which says how the file
    is damaged. The scope is unchanged then.
    Returns the program, the names of its feeds, and the variables to fetch, named as the outputs of the graph.
    Example:
        >>> from onnx import helper, save
        >>> facts = [helper.make_tensor_value_info(name, 1, ["N", 2]) for name in "xy"]
        >>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "small", facts[:1], facts[1:])
        >>> save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), "small.onnx")
        >>> program, feeds, fetches = pm.onnx.load("small.onnx")
        >>> pm.Executor().run(program, {"x": np.array([[-1, 2]], "float32")}, fetches)[0].tolist()
        [[0.0, 2.0]]
    """
    path = path_of(path)
    model = _read(path)
    try:
        program, values, fetches = _program(model, constants or {})
    except Error as error:
        raise ProgramError(f"'{printable(path)}': {error}") from None
    set_values(scope_or_global(scope), values)
    fed = {var.name for var in program.list_vars() if var.need_check_feed}
    feeds = [info.name for info in model.graph.input if info.name in fed]
    return program, feeds, [program.global_block().var(name) for name in fetches]


def _read(path: str) -> Any:
    """The checked model, with its external data, and with functions replaced by their bodies."""
    try:
        import onnx
        from onnx import inliner
    except ImportError:
        raise ProgramError("pm.onnx needs the package onnx: pip install 'paddle_mini[onnx]'") from None
    if not Path(path).is_file():
        raise ProgramError(f"'{printable(path)}' is not a file")
    try:
        model = onnx.load(path, load_external_data=False)
        # A path, because the checker then sees where external data is; but it refuses nodes that are not sorted.
        onnx.checker.check_model(model if sort_nodes(model.graph) else path)
        onnx.load_external_data_for_model(model, os.path.dirname(path))
        replace_integers(model.graph)
        model = _of_new_opset(model)
        _state_defaults(model.graph, model.opset_import)
        functions = {(function.domain, function.name) for function in model.functions}
        kept = [(domain, name) for name in CONVERTERS for domain in DEFAULT_DOMAINS if (domain, name) not in functions]
        return inliner.inline_selected_functions(model, kept, exclude=True, inline_schema_functions=True)
    except Exception as error:  # the errors of protobuf, of the checker and of the inliner have no common type
        raise ProgramError(f"'{printable(path)}' is not a valid ONNX model: {printable_lines(str(error))}") from None


def _of_new_opset(model: Any) -> Any:
    """The model with the operators of opset 13, if they are older; unchanged where ONNX cannot convert it: then the operators
    whose definition has changed are refused one by one."""
    from onnx import version_converter

    versions = [entry.version for entry in model.opset_import if entry.domain in DEFAULT_DOMAINS]
    if all(version >= OLDEST_OPSET for version in versions):
        return model
    if min(versions) < 9 and any(node.op_type == "Scan" for node in model.graph.node):
        return model  # the converter leaves the Scan of opset 8 as it is, which had a dimension of the batch
    try:
        made = version_converter.convert_version(model, OLDEST_OPSET)
    except RuntimeError:
        return model
    # From version 4 of the file format on initializers need not be inputs, as those are not that the conversion adds.
    made.ir_version = max(made.ir_version, 4)
    if min(versions) < 7:
        _give_slopes_their_dimensions(made)
    return made


def _give_slopes_their_dimensions(model: Any) -> None:
    """Before opset 7 PRelu had a slope of one dimension, for each channel. The converter leaves it so, but later ones are
    broadcast to the last dimension."""
    from onnx import shape_inference

    slopes = {tensor.name: tensor for tensor in model.graph.initializer}
    graph = shape_inference.infer_shapes(model).graph
    infos = {info.name: info for info in [*graph.input, *graph.value_info]}
    for node in model.graph.node:
        if node.op_type != "PRelu" or node.input[1] not in slopes or node.input[0] not in infos:
            continue
        slope, rank = slopes[node.input[1]], len(infos[node.input[0]].type.tensor_type.shape.dim)
        if len(slope.dims) == 1:
            slope.dims.extend([1] * (rank - 2))
    for info in model.graph.input:  # early models list the slopes as inputs too
        if info.name in slopes:
            shape = info.type.tensor_type.shape
            shape.ClearField("dim")
            for dim in slopes[info.name].dims:
                shape.dim.add().dim_value = dim


def _state_defaults(graph: Any, opsets: Any) -> None:
    """Writes the defaults of attributes into nodes that a function of ONNX defines: the inliner leaves them out."""
    from onnx import defs

    versions = {entry.domain: entry.version for entry in opsets}
    for node in graph.node:
        for inner in inner_graphs(node):
            _state_defaults(inner, opsets)
        if node.op_type in CONVERTERS or not defs.has(node.op_type, node.domain):
            continue
        schema: Any = defs.get_schema(node.op_type, versions.get(node.domain, 1), node.domain)
        if schema.has_function or schema.has_context_dependent_function:
            given = {attr.name for attr in node.attribute}
            for name, attribute in schema.attributes.items():
                if name not in given and attribute.default_value.type:
                    node.attribute.add().CopyFrom(attribute.default_value)


def _program(model: Any, constants: Mapping[str, Any]) -> tuple[Program, dict[str, np.ndarray], list[str]]:
    """The program, the values of its persistable variables, and the names of its results."""
    graph = model.graph
    opset = max((entry.version for entry in model.opset_import if entry.domain in DEFAULT_DOMAINS), default=0)
    inputs, outputs = [info.name for info in graph.input], [info.name for info in graph.output]
    unknown = set(constants) - set(inputs)
    if unknown:
        raise ProgramError(f"constants: the graph has no input {listed(sorted(unknown))}; it has {listed(inputs)}")
    program = Program()
    reader = GraphReader(program, opset, set(_names(graph)))
    for tensor in graph.initializer:
        _add(reader, tensor.name, lambda tensor=tensor: reader.add_array(tensor.name, tensor_array(tensor), initializer=True))
    known = {tensor.name for tensor in graph.initializer}
    for info in graph.input:
        if info.name in constants:
            _add(reader, info.name, lambda info=info: reader.add_array(info.name, _constant(info, constants[info.name])))
        elif info.name not in known:
            _add(reader, info.name, lambda info=info: reader.add_input(info.name, *_shape_and_type(info)))
    if graph.sparse_initializer:
        reader.problems.append("sparse initializers")
    reader.require_supported()
    reader.read(graph.node)
    reader.require_supported()
    for name in outputs:
        _add(reader, name, lambda name=name: _name_output(reader, name))
    reader.require_supported()
    return program, reader.values, outputs


def _constant(info: Any, value: Any) -> np.ndarray:
    """The value of an input, of the element type that the graph declares."""
    name, dtype = printable(info.name), element_type(info.type.tensor_type.elem_type)
    array = as_array(value, f"constants: '{name}'", bits=False)
    values = cast(f"constants: '{name}' is an array of {array.dtype}", array, dtype)
    if dtype != "bfloat16":
        return values
    import ml_dtypes  # which the package onnx needs, and of which it makes arrays of initializers

    return values.view(ml_dtypes.bfloat16)


def _names(graph: Any) -> Iterator[str]:
    """The names of all values, also of those in inner graphs."""
    for named in (*graph.input, *graph.initializer):
        yield named.name
    for node in graph.node:
        yield from (*node.input, *node.output)
        for inner in inner_graphs(node):
            yield from _names(inner)


def _add(reader: GraphReader, name: str, add: Any) -> None:
    try:
        add()
    except Unsupported as reason:
        reader.problems.append(f"'{printable(name)}': {reason}")


def _name_output(reader: GraphReader, name: str) -> None:
    """The variable of an output has the name that the graph gives it."""
    value = reader.variable(name)
    if value.name != name:
        reader.block.append_op("assign", {"X": value}, {"Out": name})


def _shape_and_type(info: Any) -> tuple[list[int], str]:
    if info.type.WhichOneof("value") != "tensor_type":
        raise Unsupported("an input that is not a tensor")
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        raise Unsupported("an input without a rank")
    dims = [dim.dim_value if dim.WhichOneof("value") == "dim_value" else -1 for dim in tensor.shape.dim]
    return dims, element_type(tensor.elem_type)
