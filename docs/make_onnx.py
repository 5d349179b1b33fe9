"""Writes the tables of operators in onnx.md, from the functions of paddle_mini/onnx: python docs/make_onnx.py"""

import collections
import pathlib

from paddle_mini import _core, onnx
from paddle_mini.onnx.node import CONVERTERS
from paddle_mini.onnx.writing import EXPORTERS, REASONS
from paddle_mini.schemas import op_schema

PAGE = pathlib.Path(__file__).parent / "onnx.md"
BEGIN = "<!-- from the converters and the exporters, by docs/make_onnx.py -->\n"


def table(names, function_of, *header):
    """A row for each file of functions, with its operators in the order of the alphabet."""
    families = collections.defaultdict(list)
    for name in sorted(names):
        families[function_of[name].__module__.rpartition(".")[2]].append(f"`{name}`")
    yield from ("", f"| {' | '.join(header)} |", "|---|---|")
    for family, members in sorted(families.items()):
        yield f"| {family} | {', '.join(members)} |"


def for_inference(op_type):
    """Whether programs for inference have the operator: gradients, optimizers and averages are left out of them."""
    ports = {port["name"] for port in op_schema(op_type)["inputs"]}
    return "_grad" not in op_type and not ports & {"Param", "Grad", "param"} and op_type not in ("feed", "fetch")


def lines():
    yield from ("", "### Read")
    yield from table(onnx.supported_operators(), CONVERTERS, "converters", "operators of ONNX")
    yield from ("", "### Written")
    yield from table(EXPORTERS, EXPORTERS, "exporters", "operators of programs")
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


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
