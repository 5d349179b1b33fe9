"""Writes docs/operators.md from the records of the operators; measures new ones for tests/parallel_sizes.json."""

import json
import pathlib
import sys

from paddle_mini import _core

TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))

import parallel_sizes  # noqa: E402
from facts import facts_of_ops  # noqa: E402

TYPES = {
    0: "int",
    1: "float",
    2: "string",
    3: "ints",
    4: "floats",
    5: "strings",
    6: "bool",
    7: "bools",
    8: "block",
    9: "long",
    10: "blocks",
    11: "longs",
    12: "float64s",
    15: "float64",
    16: "scalar",
    17: "scalars",
}


def ports(title, items):
    for port in items:
        marks = [word for word, on in (("optional", port["optional"]), ("list", port["list"])) if on]
        yield f"* {title} **{port['name']}**{' (' + ', '.join(marks) + ')' if marks else ''}: {port['doc']}"


def section(op_type):
    schema = _core.op_schema(op_type)
    yield f"## {op_type}\n"
    yield schema["doc"] + "\n"
    yield from ports("input", schema["inputs"])
    yield from ports("output", schema["outputs"])
    for attr in schema["attrs"]:
        preset = "required" if attr["required"] else f"default {attr['default']!r}"
        yield f"* attribute **{attr['name']}** ({TYPES[attr['type']]}, {preset}): {attr['doc']}"
    if schema["dtypes"]:
        wider = f"; by way of wider ones: {', '.join(schema['widened'])}" if schema["widened"] else ""
        yield f"* element types: {', '.join(schema['dtypes'])}{wider}"
    if not op_type.endswith(("_grad", "_grad2")) and schema["no_gradient"]:
        yield f"* no gradient: {schema['no_gradient']}"
    if schema["cpu_only"]:
        yield f"* not on GPUs: {schema['cpu_only']}"
    yield ""


def golden_cases():
    """How many programs of PaddlePaddle with each operator are replayed."""
    counts = {}
    for path in (TESTS / "golden" / "cases").glob("*/case.json"):
        case = json.loads(path.read_text())
        for op_type in case["ops"] if case["kind"] != "bad" else ():
            counts[op_type] = counts.get(op_type, 0) + 1
    return counts


def threads(size):
    """From tests/parallel_sizes.json; None: not measured."""
    if isinstance(size, bool) or size is None:
        return {True: "yes", False: "one", None: ""}[size]
    return f"from {size:,}"


def coverage():
    """One line an operator: what it is defined for, and what its tests ask."""
    yield "| operator | element types | devices | threads | gradient | tests |"
    yield "| --- | --- | --- | --- | --- | --- |"
    sizes = json.loads(parallel_sizes.FILE.read_text())
    golden, plain = golden_cases(), [op for op in _core.op_types() if not op.endswith(("_grad", "_grad2"))]
    files = {path.stem[len("test_") :]: path.read_text() for path in (TESTS / "ops").glob("test_*.py")}
    for op_type in plain:
        schema = _core.op_schema(op_type)
        source = files.get(op_type) or next((text for text in files.values() if f'"{op_type}"' in text), "")
        facts = facts_of_ops().get(op_type, [])
        asked = ["harness"] if facts or "_tests(" in source else ["own tests"]
        if any(stated.gradients for stated in facts) or "check_gradient" in source:
            asked.append("numeric gradient")
        if golden.get(op_type):
            asked.append(f"{golden[op_type]} programs of PaddlePaddle")
        gradient = "no" if schema["no_gradient"] else "yes"
        places = "cpu, gpu" if schema["on_gpu"] else "cpu"
        types, split = ", ".join(schema["dtypes"]) or "any", threads(sizes.get(op_type))
        yield f"| {op_type} | {types} | {places} | {split} | {gradient} | {', '.join(asked)} |"
    yield ""


def text():
    lines = [
        "# Operators",
        "",
        "Ports and attributes of every operator, from its schema. Made by `docs/make_operators.py`.",
        "",
        "The harness (`paddle_mini/testing/harness.py`) asks of each case: values against NumPy for every float type, "
        "`infer` against the "
        "result, a round trip through bytes, outputs written over inputs, dimensions of 0 and 1, scalars, indices out of range, "
        "axes counted from the end, and refusals.",
        "",
        "The column of threads says for CPUs from about how many elements of its largest input or output on the operator uses "
        "several threads: the longest loop of a large run is split from there on. Some operators also have loops that are not "
        "split. `yes`: loops are split, but the cases of the test have a fixed size; `one`: no loop is split. "
        "`tests/parallel_sizes.py` measures it.",
        "",
    ]
    lines += coverage()
    for op_type in _core.op_types():
        lines += section(op_type)
    return "\n".join(lines)


if __name__ == "__main__":
    parallel_sizes.update()
    pathlib.Path(__file__).with_name("operators.md").write_text(text())
