"""Writes docs/operators.md from the records of the operators."""
import pathlib

from paddle_mini import _core

TYPES = {0: "int", 1: "float", 2: "string", 3: "ints", 4: "floats", 5: "strings", 6: "bool", 7: "bools", 8: "block", 9: "long",
         10: "blocks", 11: "longs", 12: "float64s", 15: "float64", 16: "scalar", 17: "scalars"}


def ports(title, items):
    for port in items:
        marks = [word for word, on in (("optional", port["optional"]), ("list", port["list"])) if on]
        yield f"* {title} **{port['name']}**{' (' + ', '.join(marks) + ')' if marks else ''}: {port['doc']}"


def section(op_type):
    record = _core.contract(op_type)
    yield f"## {op_type}\n"
    yield record["doc"] + "\n"
    yield from ports("input", record["inputs"])
    yield from ports("output", record["outputs"])
    for attr in record["attrs"]:
        preset = "required" if attr["required"] else f"default {attr['default']!r}"
        yield f"* attribute **{attr['name']}** ({TYPES[attr['type']]}, {preset}): {attr['doc']}"
    if record["dtypes"]:
        yield f"* element types: {', '.join(record['dtypes'])}"
    if not op_type.endswith(("_grad", "_grad2")) and record["no_gradient"]:
        yield f"* no gradient: {record['no_gradient']}"
    yield ""


def text():
    lines = ["# Operators", "", "Ports and attributes of every operator, from its record. Made by `docs/make_operators.py`.", ""]
    for op_type in _core.op_types():
        lines += section(op_type)
    return "\n".join(lines)


if __name__ == "__main__":
    pathlib.Path(__file__).with_name("operators.md").write_text(text())
