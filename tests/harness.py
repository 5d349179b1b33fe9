# The harness of operators is in the package, because it tests the operators of users too.
from paddle_mini.testing.harness import FACTS, Cases, Facts, Reference, ask_values, dtypes_to_test, op_tests
from paddle_mini.testing.one_op import Rows, array, complex_array, generator, ints, run_op

__all__ = [
    "FACTS",
    "Cases",
    "Facts",
    "Reference",
    "Rows",
    "array",
    "ask_values",
    "complex_array",
    "dtypes_to_test",
    "generator",
    "ints",
    "op_tests",
    "run_op",
]
