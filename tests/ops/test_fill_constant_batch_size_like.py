"""fill_constant_batch_size_like: value, with one dimension of its shape taken from Input."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests

DTYPES = {0: "bool", 2: "int32", 3: "int64", 5: "float32", 6: "float64"}


def reference(inputs, attrs):
    shape = list(attrs["shape"])
    given, axis = inputs["Input"], attrs["input_dim_idx"]
    sequences = isinstance(given, pm.LoDTensor)  # then its batch is the number of sequences, not of rows
    shape[attrs["output_dim_idx"]] = (
        len(given.lod[-1]) - 1 if sequences and axis == 0 else given.array.shape[axis] if sequences else given.shape[axis]
    )
    return {"Out": np.full(shape, float(attrs["str_value"] or attrs["value"])).astype(DTYPES[attrs["dtype"]])}


test_fill_constant_batch_size_like = op_tests(
    "fill_constant_batch_size_like",
    reference,
    cases={
        "float32": ({"Input": array(3, 4)}, {"shape": [-1, 2], "value": 1.5}),
        "float64": (
            {"Input": array(3, 4)},
            {"shape": [2, -1], "value": 1.5, "dtype": 6, "input_dim_idx": 1, "output_dim_idx": -1},
        ),
        "int32": ({"Input": array(3, 4)}, {"shape": [9], "value": -2.0, "dtype": 2}),
        "int64 in words": ({"Input": ints(3)}, {"shape": [1, 2], "str_value": "7", "dtype": 3}),
        "bool": ({"Input": ints(3)}, {"shape": [1], "value": 1.0, "dtype": 0}),
        "one element": ({"Input": array(1)}, {"shape": [-1], "str_value": "inf", "dtype": 5}),
        "sequences": ({"Input": pm.LoDTensor(array(5, 4), [[0, 2, 5]])}, {"shape": [-1, 2], "value": 1.5}),
        "sequences, down": ({"Input": pm.LoDTensor(array(5, 4), [[0, 5]])}, {"shape": [7, -1], "output_dim_idx": 1}),
        "two levels": ({"Input": pm.LoDTensor(array(5, 4), [[0, 1, 3], [0, 2, 4, 5]])}, {"shape": [-1, 2]}),
        "empty sequences": ({"Input": pm.LoDTensor(array(2, 4), [[0, 0, 2, 2]])}, {"shape": [-1, 2]}),
        "width of sequences": (
            {"Input": pm.LoDTensor(array(5, 4), [[0, 2, 5]])},
            {"shape": [3, -1], "input_dim_idx": 1, "output_dim_idx": 1},
        ),
        "no rows": ({"Input": array(0, 4)}, {"shape": [-1, 2], "dtype": 5}),
    },
    refusals={
        "a number": ({"Input": array()}, {"shape": [1]}, pm.ShapeError, "no dimensions"),
        "no such dimension": ({"Input": array(3)}, {"shape": [1], "input_dim_idx": 1}, pm.ShapeError, "input_dim_idx 1"),
        "negative": ({"Input": array(3)}, {"shape": [1, -1]}, pm.ProgramError, "shape -1"),
        "no number": ({"Input": array(3)}, {"shape": [1], "str_value": "two"}, pm.ProgramError, "str_value two"),
        "no such type": ({"Input": array(3)}, {"shape": [1], "dtype": 99}, pm.ProgramError, "dtype 99"),
        "too large": ({"Input": array(3)}, {"shape": [1, *[2147483647] * 4]}, pm.Error, ""),
    },
)
