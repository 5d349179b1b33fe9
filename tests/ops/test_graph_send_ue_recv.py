"""graph_send_ue_recv: for each node the reduction of messages, which combine rows of nodes and of edges."""

import numpy as np

import paddle_mini as pm
from families.graphs import REDUCE, SOURCES, TARGETS, combined, reduced
from harness import array, ints, op_tests
from sequence_cases import dropped, lod_tensor


def reference(inputs, attrs):
    x = inputs["X"]
    size = inputs["Out_size"] if "Out_size" in inputs else attrs["out_size"]
    rows = int(size[0]) if len(size) and size[0] > 0 else len(x)
    messages = combined(x[inputs["Src_index"].reshape(-1).astype("int64")], inputs["Y"], attrs)
    return reduced(messages, inputs["Dst_index"], rows, attrs)


def graph(x, y, source=SOURCES, target=TARGETS, **more):
    return {"X": x, "Y": y, "Src_index": source, "Dst_index": target, **more}


test_graph_send_ue_recv = op_tests(
    "graph_send_ue_recv",
    dropped(reference),
    cases={
        **{
            f"{reduce} of {message}": (graph(array(4, 3), array(5, 3, seed=1)), {"reduce_op": reduce, "message_op": message})
            for reduce in REDUCE
            for message in ("ADD", "MUL")
        },
        "broadcast both": (graph(array(4, 3, 1), array(5, 1, 2, seed=1)), {"reduce_op": "MEAN", "message_op": "MUL"}),
        "a number for each edge": (graph(array(4, 3), array(5, 1, seed=1)), {"reduce_op": "MAX", "message_op": "MUL"}),
        "more dimensions of edges": (graph(array(4, 3), array(5, 2, 3, seed=1)), {"message_op": "ADD"}),
        "vectors": (graph(array(4), array(5, seed=1)), {"message_op": "MUL"}),
        "more nodes than X": (graph(array(4, 2), array(5, 2, seed=1)), {"out_size": [6], "reduce_op": "MEAN"}),
        "columns of edges": (
            graph(array(4, 3), array(5, 3, seed=1), SOURCES.astype("int32")[:, None], TARGETS.astype("int32")[:, None]),
            {},
        ),
        "one element": (graph(array(1), array(1, seed=1), np.array([0]), np.array([0])), {}),
        "no edges": (graph(array(4, 3), array(0, 3), ints(0), ints(0)), {"reduce_op": "MIN"}),
    },
    gradients=["X", "Y"],
    gradient_of=["Out"],
    values_only={
        "sequences": (graph(lod_tensor(array(4, 3), [1, 3]), array(5, 3, seed=1)), {}),
        "size in a tensor": (graph(array(4, 2), array(5, 2, seed=1), Out_size=np.array([5])), {}),
        "integers": (graph(ints(4, 2), ints(5, 2, seed=1)), {"reduce_op": "MEAN", "message_op": "MUL"}),
    },
    refusals={
        "no such source": (graph(array(4), array(1), np.array([4]), np.array([0])), {}, pm.OpError, "Src_index 4 position 0"),
        "no such target": (graph(array(4), array(5)), {"out_size": [2]}, pm.OpError, "Dst_index 2 position 1 2 nodes"),
        "fewer rows of edges": (graph(array(4), array(3)), {}, pm.ShapeError, "Y [3] 5 edges"),
        "other columns": (graph(array(4, 3), array(5, 2)), {}, pm.ShapeError, "[3] [2]"),
        "other type": (graph(array(4), ints(5)), {}, pm.ShapeError, "Y int64"),
        "other message": (graph(array(4), array(5)), {"message_op": "SUB"}, pm.ProgramError, "'message_op'"),
    },
    open_shapes=True,
)
