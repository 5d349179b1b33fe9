"""hierarchical_sigmoid: the loss of a class as the path to it in a binary tree, one sigmoid for each node on it."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from paddle_mini.testing.one_op import OneOp


def path_to(inputs, attrs, row):
    """Nodes and bits on the path to a row's class."""
    if "PathTable" in inputs:
        nodes = list(inputs["PathTable"][row])
        end = next((i for i, node in enumerate(nodes) if node < 0), len(nodes))
        return list(zip(nodes[:end], inputs["PathCode"][row][:end] != 0))
    leaf = int(inputs["Label"].ravel()[row]) + attrs["num_classes"]
    return [((leaf >> (j + 1)) - 1, leaf >> j & 1) for j in range(leaf.bit_length() - 1)]


def reference(inputs, attrs):
    x, w = inputs["X"], inputs["W"]
    bias = inputs["Bias"].ravel() if "Bias" in inputs else np.zeros(len(w))
    length = inputs["PathTable"].shape[1] if "PathTable" in inputs else (attrs["num_classes"] - 1).bit_length()
    z, taken = np.zeros((len(x), length)), np.zeros((len(x), 1))
    for row in range(len(x)):
        for j, (node, bit) in enumerate(path_to(inputs, attrs, row)):
            z[row, j] = np.clip(x[row] @ w[node] + bias[node], -40, 40)
            taken[row] += bit * z[row, j]
    pre_out = np.log(1 + np.exp(z))
    return {"Out": pre_out.sum(1, keepdims=True) - taken, "PreOut": pre_out, "W_Out": w}


def tree(rows, classes, width=3, bias=True, **more):
    inputs = {
        "X": array(rows, width),
        "W": array(classes - 1, width, seed=1),
        "Label": ints(rows, 1, high=classes, seed=2),
        **more,
    }
    return ({**inputs, "Bias": array(classes - 1, 1, seed=3)} if bias else inputs), {"num_classes": classes}


PATHS = {
    "PathTable": np.array([[0, 2, -1, -1], [0, 1, 3, 4], [4, -1, 2, 3], [-1, -1, -1, -1]]),
    "PathCode": np.array([[0, 1, -1, -1], [1, 1, 0, 1], [1, 0, 1, 1], [0, 0, 0, 0]]),
}
CUSTOM = {**tree(4, 6)[0], **PATHS}
LARGE = {"X": np.array([[100.0], [-100.0]]), "W": np.ones((1, 1)), "Label": np.array([[0], [1]])}

# The gradients are compared with numeric ones of Out only: PreOut has none. W_Out is W.
test_hierarchical_sigmoid = op_tests(
    "hierarchical_sigmoid",
    reference,
    cases={
        "two classes": tree(5, 2),
        "paths of different lengths": tree(7, 6),
        "a whole tree": tree(9, 8),
        "many classes": tree(6, 37, width=5),
        "no bias": tree(5, 6, bias=False),
        "labels of int32": tree(4, 5, Label=ints(4, high=5, dtype="int32")),
        "paths": (CUSTOM, {"num_classes": 6}),
        "paths of no nodes": (
            {**tree(2, 3)[0], "PathTable": np.zeros((2, 0), "int64"), "PathCode": np.zeros((2, 0), "int64")},
            {"num_classes": 3},
        ),
        "one element": tree(1, 2, width=1),
        "no rows": tree(0, 4),
        "no width": tree(3, 4, width=0),
    },
    gradients=["X", "W", "Bias"],
    gradient_of=["Out"],
    refusals={
        "one class": ({**tree(2, 3)[0]}, {"num_classes": 1}, pm.ProgramError, "num_classes 1"),
        "too few nodes": (tree(2, 3)[0], {"num_classes": 4}, pm.ShapeError, "W [2, 3] 4 classes"),
        "label too large": (tree(2, 3, Label=np.array([[0], [3]]))[0], {"num_classes": 3}, pm.OpError, "label 3 row 1"),
        "negative label": (tree(2, 3, Label=np.array([[-1], [0]]))[0], {"num_classes": 3}, pm.OpError, "label -1"),
        "labels of other rows": (
            tree(2, 3, Label=ints(3, 1, high=3))[0],
            {"num_classes": 3},
            pm.ShapeError,
            "Label [3, 1] 2 rows",
        ),
        "label of floats": (tree(2, 3, Label=array(2, 1))[0], {"num_classes": 3}, pm.Error, "Label"),
        "other widths": ({**tree(2, 3)[0], "W": array(2, 4)}, {"num_classes": 3}, pm.ShapeError, "X W [2, 4]"),
        "other bias": ({**tree(2, 3)[0], "Bias": array(3, 1)}, {"num_classes": 3}, pm.ShapeError, "Bias [3, 1]"),
        "node too large": ({**CUSTOM, "PathTable": PATHS["PathTable"] + 3}, {"num_classes": 6}, pm.OpError, "PathTable W 5 rows"),
        "a path without codes": (
            {key: value for key, value in CUSTOM.items() if key != "PathCode"},
            {"num_classes": 6},
            pm.ProgramError,
            "PathTable PathCode",
        ),
        "sparse": (tree(2, 3)[0], {"num_classes": 3, "is_sparse": True}, pm.ProgramError, "is_sparse dense"),
        "one axis": ({**tree(2, 3)[0], "X": array(3)}, {"num_classes": 3}, pm.ShapeError, "X 2 dimensions"),
    },
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_inputs_are_cut(dtype):
    found = run_op("hierarchical_sigmoid", {**LARGE, "X": LARGE["X"].astype(dtype), "W": LARGE["W"].astype(dtype)})
    np.testing.assert_allclose(found["Out"], [[40], [40]], rtol=1e-6)


def test_w_out_may_be_the_variable_of_w():
    """Named as by PaddlePaddle's layer; the gradient of W is the same as without W_Out."""
    inputs, attrs = tree(5, 6)
    found = []
    for outputs in (["Out", "PreOut"], ["Out", "PreOut", "W_Out"]):
        one = OneOp("hierarchical_sigmoid", inputs, attrs, outputs, aliased="W_Out" in outputs)
        if "W_Out" in outputs:
            assert one.outputs["W_Out"] == one.arguments["W"]
        block = one.block
        (gradient,) = pm.gradients([block.var(one.outputs["Out"][0])], [block.var(one.arguments["W"][0])])
        found.append(one.fetch([gradient.name])[0])
    assert np.abs(found[0]).max() > 0
    np.testing.assert_array_equal(*found)
