"""where_index: Out = positions of elements that are not zero; their number depends on data."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    condition = np.asarray(inputs["Condition"])
    if condition.ndim == 0:
        return {"Out": np.zeros((int(condition != 0), 0), "int64")}
    return {"Out": np.argwhere(condition != 0).astype("int64")}


test_where_index = op_tests(
    "where_index",
    reference,
    cases={
        "matrix": ({"Condition": ints(3, 4, high=2).astype(bool)}, {}),
        "five axes": ({"Condition": ints(2, 3, 1, 2, 2, high=2, dtype="int32")}, {}),
        "int64": ({"Condition": ints(7, low=-1, high=2)}, {}),
        "int16": ({"Condition": ints(7, low=-1, high=2, dtype="int16")}, {}),
        "floats": ({"Condition": np.array([0.0, -0.0, np.nan, np.inf, 0.5])}, {}),
        "none": ({"Condition": np.zeros((2, 3), bool)}, {}),
        "no rows": ({"Condition": np.zeros((0, 3), bool)}, {}),
        "no columns": ({"Condition": np.zeros((3, 0), bool)}, {}),
        "one element": ({"Condition": np.array(True)}, {}),
        "one zero": ({"Condition": np.array(False)}, {}),
    },
    refusals={"bytes": ({"Condition": ints(3, dtype="uint8")}, {}, pm.Error, "uint8")},
    open_shapes=True,
)

test_sequences_go_away = op_tests(
    "where_index",
    lambda inputs, attrs: reference({"Condition": inputs["Condition"].array}, attrs),
    cases={"as many as rows": ({"Condition": pm.LoDTensor(array(3, low=1, high=2), [[0, 1, 3]])}, {})},
    open_shapes=True,
)
