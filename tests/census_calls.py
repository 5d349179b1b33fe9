"""The calls of the census of PaddlePaddle's public functions: reads the tables in census/, one for each module.

A line is a call, which belongs to the first public name in it, or `NAMES: ARGUMENTS`, one call for each name: the name stands
before the arguments, or where they have {}. A function that ends with _ has the calls of the function without it. `- NAMES: WHY`
lists what builds no program. A line that begins with # is a comment.
"""

import pathlib
import re

FOLDER = pathlib.Path(__file__).parent / "paddle/census"

# The module that a table is of; other tables are of paddle.NAME.
MODULES = {
    "paddle": "paddle",
    "static_nn": "paddle.static.nn",
    "functional": "paddle.nn.functional",
    "vision_models": "paddle.vision.models",
    "vision_ops": "paddle.vision.ops",
    "initializer": "paddle.nn.initializer",
    "debugging": "paddle.amp.debugging",
}
TABLES = [
    "paddle",
    "functional",
    "nn",
    "static",
    "static_nn",
    "linalg",
    "fft",
    "signal",
    "vision_ops",
    "vision_models",
    "optimizer",
    "regularizer",
    "initializer",
    "geometric",
    "distribution",
    "text",
    "debugging",
]


def module_of(table):
    return MODULES.get(table, f"paddle.{table}")


def calls_of(table, names):
    """The calls of each name of a module, {name: [expression]}, and the names without a program, {name: why}."""
    calls, without = {}, {}
    for line in (FOLDER / f"{table}.txt").read_text().splitlines():
        listed, _, rest = line.partition(": ")
        if line.startswith("- "):
            without.update(dict.fromkeys(listed[2:].split(), rest))
        elif line and line[0] != "#":
            if re.fullmatch(r"\w+( \w+)*", listed):
                # Arguments follow the name; anything else is an expression of its own.
                found = [(name, name + rest if rest[0] == "(" else rest.replace("{}", name)) for name in listed.split()]
            else:
                found = [(next(word for word in re.findall(r"\w+", line) if word in names), line)]
            for name, expression in found:
                calls.setdefault(name, []).append(expression)
    for name in names:
        base = name[:-1]
        if name.endswith("_") and name not in calls and name not in without and base in calls:
            calls[name] = [re.sub(rf"\b{base}(?=\()", name, expression) for expression in calls[base]]
    return calls, without


def exceptions(table):
    """The functions of a module whose numbers differ, {name: why}."""
    lines = [line.partition(": ") for line in (FOLDER / "exceptions.txt").read_text().splitlines() if line[:1] != "#"]
    return {name: why for listed, _, why in lines if listed.split()[0] == table for name in listed.split()[1:]}
