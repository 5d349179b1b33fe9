"""shard_index: indices within one of several shards."""

import numpy as np

import paddle_mini as pm
from harness import ints, op_tests


def reference(inputs, attrs):
    x, size = inputs["X"], -(-attrs["index_num"] // attrs["nshards"])
    return {"Out": np.where(x // size == attrs["shard_id"], x % size, attrs["ignore_value"]).astype(x.dtype)}


def of(**attrs):
    return {"index_num": 20, "nshards": 3, "shard_id": 0, **attrs}


test_shard_index = op_tests(
    "shard_index",
    reference,
    cases={
        **{f"shard {i}": ({"X": ints(20, 1, high=20)}, of(shard_id=i)) for i in range(3)},
        "int32": ({"X": ints(2, 5, 1, high=20, dtype="int32")}, of(shard_id=1, ignore_value=99)),
        "as many as can be": ({"X": np.array([[2147483646]])}, of(index_num=2147483647, nshards=2, shard_id=1)),
        "more shards than indices": ({"X": np.array([[1], [0]])}, of(index_num=2, nshards=5, shard_id=1)),
        "one element": ({"X": np.array([[7]])}, of(shard_id=1)),
        "no rows": ({"X": ints(0, 1)}, of()),
    },
    refusals={
        "no such index": ({"X": np.array([[20]])}, of(), pm.OpError, "20 position 0"),
        "negative": ({"X": np.array([[-1]])}, of(), pm.OpError, "-1 position 0"),
        "no such shard": ({"X": ints(3, 1)}, of(shard_id=3), pm.ProgramError, "shard_id 3"),
        "no shards": ({"X": ints(3, 1)}, of(nshards=0), pm.ProgramError, "nshards 0"),
        "two columns": ({"X": ints(3, 2)}, of(), pm.ShapeError, "X [3, 2]"),
    },
)
