# Tests of operators from a reference in NumPy; it needs pytest (pip install 'paddle_mini[operators]').
from .harness import op_tests
from .one_op import Rows, array, ints, run_op

__all__ = ["Rows", "array", "ints", "op_tests", "run_op"]
