"""get_tensor_from_selected_rows: the values of the rows of X, as a tensor."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import Rows, array, run_op


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("rows", [[4, 1, 4], [0], []])
def test_values_as_they_lie(rows, dtype):
    """Not the whole table, and the rows are neither merged nor sorted."""
    values = (10 * array(len(rows), 5)).astype(dtype)
    out = run_op("get_tensor_from_selected_rows", {"X": Rows(rows, values, 6)})["Out"]
    assert out.dtype == dtype
    np.testing.assert_array_equal(out, values)


def test_the_example_of_paddlepaddles_documentation():
    """Its documentation also gets the values of merged rows: test_merge_selected_rows.py."""
    values = np.array([[1, 1], [2, 2], [2, 2], [3, 3], [6, 6]], "float32")
    out = run_op("get_tensor_from_selected_rows", {"X": Rows([0, 5, 5, 4, 19], values, 20)})["Out"]
    np.testing.assert_array_equal(out, values)


def test_refuses_a_tensor():
    with pytest.raises(pm.ShapeError, match="it must be selected rows"):
        run_op("get_tensor_from_selected_rows", {"X": array(3, 4)})


def test_norm_of_a_sparse_gradient():
    """As in clipping by the global norm: merging leaves fewer rows than were planned for, and those are fetched."""
    program, scope = pm.Program(), pm.Scope()
    block = program.global_block()
    rows = Rows([4, 1, 4, 4], array(4, 5), 6)
    block.create_var("g", dtype="float64", shape=[6, 5], kind=8, persistable=True)
    scope.set_rows("g", rows.rows, rows.values, rows.height)
    block.append_op("merge_selected_rows", {"X": "g"}, {"Out": "merged"}, {})
    block.append_op("get_tensor_from_selected_rows", {"X": "merged"}, {"Out": "values"}, {})
    block.append_op("squared_l2_norm", {"X": "values"}, {"Out": "norm"}, {})
    values, norm = pm.Executor(pm.CPUPlace()).run(program, fetch_list=["values", "norm"], scope=scope)
    np.testing.assert_allclose(values, rows.dense()[[1, 4]], rtol=1e-12)
    np.testing.assert_allclose(norm, [np.sum(rows.dense() ** 2)], rtol=1e-12)
