# paddle-mini show: prints a saved program, as text, as a graph or as JSON, and, for given feed shapes, its plan.
from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import paddle_mini as pm

from .._core import printable
from ..callsite import place_of
from ..feeds import numpy_dtype
from ..io.model import prefix_of
from ..show import provenance_text
from .options import print_json, shape
from .programs import fetches_of, read_program


def add_arguments(show: argparse.ArgumentParser) -> None:
    show.add_argument("prefix", type=prefix_of, metavar="PREFIX", help="PREFIX or PREFIX.pdmodel")
    show.add_argument(
        "--plan",
        action="append",
        type=shape,
        metavar="NAME=2,3",
        help="print the plan of a run for feeds of these shapes as well",
    )
    form = show.add_mutually_exclusive_group()
    form.add_argument("--dot", action="store_true", help="print the program as a graph in the language of Graphviz instead")
    form.add_argument("--json", action="store_true", help="print its operators, variables and summary as JSON instead")
    form.add_argument("--netron", action="store_true", help="show the file in Netron, a viewer of models, until Ctrl-C")
    show.set_defaults(command=_show)


def _show(arguments: argparse.Namespace) -> None:
    program = read_program(arguments.prefix)
    if arguments.netron:
        return _show_in_netron(arguments.prefix + ".pdmodel")
    if arguments.json:
        return print_json(_facts(program))
    if arguments.dot:
        return print(program.to_dot(), end="")
    print(program)
    print()
    ops = Counter(op.type for block in program.blocks for op in block.ops)
    counted = (f"{count} {kind}" if count > 1 else kind for kind, count in ops.most_common())
    print(f"{sum(ops.values())} operators: {', '.join(counted)}")
    parameters = program.all_parameters()
    elements = sum(int(np.prod(var.shape)) for var in parameters)
    print(f"{len(parameters)} parameters with {elements:,} elements")
    if program.provenance:
        text = provenance_text(program.provenance)
        print(f"provenance: {printable(text, 4 * len(text))}")
    for suffix in (".pdmodel", ".pdiparams"):
        path = Path(arguments.prefix + suffix)
        print(f"{printable(path)}: {f'{path.stat().st_size:,} bytes' if path.exists() else 'not there'}")
    if arguments.plan:
        print()
        print(_plan(program, dict(arguments.plan)))
    return None


def _show_in_netron(path: str) -> None:
    try:
        import netron
    except ImportError:
        raise pm.ProgramError("--netron needs Netron: pip install 'paddle_mini[netron]'") from None
    netron.start(path)
    netron.wait()


def _facts(program: pm.Program) -> dict[str, Any]:
    """Operators, variables and the summary; unknown fields and callstacks are left out."""
    summary = pm.summary(program)
    return {
        "provenance": program.provenance,
        "blocks": [
            {
                "parent": block.parent_idx,
                "variables": [
                    {"name": var.name, **var.info(), "persistable": var.persistable, "is_data": var.need_check_feed}
                    for var in block.vars.values()
                ],
                "operators": [_operator_facts(op) for op in block.ops],
            }
            for block in program.blocks
        ],
        "summary": {"rows": [vars(row) for row in summary.rows], "notes": summary.notes()},
    }


def _operator_facts(op: pm.Operator) -> dict[str, Any]:
    attrs = {name: value for name, value in op.attrs.items() if name != "op_callstack"}
    return {"type": op.type, "line": place_of(op.callstack), "inputs": op.inputs, "outputs": op.outputs, "attrs": attrs}


def _plan(program: pm.Program, shapes: dict[str, list[int]]) -> str:
    """The plan depends only on shapes and dtypes, so all values are zeros."""
    scope, variables = pm.Scope(), program.global_block().vars
    for name in pm.io.parameters.parameter_names(program):
        scope.set(name, np.zeros(variables[name].shape, numpy_dtype(variables[name].dtype)))
    unknown = [name for name in shapes if name not in variables]
    if unknown:
        raise pm.ProgramError(f"'{printable(unknown[0])}' is not a variable of the program")
    feed = {name: np.zeros(shape, numpy_dtype(variables[name].dtype)) for name, shape in shapes.items()}
    return pm.Executor(pm.CPUPlace()).plan_text(program, feed, fetches_of(program, []), scope)
