"""merge_selected_rows: the rows of X sorted, those that occur several times summed."""
import paddle_mini as pm
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    touched = sorted(set(x.rows))
    return {"Out": Rows(touched, x.dense()[touched], x.height)}


test_merge_selected_rows = op_tests(
    "merge_selected_rows",
    reference,
    cases={
        "rows that repeat": ({"X": Rows([4, 1, 4, 0, 1, 4], array(6, 37), 6)}, {}),
        "sorted already": ({"X": Rows([0, 3], array(2, 5), 6)}, {}),
        "a large table": ({"X": Rows([70_000, 3, 70_000, 2_100], array(4, 2), 100_000)}, {}),
        "rows of one element": ({"X": Rows([1, 0, 1], array(3), 2)}, {}),
        "one element": ({"X": Rows([0], array(1, 1), 1)}, {}),
        "no rows": ({"X": Rows([], array(0, 5), 6)}, {}),
    },
    refusals={"tensor": ({"X": array(3, 4)}, {}, pm.ShapeError, "X tensor selected rows")},
)
