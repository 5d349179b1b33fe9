"""Writes the table of operators in onnx.md, from the converters of paddle_mini/onnx: python docs/make_onnx.py"""

import collections
import pathlib

from paddle_mini import onnx
from paddle_mini.onnx.node import CONVERTERS

PAGE = pathlib.Path(__file__).parent / "onnx.md"
BEGIN = "<!-- from the converters, by docs/make_onnx.py -->\n"


def lines():
    """A row for each file of converters, with its operators in the order of the alphabet."""
    families = collections.defaultdict(list)
    for name in onnx.supported_operators():
        families[CONVERTERS[name].__module__.rpartition(".")[2]].append(f"`{name}`")
    yield from ("", "| converters | operators of ONNX |", "|---|---|")
    for family, names in sorted(families.items()):
        yield f"| {family} | {', '.join(names)} |"


def page(text):
    """The page with the table of these converters, which is its end."""
    return text[: text.index(BEGIN) + len(BEGIN)] + "\n".join(lines()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
