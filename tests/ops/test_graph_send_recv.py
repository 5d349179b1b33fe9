"""graph_send_recv: for each node the reduction of the rows of the sources of its edges."""

import numpy as np

import paddle_mini as pm
from families.graphs import REDUCE, SOURCES, TARGETS, reduced
from harness import array, ints, op_tests
from sequence_cases import dropped, lod_tensor


def reference(inputs, attrs):
    x = inputs["X"]
    size = inputs["Out_size"] if "Out_size" in inputs else attrs["out_size"]
    rows = int(size[0]) if len(size) and size[0] > 0 else len(x)
    return reduced(x[inputs["Src_index"].reshape(-1).astype("int64")], inputs["Dst_index"], rows, attrs)


def graph(x, source=SOURCES, target=TARGETS, **more):
    return {"X": x, "Src_index": source, "Dst_index": target, **more}


test_graph_send_recv = op_tests(
    "graph_send_recv",
    dropped(reference),
    cases={
        **{kind: (graph(array(4, 3)), {"reduce_op": kind}) for kind in REDUCE},
        "more nodes than X": (graph(array(4, 2, 3)), {"out_size": [6], "reduce_op": "MEAN"}),
        "fewer nodes than X": (graph(array(4, 3)), {"out_size": [3], "reduce_op": "MEAN"}),
        "columns of edges": (graph(array(4, 3), SOURCES.astype("int32")[:, None], TARGETS.astype("int32")[:, None]), {}),
        "vector": (graph(array(4)), {"reduce_op": "MAX"}),
        "one element": (graph(array(1), np.array([0]), np.array([0])), {}),
        "no edges": (graph(array(4, 3), ints(0), ints(0)), {"reduce_op": "MIN"}),
        "no columns": (graph(array(4, 0)), {}),
    },
    gradients=["X"],
    gradient_of=["Out"],
    values_only={
        "sequences": (graph(lod_tensor(array(4, 3), [1, 3])), {}),
        "no nodes": (graph(array(0, 3), ints(0), ints(0)), {}),
        "size in a tensor": (graph(array(4, 2), Out_size=np.array([5])), {}),
        **{f"int32 {kind}": (graph(ints(4, 2, dtype="int32")), {"reduce_op": kind}) for kind in REDUCE},
    },
    refusals={
        "no such source": (graph(array(4), np.array([4]), np.array([0])), {}, pm.OpError, "Src_index 4 position 0 4 nodes"),
        "no such target": (graph(array(4)), {"out_size": [2]}, pm.OpError, "Dst_index 2 position 1 2 nodes"),
        "negative": (graph(array(4), np.array([-1]), np.array([0])), {}, pm.OpError, "Src_index -1"),
        "fewer targets": (graph(array(4), SOURCES, ints(2)), {}, pm.ShapeError, "Src_index 5 Dst_index 2"),
        "matrix of edges": (graph(array(4), ints(3, 2), ints(3, 2)), {}, pm.ShapeError, "Src_index [3, 2]"),
        "float edges": (graph(array(4), array(3), ints(3)), {}, pm.ShapeError, "Src_index float"),
        "a number": (graph(array()), {}, pm.ShapeError, "X []"),
        "two sizes": (graph(array(4)), {"out_size": [2, 3]}, pm.ProgramError, "'out_size' 2"),
        "other reduction": (graph(array(4)), {"reduce_op": "sum"}, pm.ProgramError, "'reduce_op'"),
    },
    open_shapes=True,
)
