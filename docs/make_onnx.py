"""Writes the tables of operators in onnx.md, from the functions of paddle_mini/onnx: python docs/make_onnx.py [--figures]

--figures: runs the node cases of package onnx and writes the cases of tests/ops first, whose counts onnx_figures.json keeps."""

import argparse
import collections
import json
import pathlib
import sys
import tempfile

from paddle_mini import _core, onnx
from paddle_mini.onnx.node import CONVERTERS
from paddle_mini.onnx.writing import EXPORTERS, REASONS
from paddle_mini.schemas import op_schema

HERE = pathlib.Path(__file__).parent
PAGE, FIGURES = HERE / "onnx.md", HERE / "onnx_figures.json"
BEGIN = "<!-- from the converters and the exporters, by docs/make_onnx.py -->\n"


def table(names, function_of, figures, *header):
    """A row for each file of functions, with its operators in the order of the alphabet and their figures."""
    families = collections.defaultdict(list)
    for name in sorted(names):
        right, count = figures.get(name, (0, 0))
        shown = f"`{name}` {count if right == count else f'{right}/{count}'}"
        families[function_of[name].__module__.rpartition(".")[2]].append(shown)
    yield from ("", f"| {' | '.join(header)} |", "|---|---|")
    for family, members in sorted(families.items()):
        yield f"| {family} | {', '.join(members)} |"


def for_inference(op_type):
    """Whether programs for inference have the operator: gradients, optimizers and averages are left out of them."""
    ports = {port["name"] for port in op_schema(op_type)["inputs"]}
    return "_grad" not in op_type and not ports & {"Param", "Grad", "param"} and op_type not in ("feed", "fetch")


def lines():
    figures = json.loads(FIGURES.read_text())
    yield from ("", "### Read", "", "With the node cases of the package `onnx` that give its results; 14/19: of 19, 14 are read.")
    yield from table(onnx.supported_operators(), CONVERTERS, figures["read"], "converters", "operators of ONNX")
    yield from ("", "### Written", "", "With the cases of the operator's test that are written.")
    yield from table(EXPORTERS, EXPORTERS, figures["written"], "exporters", "operators of programs")
    yield from ("", "### Not written", "", "| reason | operators of programs |", "|---|---|")
    reasons = collections.defaultdict(list)
    for op_type in sorted(filter(for_inference, _core.op_types())):
        if op_type not in EXPORTERS:
            reasons[REASONS.get(op_type, "operators of training, and without an exporter")].append(f"`{op_type}`")
    for reason, members in sorted(reasons.items()):
        yield f"| {reason} | {', '.join(members)} |"


def page(text):
    """The page with the tables of these functions, which are its end."""
    return text[: text.index(BEGIN) + len(BEGIN)] + "\n".join(lines()) + "\n"


def text_of(figures):
    """A line for each operator, so that a change is a changed line."""
    return json.dumps(figures, indent=1).replace("[\n   ", "[").replace(",\n   ", ", ").replace("\n  ]", "]") + "\n"


def measured():
    sys.path.insert(0, str(HERE.parent / "tests"))
    import onnx_cases
    import onnx_exports

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        read = onnx_cases.by_operator(onnx_cases.run_case(case, folder) for case in onnx_cases.node_cases())
        return {"read": read, "written": onnx_exports.by_operator(onnx_exports.operator_cases(folder))}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--figures", action="store_true")
    if parser.parse_args().figures:
        FIGURES.write_text(text_of(measured()))
    PAGE.write_text(page(PAGE.read_text()))
