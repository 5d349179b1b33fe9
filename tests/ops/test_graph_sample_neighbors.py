"""graph_sample_neighbors: neighbors of nodes, drawn with equal probabilities."""

import numpy as np
import pytest

import paddle_mini as pm
from families.graphs import COLPTR, NODES, ROW, all_neighbors
from harness import ints, op_tests, run_op


def reference(inputs, attrs):
    row, colptr, nodes = (inputs[port].reshape(-1) for port in ("Row", "Col_Ptr", "X"))
    out, count = all_neighbors(row, colptr, nodes)
    ids = all_neighbors(inputs["Eids"].reshape(-1), colptr, nodes)[0] if attrs["return_eids"] else row[:0]
    return {"Out": out, "Out_Count": count, "Out_Eids": ids}


def graph(row=ROW, colptr=COLPTR, nodes=NODES, **other):
    return {"Row": row, "Col_Ptr": colptr, "X": nodes, **other}


IDS = {"Eids": ROW[::-1].copy() + 100}

test_graph_sample_neighbors = op_tests(
    "graph_sample_neighbors",
    reference,
    cases={
        "all": (graph(), {"sample_size": -1}),
        "no more": (graph(**IDS), {"sample_size": 2, "return_eids": True}),
        "columns": (graph(ROW[:, None], COLPTR[:, None], NODES[:, None]), {"sample_size": 9}),
        "int32": (graph(*(one.astype("int32") for one in (ROW, COLPTR, NODES))), {"sample_size": 2}),
        "work memory": (graph(Perm_Buffer=ints(13)), {"sample_size": 2, "flag_perm_buffer": True}),
        "no nodes": (graph(nodes=ints(0)), {"sample_size": 2}),
        "no edges": (graph(ints(0), np.zeros(4, "int64"), np.array([2, 0])), {"sample_size": 2}),
        "one element": (graph(np.array([0]), np.array([0, 1]), np.array([0])), {"sample_size": 1}),
    },
    open_shapes=True,
    refusals={
        "no such node": (graph(nodes=np.array([1, 10])), {}, pm.OpError, "X 10 element 1 10 nodes"),
        "descending": (graph(colptr=COLPTR[::-1].copy()), {}, pm.OpError, "Col_Ptr 13"),
        "edges that do not exist": (graph(ROW[:5]), {}, pm.OpError, "Col_Ptr 11 node 7 5"),
        "no offsets": (graph(colptr=ints(0)), {}, pm.ShapeError, "Col_Ptr"),
        "a matrix": (graph(ROW[:12].reshape(4, 3)), {}, pm.ShapeError, "Row [4, 3]"),
        "no ids": (graph(), {"return_eids": True}, pm.ProgramError, "return_eids Eids"),
        "too few ids": (graph(Eids=ints(3)), {"return_eids": True}, pm.ShapeError, "Eids 3 13"),
        "other types": (graph(nodes=NODES.astype("int32")), {}, pm.ShapeError, "Row int64 X int32"),
        "numbers": (graph(ROW * 1.0), {}, pm.ShapeError, "Row float"),
    },
)


@pytest.mark.parametrize("size", [1, 3])
def test_edges_are_different_and_equally_likely(size):
    """Ten edges to each of 4000 nodes; ids are the positions."""
    given = graph(np.tile(np.arange(10), 4000), np.arange(4001) * 10, np.arange(4000), Eids=np.arange(40_000))
    found = run_op("graph_sample_neighbors", given, {"sample_size": size, "return_eids": True}, ["Out", "Out_Count", "Out_Eids"])
    np.testing.assert_array_equal(found["Out_Count"], np.full(4000, size))
    np.testing.assert_array_equal(found["Out"], found["Out_Eids"] % 10)
    np.testing.assert_array_equal(found["Out_Eids"] // 10, np.repeat(np.arange(4000), size))
    drawn = np.sort(found["Out"].reshape(4000, size), axis=1)
    assert (drawn[:, 1:] != drawn[:, :-1]).all()
    deviation = np.sqrt(size / 10 * (1 - size / 10) / 4000)
    np.testing.assert_allclose(np.bincount(drawn.ravel(), minlength=10) / 4000, size / 10, atol=5 * deviation)
