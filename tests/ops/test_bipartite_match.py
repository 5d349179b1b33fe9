"""bipartite_match: pairs of rows and columns, the largest element of a matrix first."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def match(matrix, attrs):
    rows, distances = np.full(matrix.shape[1], -1, "int32"), np.zeros(matrix.shape[1])
    left = np.where(matrix >= 1e-6, matrix, -np.inf)
    while left.size and left.max() > -np.inf:
        column = left.max(0).argmax()
        row = left[:, column].argmax()
        rows[column], distances[column] = row, matrix[row, column]
        left[row], left[:, column] = -np.inf, -np.inf
    if attrs["match_type"] == "per_prediction" and len(matrix):
        best, largest = matrix.argmax(0), matrix.max(0)
        more = (rows < 0) & (largest >= np.float32(attrs["dist_threshold"])) & (largest >= 1e-6)
        rows, distances = np.where(more, best, rows).astype("int32"), np.where(more, largest, distances)
    return rows, distances


def reference(inputs, attrs):
    x = inputs["DistMat"]
    parts = [x] if isinstance(x, np.ndarray) else np.split(x.array, x.lod[0][1:-1])
    rows, distances = zip(*(match(part, attrs) for part in parts))
    return {"ColToRowMatchIndices": np.stack(rows), "ColToRowMatchDist": np.stack(distances)}


MATRIX = array(5, 4, low=-0.2, high=1)
TIES = np.array([[0.5, 0.25, 0.5], [0.5, 0.75, 0.25], [0.25, 0.75, 0.5], [0.0, 0.0, 0.0]])
SEQUENCES = pm.LoDTensor(array(9, 6, low=-0.2, high=1), [[0, 4, 4, 9]])
ALL = {"match_type": "per_prediction", "dist_threshold": 0.25}

test_bipartite_match = op_tests(
    "bipartite_match",
    reference,
    cases={
        "more rows": ({"DistMat": MATRIX}, {}),
        "more columns": ({"DistMat": MATRIX.T.copy()}, {}),
        "all columns": ({"DistMat": MATRIX.T.copy()}, ALL),
        "ties": ({"DistMat": TIES}, {}),
        "ties, all columns": ({"DistMat": TIES[:2]}, ALL),
        "sequences": ({"DistMat": SEQUENCES}, {}),
        "sequences, all columns": ({"DistMat": SEQUENCES}, ALL),
        "many rows": ({"DistMat": array(131, 3)}, {}),
        "nothing positive": ({"DistMat": -array(2, 3)}, ALL),
        "no rows": ({"DistMat": array(0, 3)}, ALL),
        "no columns": ({"DistMat": array(3, 0)}, {}),
    },
    refusals={
        "three dimensions": ({"DistMat": array(2, 2, 2)}, {}, pm.ShapeError, "DistMat 3 2"),
        "levels": ({"DistMat": pm.LoDTensor(MATRIX, [[0, 1, 3], [0, 2, 2, 5]])}, {}, pm.ShapeError, "DistMat 2 levels"),
        "another type": ({"DistMat": MATRIX}, {"match_type": "best"}, pm.ProgramError, "'match_type' best"),
    },
)


def test_nan_is_passed_over():
    found = run_op("bipartite_match", {"DistMat": np.array([[np.nan, 0.5], [np.nan, np.nan]])}, ALL, ["ColToRowMatchIndices"])
    np.testing.assert_array_equal(found["ColToRowMatchIndices"], [[-1, 0]])
