# Converters of If, Loop and Scan: the inner graphs become blocks of the program.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..guards import program_guard
from ..layers.arrays import array_read, array_write, create_array, tensor_array_to_tensor
from ..layers.control_flow import cond
from ..layers.loops import while_loop
from ..layers.recurrence import StaticRNN
from ..program import Program
from ..variable import Variable
from .node import Node, Rows, converter
from .order import names_read
from .tensors import Unsupported

_LAST = {"axes": [0], "starts": [-1], "ends": [2**31 - 1], "decrease_axis": [0]}


def _layers(n: Node) -> Any:
    """Inside, layer functions append to the program that is read."""
    return program_guard(n.reader.program, Program())


@converter("If")
def branch(n: Node) -> list[Any]:
    then, otherwise = n.attr("then_branch"), n.attr("else_branch")
    known = n.array(0)
    if known is not None:
        return n.reader.read_inner(then if bool(known.item()) else otherwise, [], arrays=True)
    ranks: list[list[int]] = []

    def values(graph: Any) -> Callable[[], list[Variable]]:
        def append() -> list[Variable]:
            made: list[Variable] = n.reader.read_inner(graph, [])
            ranks.append([len(var.shape) for var in made])
            return made

        return append

    with _layers(n):
        made: list[Variable] = cond(n.reshape(n.x(0), []), values(then), values(otherwise))
    if ranks[0] != ranks[1]:
        raise Unsupported(f"branches whose results have {ranks[0]} and {ranks[1]} axes")
    return made


class _OtherShape(Exception):
    """A loop variable changes its shape, which was read as if it stayed: these are the dimensions that stay."""

    def __init__(self, shapes: list[list[int]]):
        super().__init__()
        self.shapes = shapes


@converter("Loop")
def loop(n: Node) -> list[Any]:
    appended = [index - 2 for index in range(2, len(n.inputs)) if n.reader.is_sequence(n.inputs[index])]
    body = _with_rows(n, n.attr("body"), appended)
    states = [n.x(index) for index in range(2, len(n.inputs)) if index - 2 not in appended]
    shapes = [list(state.shape) for state in states]
    while True:  # each time a dimension more is -1
        try:
            with n.reader.attempt(), _layers(n):
                made: list[Any] = _loop(n, body, states, shapes)
                break
        except _OtherShape as found:
            shapes = found.shapes
    rows = made[len(made) - len(appended) :]
    made = made[: len(made) - len(appended)]
    for index, value in zip(appended, rows):
        made.insert(index, Rows(value))
    return made


def _with_rows(n: Node, body: Any, appended: list[int]) -> Any:
    """The body of a loop that appends a tensor of each step to sequences, without them: their tensors are outputs of each step,
    after the others."""
    made = type(body).FromString(body.SerializeToString())
    writers = {node.output[0]: node for node in body.node if node.op_type == "SequenceInsert"}
    for index in reversed(appended):
        name, result = made.input[2 + index].name, made.output[1 + index].name
        insert = writers.get(result)
        readers = [node for node in made.node for read in names_read(node) if read == name]
        if n.items(2 + index) or insert is None or readers != [insert] or len(insert.input) != 2:
            raise Unsupported("a sequence to which a loop does more than to append")
        made.node.remove(insert)
        del made.input[2 + index], made.output[1 + index]
    for index in appended:
        made.output.add().name = writers[body.output[1 + index].name].input[1]
    return made


def _loop(n: Node, body: Any, states: list[Variable], shapes: list[list[int]]) -> list[Variable]:
    limit = n.cast(n.reshape(n.x(0), []), "int64") if n.has(0) else None
    more = n.reshape(n.x(1), []) if n.has(1) else n.constant(True, "bool")
    arrays = [create_array() for _ in body.output[1 + len(states) :]]
    rows: list[Variable] = []

    def goes_on(step: Variable, more: Variable, *_: Variable) -> Variable:
        return more if limit is None else n.op("logical_and", more, n.op("less_than", step, limit))

    def one(step: Variable, more: Variable, *values: Variable) -> list[Variable]:
        again, *made = n.reader.read_inner(body, [step, more, *values])
        following = n.scale(step, 1, 1)
        _require_shapes([var.shape for var in values], [var.shape for var in made[: len(values)]])
        for array, value in zip(arrays, made[len(values) :]):
            rows.append(n.emit("unsqueeze2", {"X": value}, {"axes": [0]}))
            array_write(rows[-1], following, array)
        # A variable of the loop is written before the next one is: what both need is copied.
        kept = {step.name, more.name, *(var.name for var in values)}
        after = [n.op("assign", var) if var.name in kept else var for var in (again, *made[: len(values)])]
        return [following, n.reshape(after[0], []), *after[1:]]

    started = []
    for state, shape in zip(states, shapes):
        started.append(n.op("assign", state))
        started[-1].set_info({**started[-1].info(), "shape": shape})
    _, _, *results = while_loop(goes_on, one, [n.constant(0, "int64"), more, *started])
    return [*results, *(_joined(n, array, row) for array, row in zip(arrays, rows))]


def _require_shapes(before: list[Any], after: list[Any]) -> None:
    """_OtherShape, if a known dimension of a loop variable changes."""
    if [len(shape) for shape in before] != [len(shape) for shape in after]:
        raise Unsupported(f"loop variables of shapes {before}, which become {after}")
    shapes = [[a if a == b else -1 for a, b in zip(*pair)] for pair in zip(before, after)]
    if shapes != [list(shape) for shape in before]:
        raise _OtherShape(shapes)


def _joined(n: Node, array: Variable, row: Variable) -> Variable:
    """The rows of all steps. Element 0 of the array, which no step writes, has none: there may be no step."""
    zero, first = n.constant(0, "int64"), n.constant(1, "int64")
    if all(dim >= 0 for dim in row.shape):
        empty = n.emit("fill_constant", {}, {"shape": [0, *row.shape[1:]], "dtype": row.dtype, "value": 0.0})
    else:
        empty = n.emit("slice", {"Input": array_read(array, first)}, {"axes": [0], "starts": [0], "ends": [0]})
    return tensor_array_to_tensor(array_write(empty, zero, array), 0)[0]


@converter("Scan")
def scan(n: Node) -> list[Variable]:
    body, count = n.attr("body"), n.attr("num_scan_inputs")
    states = [n.x(index) for index in range(len(n.inputs) - count)]
    results = len(body.output) - len(states)
    axes = n.attr("scan_input_axes", [0] * count), n.attr("scan_output_axes", [0] * results)
    backward = n.attr("scan_input_directions", [0] * count), n.attr("scan_output_directions", [0] * results)
    sequences = []
    for index, (axis, reverse) in enumerate(zip(axes[0], backward[0])):
        x = n.x(len(states) + index)
        x = _moved(n, x, n.axis(axis, len(x.shape)), 0)
        # A copy: the step of a sequence has its name, and the body may read the whole one too.
        sequences.append(n.op("flip", x, axis=[0]) if reverse else n.op("assign", x))
    rnn = StaticRNN()
    with _layers(n), rnn.step():
        before = [rnn.memory(init=state) for state in states]
        made = n.reader.read_inner(body, [*before, *(rnn.step_input(x) for x in sequences)])
        for state, value in zip(before, made):
            rnn.update_memory(state, value)
        rnn.output(*made)
    stacked = rnn()
    stacked = stacked if isinstance(stacked, list) else [stacked]
    last = [n.emit("slice", {"Input": x}, _LAST) for x in stacked[: len(states)]]
    outputs = []
    for x, axis, reverse in zip(stacked[len(states) :], axes[1], backward[1]):
        x = n.op("flip", x, axis=[0]) if reverse else x
        outputs.append(_moved(n, x, 0, n.axis(axis, len(x.shape))))
    return last + outputs


def _moved(n: Node, x: Variable, source: int, target: int) -> Variable:
    """x with one of its axes at another place."""
    order = [axis for axis in range(len(x.shape)) if axis != source]
    order.insert(target, source)
    return x if source == target else n.transpose(x, order)
