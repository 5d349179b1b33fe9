# The gradient operators of one operator.
from __future__ import annotations

from typing import Any

from . import _core
from .errors import located
from .gradient_names import gradient_of, marked, plain
from .operator import EMPTY_NAME, Operator

Description = dict[str, Any]

_READ_BY_GRADIENTS = ("dropout", "flatten2", "flatten_contiguous_range", "reshape2", "squeeze2", "transpose2", "unsqueeze2")


def gradient_ops(op: Operator, produced: set[str], reached: set[str]) -> list[Description]:
    """The operators for one forward operator; `produced` are the variables that have a gradient."""
    counts = op.type == "increment" and op.block.idx and op.input("X") == op.output("Out")
    if not counts and (produced.isdisjoint(op.output_names) or reached.isdisjoint(op.input_names)):
        return []
    _complete(op)
    forward = op.describe()
    try:
        candidates = _core.gradient(marked(forward))
    except _core.Error as error:
        raise located(error, forward, op.callstack) from error.__cause__
    if op.type == "increment" and not counts and op.input("X") != op.output("Out"):  # its schema only counts back
        sides = [("inputs", "X", op.output("Out")), ("outputs", "Out", op.input("X"))]
        candidates = [{"type": "assign", "attrs": [], **{side: [(port, [gradient_of(name)])] for side, port, (name,) in sides}}]
    result: list[Description] = []
    filled: set[str] = set()
    for candidate in candidates:
        if op.block.idx and not any(plain(name) for _, names in candidate["outputs"] for name in names):
            # No gradient but what takes a step of a counter back, for those that are read with it.
            result.append(
                {
                    "type": candidate["type"],
                    "inputs": candidate["inputs"],
                    "outputs": candidate["outputs"],
                    "attrs": _attrs_of(op, candidate["attrs"]),
                }
            )
            continue
        outputs = [
            (slot, [name if plain(name) in reached else EMPTY_NAME for name in names]) for slot, names in candidate["outputs"]
        ]
        outputs = [(slot, names) for slot, names in outputs if any(name != EMPTY_NAME for name in names)]
        if not outputs:
            continue
        for name in [name for _, names in candidate["inputs"] for name in names if plain(name)]:
            output = plain(name)
            if output not in produced and output in op.output_names and output not in filled:
                filled.add(output)
                result.append(
                    {
                        "type": "fill_any_like",
                        "inputs": [("X", [output])],
                        "outputs": [("Out", [name])],
                        "attrs": _attrs_of(op, [("value", 0, 0.0)]),
                    }
                )
        result.append(
            {
                "type": candidate["type"],
                "inputs": candidate["inputs"],
                "outputs": outputs,
                "attrs": _attrs_of(op, candidate["attrs"]),
            }
        )
    for description in result:
        produced.update(plain(name) for _, names in description["outputs"] for name in names if plain(name))
    return result


def _attrs_of(op: Operator, attrs: Any) -> dict[str, Any]:
    """Attributes of a gradient operator: a backward role, and the forward operator's device and
    line of the user."""
    result = {name: value for name, _, value in attrs if name not in ("op_role", "op_role_var", "op_callstack", "op_device")}
    result["op_callstack"] = op.callstack
    if op.attr("op_device"):
        result["op_device"] = op.attr("op_device")
    return result


def _complete(op: Operator) -> None:
    """Adds the outputs that only a gradient reads, and that saved models leave out."""
    port = "Mask" if op.type == "dropout" else "XShape"
    if op.type in _READ_BY_GRADIENTS and not op.output(port):
        x = op.block.var(op.input("X")[0])
        name = op.block.program.new_name(f"{op.type}.tmp")
        dtype, shape = ("uint8", x.shape) if port == "Mask" else (x.dtype, (0, *x.shape))
        op.block.create_var(name, dtype=dtype, shape=shape)
        op.set_output(port, name)


def correct_declarations(op: Operator) -> None:
    """Declares the outputs with the element types and ranks that follow from the inputs: files of PaddlePaddle declare others for
    some, such as MaxIndex, Reserve and determinants of several matrices."""
    _complete(op)
    read = {name: op.block.var(name).info() for name in op.input_names}
    try:
        _, infos = _core.check_op(op.describe(), read)
    except _core.Error as error:
        raise located(error, op.describe(), op.callstack) from error.__cause__
    for name, info in infos.items():
        var = op.block.find_var(name)
        if var is None or var.persistable:
            continue
        if var.dtype != info["dtype"] or len(var.shape) != len(info["shape"]):
            var.set_info(info)
