"""graph_send_uv: for each edge, the sum or product of rows of its source and its target."""

import numpy as np

import paddle_mini as pm
from families.graphs import SOURCES, TARGETS, combined
from harness import array, ints, op_tests
from sequence_cases import dropped, lod_tensor


def reference(inputs, attrs):
    source, target = (inputs[port].reshape(-1).astype("int64") for port in ("src_index", "dst_index"))
    return {"out": combined(inputs["x"][source], inputs["y"][target], attrs)}


def graph(x, y, source=SOURCES, target=TARGETS):
    return {"x": x, "y": y, "src_index": source, "dst_index": target}


test_graph_send_uv = op_tests(
    "graph_send_uv",
    dropped(reference),
    cases={
        **{kind: (graph(array(4, 3), array(3, 3, seed=1)), {"message_op": kind}) for kind in ("ADD", "MUL")},
        "broadcast both": (graph(array(4, 3, 1), array(3, 1, 2, seed=1)), {"message_op": "MUL"}),
        "more dimensions of targets": (graph(array(4, 3), array(3, 2, 3, seed=1)), {"message_op": "MUL"}),
        "vectors": (graph(array(4), array(3, seed=1)), {"message_op": "MUL"}),
        "columns of edges": (
            graph(array(4, 3), array(4, 3), SOURCES.astype("int32")[:, None], TARGETS.astype("int32")[:, None]),
            {},
        ),
        "one element": (graph(array(1), array(1, seed=1), np.array([0]), np.array([0])), {}),
        "no edges": (graph(array(4, 3), array(2, 3), ints(0), ints(0)), {}),
    },
    gradients=["x", "y"],
    values_only={
        "integers": (graph(ints(4, 2), ints(3, 2, seed=1)), {"message_op": "MUL"}),
        "sequences": (graph(lod_tensor(array(3, 2), [1, 2]), array(3, 2), SOURCES[:3] % 3, TARGETS[:3]), {}),
    },
    refusals={
        "no such source": (graph(array(4), array(4), np.array([4]), np.array([0])), {}, pm.OpError, "src_index 4 position 0 4"),
        "no such target": (graph(array(4), array(2)), {}, pm.OpError, "dst_index 2 position 1 2 nodes"),
        "fewer targets": (graph(array(4), array(4), SOURCES, ints(2)), {}, pm.ShapeError, "src_index 5 dst_index 2"),
        "other columns": (graph(array(4, 3), array(4, 2)), {}, pm.ShapeError, "[3] [2]"),
        "a number": (graph(array(), array(4)), {}, pm.ShapeError, "x []"),
        "other message": (graph(array(4), array(4)), {"message_op": "SUB"}, pm.ProgramError, "'message_op'"),
    },
)
