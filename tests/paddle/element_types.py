"""Writes tests/element_types.json: the element types that PaddlePaddle 2.6.2's kernels for CPUs have, by operator.

Run by the Python of PaddlePaddle's environment (CONTRIBUTING.md):
    build/bench/paddle/bin/python tests/paddle/element_types.py OPERATOR...
Complex types are left out: docs/operators.md lists the operators that have them.
"""

import json
import pathlib
import re
import sys

from paddle.framework import core

NAMES = {
    "bool": "bool",
    "int8_t": "int8",
    "uint8_t": "uint8",
    "int16_t": "int16",
    "int": "int32",
    "int64_t": "int64",
    "::paddle::platform::float16": "float16",
    "::paddle::platform::bfloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
}
KERNEL = re.compile(r"\{data_type\[(.*?)\]; data_layout\[.*?\]; place\[Place\((.*?)\)\]; library_type\[(\w+)\]")


def table(operators):
    types = {}
    for operator, kernels in core._get_all_register_op_kernels("all").items():
        if operator not in operators:
            continue
        found = (KERNEL.match(kernel).groups() for kernel in kernels)
        types[operator] = sorted(
            {NAMES[dtype] for dtype, place, library in found if (place, library) == ("cpu", "PLAIN") and dtype in NAMES}
        )
    return {operator: kinds for operator, kinds in sorted(types.items()) if kinds}


if __name__ == "__main__":
    lines = [f"  {json.dumps(operator)}: {json.dumps(kinds)}" for operator, kinds in table(set(sys.argv[1:])).items()]
    (pathlib.Path(__file__).parents[1] / "element_types.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
