"""mul: Out = X Y, with X and Y flattened to matrices."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x, y = inputs["X"], inputs["Y"]
    rows, columns = x.shape[: attrs["x_num_col_dims"]], y.shape[attrs["y_num_col_dims"] :]
    left = x.reshape(int(np.prod(rows)), int(np.prod(x.shape[attrs["x_num_col_dims"] :])))
    right = y.reshape(int(np.prod(y.shape[: attrs["y_num_col_dims"]])), int(np.prod(columns)))
    return {"Out": (left @ right).reshape(rows + columns)}


test_mul = op_tests(
    "mul",
    reference,
    cases={
        "matrices": ({"X": array(3, 4), "Y": array(4, 5)}, {}),
        "large": ({"X": array(37, 70), "Y": array(70, 41)}, {}),
        "image": ({"X": array(2, 3, 4, 5), "Y": array(60, 7)}, {}),
        "sequence": ({"X": array(2, 3, 4), "Y": array(4, 5)}, {"x_num_col_dims": 2}),
        "flattened Y": ({"X": array(2, 12), "Y": array(3, 4, 5)}, {"y_num_col_dims": 2}),
        "one element": ({"X": array(1, 1), "Y": array(1, 1)}, {}),
        "no rows": ({"X": array(0, 4), "Y": array(4, 5)}, {}),
        "no columns": ({"X": array(3, 0), "Y": array(0, 5)}, {}),
    },
    gradients=["X", "Y"],
    refusals={
        "other width": ({"X": array(3, 4), "Y": array(5, 6)}, {}, pm.ShapeError, "X [3, 4] 4 Y [5, 6] 5"),
        "X without columns": ({"X": array(3), "Y": array(3, 4)}, {}, pm.ShapeError, "x_num_col_dims [3]"),
        "Y without columns": ({"X": array(3, 4), "Y": array(4)}, {}, pm.ShapeError, "y_num_col_dims [4]"),
        "no rows of X": ({"X": array(3, 4), "Y": array(4, 5)}, {"x_num_col_dims": 0}, pm.ProgramError, "x_num_col_dims 0"),
        "other dtype": ({"X": array(3, 4), "Y": ints(4, 5)}, {}, pm.ShapeError, "float64 int64"),
        "selected rows": ({"X": array(3, 4), "Y": Rows([1], array(1, 5), 4)}, {}, pm.ShapeError, "Y selected rows"),
    },
)

test_gradient = op_tests(
    "mul_grad",
    lambda inputs, attrs: {},
    cases={},
    refusals={
        "other gradient": ({"X": array(3, 4), "Y": array(4, 5), "Out@GRAD": array(3, 4)}, {}, pm.ShapeError, "Out@GRAD [3, 5]")
    },
)
