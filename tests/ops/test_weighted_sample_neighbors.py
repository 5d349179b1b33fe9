"""weighted_sample_neighbors: neighbors of nodes, drawn with the probabilities of weights."""

import numpy as np

import paddle_mini as pm
from families.graphs import COLPTR, NODES, ROW, all_neighbors
from harness import ints, op_tests, run_op


def reference(inputs, attrs):
    row, colptr, nodes = (inputs[port].reshape(-1) for port in ("row", "colptr", "input_nodes"))
    out, count = all_neighbors(row, colptr, nodes)
    ids = all_neighbors(inputs["eids"], colptr, nodes)[0] if attrs["return_eids"] else row[:0]
    return {"out_neighbors": out, "out_count": count, "out_eids": ids}


def graph(row=ROW, colptr=COLPTR, nodes=NODES, weights=None, **other):
    weights = np.ones(row.shape, "float32") if weights is None else np.array(weights, "float32")
    return {"row": row, "colptr": colptr, "edge_weight": weights, "input_nodes": nodes, **other}


test_weighted_sample_neighbors = op_tests(
    "weighted_sample_neighbors",
    reference,
    cases={
        "all": (graph(), {"sample_size": -1}),
        "no more": (graph(eids=ROW + 100), {"sample_size": 2, "return_eids": True}),
        "columns": (graph(ROW[:, None]), {"sample_size": 3}),
        "no nodes": (graph(nodes=ints(0)), {"sample_size": 2}),
        "one element": (graph(np.array([0]), np.array([0, 1]), np.array([0])), {"sample_size": 1}),
    },
    open_shapes=True,
    float64=[],
    refusals={
        "negative weight": (graph(weights=[-1.0] * 13), {}, pm.OpError, "edge_weight -1 element 0"),
        "weight that is not a number": (graph(weights=[1.0] * 12 + [np.nan]), {}, pm.OpError, "edge_weight nan element 12"),
        "too few weights": (graph(weights=[1.0]), {}, pm.ShapeError, "edge_weight 1 row 13"),
        "no such node": (graph(nodes=np.array([-1])), {}, pm.OpError, "input_nodes -1"),
        "no ids": (graph(), {"return_eids": True}, pm.ProgramError, "return_eids eids"),
    },
)


def test_probabilities_are_those_of_weights():
    """The first edge that is drawn, and the second among those that are left."""
    weights = np.array([1.0, 2, 0, 3, 4])
    count = 20_000
    given = graph(np.tile(np.arange(5), count), np.arange(count + 1) * 5, np.arange(count), np.tile(weights, count))
    drawn = run_op("weighted_sample_neighbors", given, {"sample_size": 2}, ["out_neighbors"])["out_neighbors"].reshape(count, 2)
    assert (drawn[:, 0] != drawn[:, 1]).all()
    np.testing.assert_allclose(np.bincount(drawn[:, 0], minlength=5) / count, weights / 10, atol=0.018)  # five deviations
    second = drawn[drawn[:, 0] == 4][:, 1]
    np.testing.assert_allclose(np.bincount(second, minlength=5)[[0, 1, 3]] / second.size, np.array([1, 2, 3]) / 6, atol=0.03)
