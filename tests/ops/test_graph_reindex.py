"""graph_reindex: the nodes of a sampled graph as numbers from 0."""

import numpy as np

import paddle_mini as pm
from harness import ints, op_tests

X, NEIGHBORS, COUNT = np.array([0, 1, 2]), np.array([8, 9, 0, 4, 7, 6, 7]), np.array([2, 3, 2], "int32")


def reference(inputs, attrs):
    x, neighbors, count = (inputs[port].reshape(-1).tolist() for port in ("X", "Neighbors", "Count"))
    nodes = list(dict.fromkeys(x + neighbors))
    targets = [i % len(x) for i, times in enumerate(count) for _ in range(times)]
    found = {"Reindex_Src": [nodes.index(node) for node in neighbors], "Reindex_Dst": targets, "Out_Nodes": nodes}
    return {port: np.array(value, inputs["X"].dtype) for port, value in found.items()}


def graph(x=X, neighbors=NEIGHBORS, count=COUNT, **other):
    return {"X": x, "Neighbors": neighbors, "Count": count, **other}


WORK = {"HashTable_Value": np.full(10, -1, "int32"), "HashTable_Index": np.full(10, -1, "int32")}

test_graph_reindex = op_tests(
    "graph_reindex",
    reference,
    cases={
        "one graph": (graph(), {}),
        "int32": (graph(X.astype("int32"), NEIGHBORS.astype("int32")), {}),
        "two graphs": (graph(neighbors=np.append(NEIGHBORS, [0, 2, 8]), count=np.append(COUNT, [1, 0, 2])), {}),
        "work memory": (graph(**WORK), {}),
        "no neighbors": (graph(neighbors=ints(0), count=np.zeros(3, "int32")), {}),
        "no nodes": (graph(ints(0), ints(0), ints(0)), {}),
        "one element": (graph(np.array([5]), np.array([5]), np.array([1])), {}),
    },
    open_shapes=True,
    refusals={
        "a node twice": (graph(np.array([0, 1, 0])), {}, pm.OpError, "X node 0 element 2"),
        "too few neighbors": (graph(neighbors=NEIGHBORS[1:]), {}, pm.OpError, "Count 7 Neighbors 6"),
        "negative count": (graph(count=np.array([2, -3, 8])), {}, pm.OpError, "Count -3 element 1"),
        "counts that wrap around": (
            graph(count=np.array([2**63 - 1, 2**63 - 1, NEIGHBORS.size + 2])),
            {},
            pm.OpError,
            "Count 9223372036854775807 element 1",
        ),
        "too few counts": (graph(count=COUNT[1:]), {}, pm.ShapeError, "Count [2] X [3]"),
        "other types": (graph(X.astype("int32")), {}, pm.ShapeError, "X int32 Neighbors int64"),
        "numbers": (graph(X * 1.0, NEIGHBORS * 1.0), {}, pm.ShapeError, "X int32 int64"),
    },
)
