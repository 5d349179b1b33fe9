"""randperm: the numbers below n in random order."""

import itertools

import numpy as np

import paddle_mini as pm
from families.draws import two_draws
from harness import op_tests, run_op

test_randperm = op_tests(
    "randperm",
    lambda inputs, attrs: {"Out": np.zeros(1, "float32" if attrs["dtype"] == 5 else "int64")},
    cases={"one number": ({}, {"n": 1}), "float32": ({}, {"n": 1, "dtype": 5})},
    refusals={"none": ({}, {"n": 0}, pm.ProgramError, "n 0"), "bool": ({}, {"n": 2, "dtype": 0}, pm.Error, "bool")},
)


def test_each_number_occurs_once():
    for number, name in {2: "int32", 3: "int64", 5: "float32", 6: "float64"}.items():
        out = run_op("randperm", {}, {"n": 100, "dtype": number})["Out"]
        assert out.dtype == name
        np.testing.assert_array_equal(np.sort(out), np.arange(100))
    two_draws("randperm", {"n": 10_000})


def test_all_orders_are_equally_likely():
    program = pm.Program()
    for i in range(2400):
        program.global_block().append_op("randperm", {}, {"Out": f"x{i}"}, {"n": 3})
    names = [f"x{i}" for i in range(2400)]
    drawn = [tuple(x) for x in pm.Executor(pm.CPUPlace()).run(program, fetch_list=names, scope=pm.Scope())]
    for order in itertools.permutations(range(3)):
        assert abs(drawn.count(order) - 400) < 95  # five deviations
