# Shared parts of the tests of operators that draw numbers.
from __future__ import annotations

from typing import Any

import paddle_mini as pm
from harness import Cases

NAMES = {5: "float32", 6: "float64"}

CASES: Cases = {
    "float32": ({}, {"shape": [40, 25], "seed": 7}),
    "float64": ({}, {"shape": [40, 25], "seed": 7, "dtype": 6}),
    "one element": ({}, {"shape": [], "seed": 1}),
    "no rows": ({}, {"shape": [0, 4], "seed": 1}),
}
OF_DEVIATION: Cases = {"no deviation": ({}, {"shape": [4], "seed": 2, "mean": 3.0, "std": 0.0})}

REFUSALS: dict[str, Any] = {
    "unknown size": ({}, {"shape": [-1]}, pm.ProgramError, "shape -1"),
    "integers": ({}, {"shape": [2], "dtype": 3}, pm.Error, "int64"),
}
NEGATIVE_DEVIATION = {"negative deviation": ({}, {"shape": [2], "std": -1.0}, pm.ProgramError, "std -1")}


def two_draws(op_type: str, attrs: dict[str, Any]) -> Any:
    """Two arrays that a program draws without a seed, one after the other; few of their elements are equal."""
    program = pm.Program()
    for name in ("a", "b"):
        program.global_block().append_op(op_type, {}, {"Out": name}, attrs)
    a, b = pm.Executor(pm.CPUPlace()).run(program, fetch_list=["a", "b"], scope=pm.Scope())
    assert (a != b).mean() > 0.99
    return a, b
