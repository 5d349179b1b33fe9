"""uniform_random_batch_size_like: drawn evenly from [min, max), with one dimension of Input."""

import paddle_mini as pm
from families.draws import NAMES
from harness import array, op_tests
from mersenne_twister import uniform


def reference(inputs, attrs):
    shape, given = list(attrs["shape"]), inputs["Input"]
    sequences = isinstance(given, pm.LoDTensor)
    shape[attrs["output_dim_idx"]] = len(given.lod[-1]) - 1 if sequences else given.shape[attrs["input_dim_idx"]]
    count = 1
    for size in shape:
        count *= size
    out = uniform(attrs["seed"], count, attrs["min"], attrs["max"], NAMES[attrs["dtype"]])
    out[: attrs["diag_num"] * (attrs["diag_step"] + 1) : attrs["diag_step"] + 1] = attrs["diag_val"]
    return {"Out": out.reshape(shape)}


SEED = {"seed": 7}

test_uniform_random_batch_size_like = op_tests(
    "uniform_random_batch_size_like",
    reference,
    cases={
        "rows": ({"Input": array(3, 4)}, {"shape": [-1, 5], "dtype": 5, **SEED}),
        "float64": (
            {"Input": array(3, 4)},
            {"shape": [5, -1], "input_dim_idx": 1, "output_dim_idx": -1, "dtype": 6, "min": 0.0, "max": 3.0, **SEED},
        ),
        "diagonal": ({"Input": array(4)}, {"shape": [-1, 5], "diag_num": 4, "diag_step": 5, "diag_val": 9.0, "dtype": 5, **SEED}),
        "sequences": ({"Input": pm.LoDTensor(array(5, 4), [[0, 2, 5]])}, {"shape": [-1, 2], "dtype": 5, **SEED}),
        "one element": ({"Input": array(1)}, {"shape": [-1], "dtype": 5, **SEED}),
        "no rows": ({"Input": array(0, 4)}, {"shape": [-1, 2], "dtype": 5, **SEED}),
    },
    refusals={
        "wrong order": ({"Input": array(3)}, {"shape": [1], "min": 1.0, "max": 0.0}, pm.ProgramError, "min 1 max 0"),
        "a number": ({"Input": array()}, {"shape": [1]}, pm.ShapeError, "no dimensions"),
        "integers": ({"Input": array(3)}, {"shape": [1], "dtype": 3}, pm.Error, "int64"),
    },
)
