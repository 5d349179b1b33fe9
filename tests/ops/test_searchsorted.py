"""searchsorted: the insertion positions of values in a sorted sequence."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    sequence, values = inputs["SortedSequence"], inputs["Values"]
    side = "right" if attrs["right"] else "left"
    if sequence.ndim == 1:
        out = np.searchsorted(sequence, values, side)
    else:
        out = np.zeros(values.shape)
        for i in np.ndindex(values.shape[:-1]):
            out[i] = np.searchsorted(sequence[i], values[i], side)
    return {"Out": np.asarray(out).astype("int32" if attrs["out_int32"] else "int64")}


test_searchsorted = op_tests(
    "searchsorted",
    reference,
    cases={
        "one sequence": ({"SortedSequence": np.sort(array(7)), "Values": array(3, 4)}, {}),
        "a sequence for each row": ({"SortedSequence": np.sort(array(2, 3, 7)), "Values": array(2, 3, 4)}, {}),
        "equal elements": ({"SortedSequence": np.sort(ints(9, high=4)), "Values": ints(6, high=5)}, {}),
        "right": ({"SortedSequence": np.sort(ints(9, high=4)), "Values": ints(6, high=5)}, {"right": True}),
        "int32": ({"SortedSequence": np.sort(array(7)), "Values": array(5)}, {"out_int32": True}),
        "one element": ({"SortedSequence": array(1), "Values": array()}, {}),
        "no sequence": ({"SortedSequence": array(0), "Values": array(3)}, {}),
        "no values": ({"SortedSequence": np.sort(array(2, 3)), "Values": array(2, 0)}, {}),
        "no rows": ({"SortedSequence": array(0, 3), "Values": array(0, 4)}, {}),
    },
    refusals={
        "other rows": ({"SortedSequence": array(2, 3), "Values": array(3, 3)}, {}, pm.ShapeError, "[2, 3] [3, 3]"),
        "other rank": ({"SortedSequence": array(2, 3), "Values": array(3)}, {}, pm.ShapeError, "[2, 3] [3]"),
        "no dimensions": ({"SortedSequence": array(), "Values": array(3)}, {}, pm.ShapeError, "SortedSequence"),
        "other type": ({"SortedSequence": array(3), "Values": ints(3)}, {}, pm.ShapeError, "int64"),
    },
)


def test_what_is_not_finite_belongs_at_the_end():
    values = np.array([np.nan, np.inf, -np.inf, 0.5])
    found = run_op("searchsorted", {"SortedSequence": np.array([0.0, 1.0, 2.0]), "Values": values})["Out"]
    np.testing.assert_array_equal(found, [3, 3, 3, 1])
