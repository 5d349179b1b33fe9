# Tests of operators from a reference in NumPy; it needs pytest (pip install 'paddle_mini[operators]').
import pytest

# Their asserts show the values that differ, also where the package's tests are not the ones that run.
pytest.register_assert_rewrite(
    *(f"{__name__}.{name}" for name in ("edges", "harness", "numeric_gradients", "one_op", "value_checks"))
)

from .harness import op_tests  # noqa: E402
from .one_op import Rows, array, ints, run_op  # noqa: E402

__all__ = ["Rows", "array", "ints", "op_tests", "run_op"]
