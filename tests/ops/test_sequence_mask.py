"""sequence_mask: Y[i..., j] = whether j < X[i...]."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op

DTYPES = {"bool": 0, "int16": 1, "int32": 2, "int64": 3, "float32": 5, "float64": 6, "uint8": 20, "int8": 21}


def reference(inputs, attrs):
    x = inputs["X"]
    longest = int(inputs["MaxLenTensor"].item()) if "MaxLenTensor" in inputs else attrs["maxlen"]
    if longest < 0:
        longest = max(int(x.max(initial=0)), 0)
    dtype = next(name for name, number in DTYPES.items() if number == attrs["out_dtype"])
    return {"Y": (np.arange(longest) < x[..., None]).astype(dtype)}


test_sequence_mask = op_tests(
    "sequence_mask",
    reference,
    cases={
        **{dtype: ({"X": np.array([2, 0, 3])}, {"maxlen": 4, "out_dtype": number}) for dtype, number in DTYPES.items()},
        "the largest": ({"X": np.array([2, 0, 3])}, {"out_dtype": 3}),
        "shorter": ({"X": np.array([2, 0, 3], "int32")}, {"maxlen": 2, "out_dtype": 3}),
        "matrix": ({"X": ints(2, 3, high=5)}, {"out_dtype": 2}),
        "a tensor says how long": ({"X": ints(3, high=5), "MaxLenTensor": np.array([6], "int32")}, {"maxlen": 2, "out_dtype": 3}),
        "fractions": ({"X": np.array([0.5, 2.0, 2.5])}, {"out_dtype": 3}),
        "negative": ({"X": np.array([-2, -1])}, {"out_dtype": 3}),
        "one element": ({"X": np.array(2)}, {"out_dtype": 3}),
        "no rows": ({"X": ints(0)}, {"out_dtype": 3}),
        "nothing": ({"X": ints(0, 2)}, {"maxlen": 3, "out_dtype": 3}),
    },
    refusals={
        "length 0": ({"X": ints(2)}, {"maxlen": 0, "out_dtype": 3}, pm.ProgramError, "maxlen 0"),
        "tensor 0": ({"X": ints(2), "MaxLenTensor": np.array([0])}, {"out_dtype": 3}, pm.OpError, "MaxLenTensor 0"),
        "two tensors": ({"X": ints(2), "MaxLenTensor": ints(2)}, {"out_dtype": 3}, pm.ShapeError, "MaxLenTensor [2]"),
        "no such dtype": ({"X": ints(2)}, {"out_dtype": 77}, pm.ProgramError, "out_dtype 77"),
        "half": ({"X": ints(2)}, {"out_dtype": 4}, pm.ProgramError, "out_dtype float16"),
        "not a number": ({"X": np.array([np.nan])}, {"out_dtype": 3}, pm.OpError, "nan"),
        "too long": ({"X": np.array([2**62])}, {"out_dtype": 3}, pm.OpError, "position 0"),
        "too many": ({"X": array(1, 1, 1, 1, 1, 1, 1, 1, 1)}, {"out_dtype": 3}, pm.ShapeError, "9 dimensions"),
    },
    open_shapes=True,
)


@pytest.mark.parametrize("value, ones", [(np.nan, 0), (np.inf, 3), (-np.inf, 0)])
def test_special_numbers(value, ones):
    found = run_op("sequence_mask", {"X": np.array([value])}, {"maxlen": 3, "out_dtype": 3})["Y"]
    assert found.sum() == ones


test_a_mask_has_no_sequences = op_tests(
    "sequence_mask",
    lambda inputs, attrs: reference({"X": inputs["X"].array}, attrs),
    cases={"as many rows": ({"X": pm.LoDTensor(np.array([2, 1]), [[0, 1, 2]])}, {"maxlen": 3, "out_dtype": 3})},
)


def test_the_length_is_read_at_every_run():
    program = pm.Program()
    block = program.global_block()
    block.create_var("x", dtype="int64", shape=[-1], need_check_feed=True)
    block.append_op("sequence_mask", {"X": "x"}, {"Y": "y"}, {"out_dtype": 3})
    block.append_op("scale", {"X": "y"}, {"Out": "out"}, {"scale": 1.0})
    executor = pm.Executor(pm.CPUPlace())
    for lengths in ([2, 3], [5, 1], [1]):
        (out,) = executor.run(program, feed={"x": np.array(lengths)}, fetch_list=["out"], scope=pm.Scope())
        assert out.shape == (len(lengths), max(lengths)) and out.sum(axis=1).tolist() == lengths
