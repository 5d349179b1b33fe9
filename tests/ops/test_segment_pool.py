"""segment_pool: the rows of X with one id, reduced."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests
from sequence_cases import dropped, lod_tensor

REDUCE = {"SUM": np.sum, "MEAN": np.mean, "MIN": np.min, "MAX": np.max}


def reference(inputs, attrs):
    x, ids = inputs["X"], inputs["SegmentIds"]
    count = int(ids[-1]) + 1 if len(ids) else 0
    out = np.zeros((count, *x.shape[1:]), x.dtype)
    for i in np.unique(ids):
        value = REDUCE[attrs["pooltype"]](x[ids == i], axis=0)
        out[i] = np.trunc(value) if x.dtype.kind == "i" else value
    return {"Out": out, "SummedIds": np.bincount(ids, minlength=count).astype(x.dtype).reshape(-1, 1)}


IDS = np.array([0, 0, 1, 3, 3, 3])

test_segment_pool = op_tests(
    "segment_pool",
    dropped(reference),
    cases={
        **{kind: ({"X": array(6, 4), "SegmentIds": IDS}, {"pooltype": kind}) for kind in REDUCE},
        "no row with the first id": ({"X": array(2, 2, 3), "SegmentIds": np.array([1, 2], "int32")}, {"pooltype": "MEAN"}),
        "vector": ({"X": array(6), "SegmentIds": IDS}, {"pooltype": "MAX"}),
        "no columns": ({"X": array(6, 0), "SegmentIds": IDS}, {}),
        "one element": ({"X": array(1), "SegmentIds": np.array([0])}, {}),
    },
    gradients=["X"],
    gradient_of=["Out"],
    values_only={
        "sequences": ({"X": lod_tensor(array(3, 2), [1, 2]), "SegmentIds": np.arange(3)}, {"pooltype": "SUM"}),
        "no rows": ({"X": array(0, 4), "SegmentIds": ints(0)}, {}),
        **{f"int32 {kind}": ({"X": ints(6, 2, dtype="int32"), "SegmentIds": IDS}, {"pooltype": kind}) for kind in REDUCE},
        "int64": ({"X": ints(6, 2), "SegmentIds": IDS}, {"pooltype": "MEAN"}),
    },
    refusals={
        "not ascending": ({"X": array(3), "SegmentIds": np.array([0, 2, 1])}, {}, pm.Error, "SegmentIds 1 position 2 ascend"),
        "below 0": ({"X": array(2), "SegmentIds": np.array([-1, 0])}, {}, pm.Error, "SegmentIds -1 position 0"),
        "too few ids": ({"X": array(3), "SegmentIds": np.array([0, 1])}, {}, pm.ShapeError, "X [3] SegmentIds [2]"),
        "a matrix": ({"X": array(3), "SegmentIds": ints(3, 1)}, {}, pm.ShapeError, "SegmentIds 2 1"),
        "a number": ({"X": array(), "SegmentIds": np.array([0])}, {}, pm.ShapeError, "X []"),
        "float ids": ({"X": array(2), "SegmentIds": array(2)}, {}, pm.ShapeError, "SegmentIds float"),
        "other reduction": ({"X": array(2), "SegmentIds": ints(2)}, {"pooltype": "sum"}, pm.ProgramError, "'pooltype'"),
    },
    open_shapes=True,
)
