"""sequence_pool: one row for each sequence."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import lod_tensor, sequences, split

POOLS = {
    "SUM": lambda rows: rows.sum(axis=0),
    "AVERAGE": lambda rows: rows.mean(axis=0),
    "SQRT": lambda rows: rows.sum(axis=0) / np.sqrt(len(rows)),
    "MAX": lambda rows: rows.max(axis=0),
    "LAST": lambda rows: rows[-1],
    "FIRST": lambda rows: rows[0],
}


def reference(inputs, attrs):
    x = inputs["X"]
    out = np.full((len(x.lod[-1]) - 1, *x.array.shape[1:]), attrs["pad_value"], "float64")
    index = np.full(out.shape, -1, "int32")
    for i, rows in enumerate(split(x)):
        if len(rows):
            out[i] = POOLS[attrs["pooltype"]](rows)
            index[i] = rows.argmax(axis=0) + x.lod[-1][i]
    return {"Out": pm.LoDTensor(out, x.lod[:-1]) if len(x.lod) > 1 else out, "MaxIndex": index}


CASES = {
    "two": sequences(2, 3),
    "an empty sequence": sequences(2, 0, 3),
    "wide": sequences(1, 5, 4, width=37),
    "numbers": lod_tensor(array(4), [3, 1]),
    "images": lod_tensor(array(4, 2, 3), [3, 1]),
    "one element": sequences(1, width=1),
    "no rows": sequences(0, 0),
    "no sequences": sequences(),
    "nothing in a row": sequences(2, 1, width=0),
}

test_pools = op_tests(
    "sequence_pool",
    lambda inputs, attrs: {"Out": reference(inputs, attrs)["Out"]},
    cases={
        f"{name} {pool}": ({"X": x}, {"pooltype": pool, "pad_value": 0.5})
        for name, x in CASES.items()
        for pool in POOLS
        if pool != "MAX"
    },
    gradients=["X"],
    refusals={
        "other pool": ({"X": sequences(2)}, {"pooltype": "MIN"}, pm.ProgramError, "pooltype MIN"),
        "no lod": ({"X": array(2, 3)}, {}, pm.ShapeError, "X no sequences (lod)"),
        "rank 0": ({"X": array()}, {}, pm.ShapeError, "X no dimensions"),
        "integers": ({"X": lod_tensor(ints(2, 3), [2])}, {}, pm.Error, "int64"),
    },
)

test_max = op_tests(
    "sequence_pool",
    reference,
    cases={name: ({"X": x}, {"pooltype": "MAX", "pad_value": 0.5}) for name, x in CASES.items()},
    gradients=["X"],
)

# If sequences contain sequences, the last level is pooled, and Out has the other one.
test_levels = op_tests(
    "sequence_pool",
    lambda inputs, attrs: {"Out": reference(inputs, attrs)["Out"]},
    cases={pool: ({"X": lod_tensor(array(5, 2), [2, 1], [2, 0, 3])}, {"pooltype": pool}) for pool in POOLS},
    unchecked=["MaxIndex"],
    gradients=["X"],
)


def test_is_test_keeps_no_index():
    x = sequences(2, 3)
    found = run_op("sequence_pool", {"X": x}, {"pooltype": "MAX", "is_test": True}, ["Out", "MaxIndex"])
    assert found["MaxIndex"].shape == (0, 3) and found["MaxIndex"].dtype == "int32"
    np.testing.assert_array_equal(found["Out"], [rows.max(axis=0) for rows in split(x)])


@pytest.mark.parametrize("is_test", [False, True])
def test_nan_goes_before_numbers_and_the_first_of_equals_is_taken(is_test):
    x = lod_tensor(np.array([[1, 2, np.nan], [np.nan, 2, 1], [3, 2, 5]]), [3])
    found = run_op("sequence_pool", {"X": x}, {"pooltype": "MAX", "is_test": is_test}, ["Out", "MaxIndex"])
    np.testing.assert_array_equal(found["Out"], [[np.nan, 2, np.nan]])
    if not is_test:
        np.testing.assert_array_equal(found["MaxIndex"], [[1, 0, 0]])


@pytest.mark.parametrize("index", [2, -1, 7])
def test_gradient_refuses_an_index_of_another_sequence(index):
    inputs = {"X": sequences(2, 1, width=1), "Out@GRAD": array(2, 1), "MaxIndex": np.array([[index], [2]], "int32")}
    with pytest.raises(pm.OpError, match=f"MaxIndex has {index} for sequence 0"):
        run_op("sequence_pool_grad", inputs, {"pooltype": "MAX"})


@pytest.mark.parametrize(
    "more, words",
    [({}, "MaxIndex is missing"), ({"MaxIndex": array(2, 1)}, "int32"), ({"MaxIndex": ints(3, 1, dtype="int32")}, "[2, 1]")],
)
def test_gradient_needs_a_right_index(more, words):
    with pytest.raises(pm.Error) as caught:
        run_op("sequence_pool_grad", {"X": sequences(2, 1, width=1), "Out@GRAD": array(2, 1), **more}, {"pooltype": "MAX"})
    assert words in str(caught.value)
