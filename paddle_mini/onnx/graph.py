# GraphReader: the nodes of an ONNX graph as operators of a program, with constants folded.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import dtypes
from .._core import Error, ProgramError, printable
from ..block import Block
from ..errors import listed, printable_lines
from ..program import Program
from ..transaction import transaction
from ..unique_name import counters_after
from ..variable import Variable
from .folding import FOLDED, MOST_FOLDED, most_elements
from .node import CONVERTERS, DEFAULT_DOMAINS, Items, Node, Rows
from .tensors import Unsupported, dtype_of, stored, tensor_array

# Exceptions of Python and NumPy where attributes and constants of a file contradict each other.
_INVALID = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
OLDEST_OPSET = 13


class GraphReader:
    """Appends the operators of one graph. Values that do not depend on the graph's inputs stay arrays until an operator
    reads them as a variable."""

    def __init__(self, program: Program, opset: int, taken: set[str]):
        self.program, self.opset = program, opset
        self.problems: list[str] = []
        self.values: dict[str, np.ndarray] = {}
        """The persistable variables of the program by name: written to the scope when all nodes are read."""
        self._taken = taken
        self._arrays: dict[str, np.ndarray] = {}
        self._initializers: set[str] = set()
        self._variables: dict[str, Variable] = {}
        self._dims: dict[str, list[int | None]] = {}
        self._sequences: dict[str, Items | Rows] = {}
        self._missing: set[str] = set()
        program._names.update(counters_after(taken))

    @property
    def block(self) -> Block:
        """The block to which operators are appended."""
        return self.program.current_block()

    @property
    def _tables(self) -> list[dict[str, Any]]:
        """Values by their names in the graph."""
        return [self._arrays, self._variables, self._dims, self._sequences]

    def new_name(self, hint: str) -> str:
        """A name that neither the graph nor the program has."""
        hint = printable(hint, 200)
        count, name = 0, f"{hint}.tmp"
        while name in self._taken:
            count += 1
            name = f"{hint}.tmp_{count}"
        self._taken.add(name)
        return name

    def add_array(self, name: str, value: np.ndarray, initializer: bool = False) -> None:
        self._arrays[name] = value
        if initializer:
            self._initializers.add(name)

    def add_input(self, name: str, shape: list[int], dtype: str) -> None:
        self._variables[name] = self.block.create_var(name, shape=shape, dtype=dtype, need_check_feed=True, stop_gradient=True)

    def add_variable(self, made: Variable) -> str:
        """Gives the graph a variable that no node of it names."""
        self._variables[made.name] = made
        return made.name

    def is_sequence(self, name: str) -> bool:
        return name in self._sequences

    def sequence(self, name: str) -> Items | Rows:
        self._require(name)
        return self._sequences[name]

    def array(self, name: str) -> np.ndarray | None:
        """The value, if it is known without a run."""
        self._require(name)
        return self._arrays.get(name)

    def dims(self, name: str) -> list[int | None] | None:
        """As Node.dims."""
        array = self.array(name)
        if array is not None:
            return [int(item) for item in array.ravel()] if array.dtype.kind in "iu" and array.ndim <= 1 else None
        made = self._variables[name]
        counted = made.dtype in dtypes.INTEGER_NAMES and len(made.shape) <= 1 and min(made.shape, default=1) >= 0
        if name not in self._dims and counted and not made.need_check_feed:
            return [None] * (made.shape[0] if made.shape else 1)
        return self._dims.get(name)

    def set_dims(self, name: str, dims: list[int | None]) -> None:
        """The elements of a shape that a run computes, as far as they are known."""
        self._dims[name] = dims

    def alias(self, name: str, other: str) -> None:
        """A second name of a value."""
        if other in self._initializers and dtype_of(self._arrays[other]) in dtypes.FLOAT_NAMES:
            self.variable(other)  # one parameter has both names
            self._initializers.add(name)
        for table in self._tables:
            if other in table:
                table[name] = table[other]

    def variable(self, name: str) -> Variable:
        """The value as a variable. An initializer of floats becomes a parameter of its name; numbers and infinities, which are
        constants of the model, are not trained."""
        self._require(name)
        if name in self._sequences:
            raise Unsupported(f"'{printable(name)}' is a sequence, which only a run knows there")
        if name not in self._variables:
            array, named = self._arrays[name], name in self._initializers
            own = name if named and name not in self.values else self.new_name(name)  # inner graphs may have one name each
            trained = named and array.ndim > 0 and dtype_of(array) in dtypes.FLOAT_NAMES
            trained = trained and bool(np.isfinite(array.astype("float64")).all())
            self._variables[name] = self.parameter(own, array) if trained else self.constant_variable(own, array)
        return self._variables[name]

    def parameter(self, name: str, value: np.ndarray, trainable: bool = True) -> Variable:
        """A parameter with a value."""
        made = self.program.global_block().create_parameter(name, list(value.shape), dtype_of(value), trainable=trainable)
        self.values[name] = stored(value)
        return made

    def constant_variable(self, name: str, value: np.ndarray) -> Variable:
        """A persistable variable that training does not change."""
        facts = {"shape": list(value.shape), "dtype": dtype_of(value), "persistable": True, "stop_gradient": True}
        self.values[name] = stored(value)
        return self.program.global_block().create_var(name, **facts)

    def freeze(self, name: str) -> Variable:
        """The variable of an initializer that an operator reads as statistics: not trained."""
        made = self.variable(name)
        made.stop_gradient = True
        if hasattr(made, "trainable"):
            made.trainable = False
        return made

    def _require(self, name: str) -> None:
        if name in self._missing:
            raise _Dependent
        if not any(name in table for table in (self._variables, self._arrays, self._sequences)):
            raise ProgramError(f"'{printable(name)}' is read before a node writes it: the graph has a cycle or is not sorted")

    def read(self, nodes: Any) -> None:
        """Appends the operators of the nodes. What cannot be expressed is added to problems."""
        for index, proto in enumerate(nodes):
            try:
                self._read_node(proto)
                continue
            except Unsupported as reason:
                self.problems.append(f"{proto.op_type} ({_place(proto, index)}): {reason}")
            except _Dependent:
                pass  # an operator before it, which is reported, has the reason
            except Error as error:
                raise ProgramError(f"{proto.op_type} ({_place(proto, index)}): {error}") from None
            except _INVALID as error:
                what = printable_lines(f"{type(error).__name__}: {error}")
                raise ProgramError(
                    f"{proto.op_type} ({_place(proto, index)}): inputs or attributes are invalid: {what}"
                ) from error
            self._missing.update(name for name in proto.output if name)

    def _read_node(self, proto: Any) -> None:
        node = Node(self, proto, self._schema(proto))
        for name in node.inputs:
            if name:
                self._require(name)
        if self._fold(node):
            return
        if proto.op_type not in CONVERTERS:
            raise Unsupported("this operator is not known")
        made = CONVERTERS[proto.op_type](node)
        if proto.op_type in ("Identity", "SequenceAt"):  # a second name of a value
            return
        for name, value in zip(node.outputs, made if isinstance(made, list) else [made]):
            if name:
                self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        if value is None:
            raise Unsupported(f"output '{printable(name)}' is not computed")
        if isinstance(value, Variable):
            self._variables[name] = value
        elif isinstance(value, Items | Rows):
            self._sequences[name] = value
        else:
            self._arrays[name] = value

    def _schema(self, proto: Any) -> Any:
        """The schema of ONNX that the node means; Unsupported if its meaning is older than that of opset 13."""
        from onnx import defs

        if proto.domain not in DEFAULT_DOMAINS:
            raise Unsupported(f"domain '{printable(proto.domain)}'")
        try:
            schema = defs.get_schema(proto.op_type, self.opset, "")
        except defs.SchemaError:
            raise Unsupported(f"ONNX does not have it in opset {self.opset}") from None
        if self.opset < OLDEST_OPSET:
            later = defs.get_schema(proto.op_type, OLDEST_OPSET, "").since_version
            if later != schema.since_version:
                raise Unsupported(f"opset {self.opset} defines it otherwise than opset {OLDEST_OPSET}, the oldest that is read")
        return schema

    def _fold(self, node: Node) -> bool:
        """Computes a node whose inputs are all arrays, with ONNX's own reference; False if it is not such a node."""
        names = [name for name in node.inputs if name]
        if node.type not in FOLDED or any(name not in self._arrays for name in names):
            return False
        if any(name in self._initializers and dtype_of(self._arrays[name]) in dtypes.FLOAT_NAMES for name in names):
            return False  # a parameter: a gradient may be needed
        if most_elements(node.type, [self._arrays[name] for name in names]) > MOST_FOLDED:
            return False
        from onnx.reference import ReferenceEvaluator

        try:
            with np.errstate(all="ignore"):
                evaluator = ReferenceEvaluator(node.proto, opsets={"": self.opset})
                results = evaluator.run(None, {name: self._arrays[name] for name in names})
        except Exception:  # the reference does not have all operators and types: the converter decides
            return False
        if not all(isinstance(result, (np.ndarray, np.generic)) for result in results):
            return False
        for name, result in zip([name for name in node.outputs if name], results):
            self._arrays[name] = np.asarray(result)
        return True

    def read_inner(self, graph: Any, given: Sequence[Variable], arrays: bool = False) -> list[Any]:
        """The outputs of an inner graph whose inputs are these; its operators are appended to the current block. Its names
        are forgotten then: another inner graph may have them. arrays: outputs that are known stay arrays."""
        tables = self._tables
        before, outside = [table.copy() for table in tables], set(self._arrays)
        initializers, problems = self._initializers.copy(), len(self.problems)
        for tensor in graph.initializer:
            self.add_array(tensor.name, tensor_array(tensor), initializer=True)
        if len(graph.input) != len(given):
            raise ProgramError(f"an inner graph has {len(graph.input)} inputs, it is given {len(given)}")
        self._variables.update((info.name, value) for info, value in zip(graph.input, given))
        self.read(graph.node)
        if len(self.problems) > problems:
            raise _Dependent
        names = [output.name for output in graph.output]
        made = [self._arrays[name] if arrays and name in self._arrays else self.variable(name) for name in names]
        for table, old in zip(tables, before):
            # An array outside may have become a variable, which is outside as well.
            old.update((name, table[name]) for name in outside - set(old) if name in table)
            table.clear()
            table.update(old)
        self._initializers = initializers
        return made

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """An exception that leaves the block takes back what was read inside."""
        tables: list[Any] = [*self._tables, self.values, self._initializers]
        before = [table.copy() for table in tables]
        try:
            with transaction():
                yield
        except BaseException:
            for table, old in zip(tables, before):
                table.clear()
                table.update(old)
            raise

    def require_supported(self) -> None:
        """ProgramError with all operators that cannot be expressed, and where they are."""
        if not self.problems:
            return
        lines = "".join(f"\n  {problem}" for problem in self.problems[:_MOST_LINES])
        more = self.problems[_MOST_LINES:]
        rest = f"\n  also {listed(problem.partition(':')[0] for problem in more)}" if more else ""
        raise ProgramError(f"{len(self.problems)} operators of the graph cannot be expressed:{lines}{rest}")


_MOST_LINES = 8


class _Dependent(Exception):
    """A node reads the output of a node that cannot be expressed."""


def _place(proto: Any, index: int) -> str:
    name = f"'{printable(proto.name)}', " if proto.name else ""
    return f"{name}node {index}"


def set_values(scope: Any, values: Mapping[str, np.ndarray]) -> None:
    for name, value in values.items():
        scope.set(name, value)
