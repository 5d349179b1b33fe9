"""pm.onnx.load: operators of models in use whose converters do more than rename."""

import numpy as np
from onnx import TensorProto, helper

from onnx_graphs import info, node, ours, saved


def test_boxes_of_each_class_without_those_that_overlap(tmp_path):
    """Corners in any order, boxes without area, and at most so many of a class."""
    rng = np.random.default_rng(4)
    boxes = rng.uniform(0, 10, (2, 40, 4)).astype("float32")
    boxes[0, :6, 2:] = boxes[0, :6, :2]
    scores = rng.uniform(0, 1, (2, 3, 40)).astype("float32")
    weights = {"most": np.array([4]), "overlap": np.array([0.3], "float32"), "least": np.array([0.2], "float32")}
    nodes = [node("NonMaxSuppression", ["boxes", "scores", *weights], ["y"])]
    path = saved(
        tmp_path,
        nodes,
        [info("boxes", "N", "B", 4), info("scores", "N", 3, "B")],
        [info("y", "K", 3, dtype=TensorProto.INT64)],
        weights,
    )
    (found,) = ours(path, {"boxes": boxes, "scores": scores})
    must = [[i, c, box] for i in range(2) for c in range(3) for box in kept(boxes[i], scores[i, c], 4, 0.3, 0.2)]
    assert found.tolist() == must and len(must) == 24


def kept(boxes, scores, most, overlap, least):
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    area, chosen = (high - low).prod(1), []
    for i in np.argsort(-scores):
        both = [np.maximum(np.minimum(high[i], high[j]) - np.maximum(low[i], low[j]), 0).prod() for j in chosen]
        apart = all(part <= overlap * (area[i] + area[j] - part) for part, j in zip(both, chosen))
        if scores[i] > least and apart and len(chosen) < most:
            chosen.append(int(i))
    return chosen


def test_nodes_in_any_order(tmp_path):
    """As tools leave them that append casts to a graph; also in an inner graph."""
    inner = helper.make_graph([node("Neg", ["a"], ["b"]), node("Relu", ["x"], ["a"])], "then", [], [info("b", 3)])
    other = helper.make_graph([node("Identity", ["late"], ["c"])], "else", [], [info("c", 3)])
    nodes = [node("If", ["on"], ["y"], then_branch=inner, else_branch=other), node("Abs", ["x"], ["late"])]
    path = saved(tmp_path, nodes, [info("x", 3), info("on", dtype=TensorProto.BOOL)], [info("y", 3)], {})
    x = np.array([-1, 2, 3], "float32")
    for on, must in ((True, [0, -2, -3]), (False, [1, 2, 3])):
        assert ours(path, {"x": x, "on": np.array(on)})[0].tolist() == must
