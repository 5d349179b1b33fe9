# GraphWriter: the operators of a program as the nodes of an ONNX graph.
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..._core import ProgramError, printable
from ...block import Block
from ...errors import listed, printable_lines
from ...operator import Operator
from ...program import Program
from ..tensors import Unsupported, tensor_proto
from .op import EXPORTERS, OpWriter

_MOST_LINES = 8
# Exceptions of Python and NumPy where the attributes and the declared shapes of a program contradict each other.
_INVALID = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class GraphWriter:
    """Appends the nodes of operators. A program may write a variable several times, ONNX a value only once: `values` has the
    current value of each variable."""

    def __init__(self, program: Program, feeds: Iterable[str], fetches: Iterable[str], opset: int):
        self.program, self.opset, self.fetched = program, opset, frozenset(fetches)
        self.nodes: list[Any] = []
        self.problems: list[str] = []
        self.parameters: dict[str, Any] = {}
        """The persistable variables that nodes read, by name."""
        self.values: dict[str, str] = {name: name for name in feeds}
        self._constants: dict[Any, str] = {}
        self._constant_nodes: list[Any] = []
        self._taken = {var.name for var in program.list_vars()}
        self._written: set[str] = set()
        """The values of which nodes of the operators are the source: they can get the name of a variable."""
        self._renamed: dict[str, str] = {}
        self._missing: set[str] = set()
        self._left_out: dict[str, str] = {}
        """The variables of outputs that exporters do not compute, with the types of their operators."""

    def new_name(self, hint: str) -> str:
        """A name that no variable and no value has."""
        count, name = 0, f"{hint}.value"
        while name in self._taken:
            count += 1
            name = f"{hint}.value_{count}"
        self._taken.add(name)
        return name

    def value(self, name: str) -> str:
        """The current value of a variable."""
        if name in self._missing:
            raise Dependent
        if name in self._left_out:
            raise Unsupported(f"'{printable(name)}' is an output of {self._left_out[name]} that ONNX does not have")
        if name not in self.values:
            var = self.program.global_block().find_var(name)
            if var is None or not var.persistable:
                raise Unsupported(f"'{printable(name)}' has no value")
            self.parameters[name] = var
            self.values[name] = name
        return self.values[name]

    def put(self, op: Operator, name: str, value: str) -> None:
        """Gives a variable a value; the value takes the name of the variable if no other value has it."""
        var = op.block.find_var(name)
        if var is not None and var.persistable and value != self.values.get(name, name):
            raise Unsupported(f"it changes '{printable(name)}', whose value outlives a run")
        self.values[name] = value

    def emit(self, op: Operator, op_type: str, inputs: Sequence[str], count: int, attrs: Mapping[str, Any]) -> list[str]:
        """Appends a node; Unsupported if ONNX does not have its operator in this opset."""
        from onnx import defs, helper

        try:
            defs.get_schema(op_type, self.opset, "")
        except defs.SchemaError:
            raise Unsupported(f"{op_type}, which ONNX does not have in opset {self.opset}") from None
        hint = next(iter(op.output_names), op.type)
        outputs = [self.new_name(hint) for _ in range(count)]
        kept = {name: value for name, value in attrs.items() if value is not None}
        self.nodes.append(helper.make_node(op_type, list(inputs), outputs, name=outputs[0], **kept))
        self._written.update(outputs)
        return outputs

    def constant(self, value: Any, dtype: str) -> str:
        """A constant of the graph; equal ones are one."""
        from onnx import helper

        tensor = tensor_proto("", np.asarray(value), dtype)
        key = (dtype, tuple(tensor.dims), tensor.raw_data)
        if key not in self._constants:
            name = self.new_name("constant")
            self._constant_nodes.append(helper.make_node("Constant", [], [name], name=name, value=tensor))
            self._constants[key] = name
        return self._constants[key]

    def write(self, block: Block) -> None:
        """Appends the nodes of a block's operators. What cannot be expressed is added to problems."""
        for index, op in enumerate(block.ops):
            if op.type in ("feed", "fetch"):
                continue
            before = len(self.nodes)
            try:
                if op.type not in EXPORTERS:
                    raise Unsupported(REASONS.get(op.type, "it is not known to the export"))
                EXPORTERS[op.type](OpWriter(self, op))
                self._find_left_out(op)
                continue
            except Unsupported as reason:
                self.problems.append(f"{op.type} ({_place(op, index)}): {reason}")
            except _INVALID as error:
                what = printable_lines(f"{type(error).__name__}: {error}")
                raise ProgramError(f"{op.type} ({_place(op, index)}): attributes or shapes are invalid: {what}") from error
            except Dependent:
                pass  # an operator before it, which is reported, has the reason
            del self.nodes[before:]
            self._missing.update(op.output_names)

    def write_inner(self, block: Block, values: Mapping[str, str]) -> tuple[list[Any], dict[str, str]]:
        """The nodes of an inner block, in which these variables have other values, and the values of all variables after
        it."""
        before, outer = len(self.problems), self.values
        self.values = {**outer, **values}
        nodes, _ = self.collect([], lambda: self.write(block))
        self.values, inner = outer, self.values
        if len(self.problems) > before:
            raise Dependent
        return nodes, inner

    def collect(self, nodes: list[Any], append: Callable[[], Any]) -> tuple[list[Any], Any]:
        """The nodes, with those that a function appends, and its result."""
        outer, self.nodes = self.nodes, list(nodes)
        result = append()
        nodes, self.nodes = self.nodes, outer
        return nodes, result

    def _find_left_out(self, op: Operator) -> None:
        for name in op.output_names:
            if name in self.values:
                self._left_out.pop(name, None)
            else:
                self._left_out[name] = op.type

    def require_expressed(self) -> None:
        """ProgramError with all operators that ONNX cannot express, and where they are."""
        if not self.problems:
            return
        lines = "".join(f"\n  {problem}" for problem in self.problems[:_MOST_LINES])
        more = self.problems[_MOST_LINES:]
        rest = f"\n  also {listed(problem.partition(' ')[0] for problem in more)}" if more else ""
        raise ProgramError(f"ONNX cannot express {len(self.problems)} operators of the program:{lines}{rest}")

    def finish(self, fetches: Sequence[str]) -> list[Any]:
        """All nodes, sorted, with the names of variables where possible. Each fetch has its name."""
        from onnx import helper

        self.require_expressed()
        for name in fetches:
            try:
                value = self.value(name)
            except Unsupported as reason:
                self.problems.append(f"fetch: {reason}")
                continue
            if value in self._written and value not in self._renamed:
                self._renamed[value] = name
            elif value != name:
                self.nodes.append(helper.make_node("Identity", [value], [name], name=self.new_name(name)))
        self.require_expressed()
        named = {*self._renamed.values(), *self.parameters, *fetches}
        for name, value in self.values.items():
            if value in self._written and value not in self._renamed and name not in named:
                self._renamed[value] = name
                named.add(name)
        nodes = [*self._constant_nodes, *self.nodes]
        _rename(nodes, self._renamed)
        return nodes


REASONS = {
    **dict.fromkeys(["uniform_random", "gaussian_random", "truncated_gaussian_random"], "random numbers of another generator"),
    "auc": "its statistics outlive a run",
    **dict.fromkeys(
        ["lod_array_length", "read_from_array", "tensor_array_to_tensor", "write_to_array"],
        "ONNX's sequences are not arrays whose elements are written",
    ),
    **dict.fromkeys(["save", "save_combine", "load", "load_combine"], "ONNX does not read or write files"),
    **dict.fromkeys(
        """array_to_lod_tensor beam_search beam_search_decode chunk_eval crf_decoding ctc_align edit_distance gather_tree gru
        linear_chain_crf lod_rank_table lod_reset lod_tensor_to_array lstm max_sequence_len reorder_lod_tensor_by_rank row_conv
        sequence_concat sequence_conv sequence_enumerate sequence_erase sequence_expand sequence_expand_as sequence_pad
        sequence_pool sequence_reshape sequence_reverse sequence_scatter sequence_slice sequence_softmax sequence_unpad
        shrink_rnn_memory warpctc""".split(),
        "ONNX does not have sequences of rows",
    ),
}
"""Why ONNX cannot express an operator, where the reason is not that its exporter is missing."""


class Dependent(Exception):
    """An operator reads the output of one that cannot be expressed."""


def _place(op: Operator, index: int) -> str:
    name = next(iter(op.output_names), "")
    where = f"'{printable(name)}', " if name else ""
    block = f" of block {op.block.idx}" if op.block.idx else ""
    return f"{where}operator {index}{block}"


def _rename(nodes: Iterable[Any], names: Mapping[str, str]) -> None:
    for node in nodes:
        for port in (node.input, node.output):
            port[:] = [names.get(name, name) for name in port]
        for attr in node.attribute:
            if attr.HasField("g"):
                _rename(attr.g.node, names)
                for info in attr.g.output:
                    info.name = names.get(info.name, info.name)
