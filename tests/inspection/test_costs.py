"""Costs of operators, against numbers computed by hand."""

import pytest

import paddle_mini as pm
from paddle_mini import _core
from paddle_mini.inspection import costs
from paddle_mini.inspection.costs import Call, Value, flops, moved_bytes

FLOAT = "float32"


def call(op_type, inputs, outputs, **attrs):
    def ports(shapes):
        return {port: [None if shape is None else Value(FLOAT, shape)] for port, shape in shapes.items()}

    return Call(op_type, attrs, ports(inputs), ports(outputs))


@pytest.mark.parametrize(
    "found, expected",
    [
        (call("mul", {"X": (8, 64), "Y": (64, 32)}, {"Out": (8, 32)}), 2 * 8 * 64 * 32),
        # x_num_col_dims = 2: [2, 3, 4] is a matrix of 6 rows
        (call("mul", {"X": (2, 3, 4), "Y": (4, 5)}, {"Out": (2, 3, 5)}, x_num_col_dims=2), 2 * 6 * 4 * 5),
        (
            call("mul_grad", {"X": (8, 64), "Y": (64, 32), "Out@GRAD": (8, 32)}, {"X@GRAD": (8, 64), "Y@GRAD": (64, 32)}),
            2 * (2 * 8 * 64 * 32),
        ),
        # Without the gradient for the data: one product.
        (
            call("mul_grad", {"X": (8, 64), "Y": (64, 32), "Out@GRAD": (8, 32)}, {"X@GRAD": None, "Y@GRAD": (64, 32)}),
            2 * 8 * 64 * 32,
        ),
        (call("matmul_v2", {"X": (5, 8, 4), "Y": (5, 8, 3)}, {"Out": (5, 4, 3)}, trans_x=True), 2 * 5 * 4 * 8 * 3),
        (
            call("attention", {"Q": (5, 8, 4), "K": (5, 7, 4), "V": (5, 7, 3)}, {"Out": (5, 8, 3)}),
            2 * 5 * 8 * 7 * 4 + 2 * 5 * 8 * 7 * 3,
        ),
        # 2 of 6 heads.
        (
            call("attention", {"Q": (5, 8, 6, 4), "K": (5, 7, 6, 4), "V": (5, 7, 2, 3)}, {"Out": (5, 8, 2, 3)}, heads=2),
            2 * (2 * 5 * 8 * 7 * 4 + 2 * 5 * 8 * 7 * 3),
        ),
        # A 3x3 filter on 4 of 8 input channels (2 groups) for each of 2 * 16 * 10 * 10 outputs.
        (
            call("conv2d", {"Input": (2, 8, 12, 12), "Filter": (16, 4, 3, 3)}, {"Output": (2, 16, 10, 10)}, groups=2),
            2 * (2 * 16 * 10 * 10) * (4 * 3 * 3),
        ),
        # Each of 2 * 8 * 5 * 5 inputs is added to 4 * 3 * 3 outputs.
        (
            call("conv2d_transpose", {"Input": (2, 8, 5, 5), "Filter": (8, 4, 3, 3)}, {"Output": (2, 4, 7, 7)}),
            2 * (2 * 8 * 5 * 5) * (4 * 3 * 3),
        ),
        (call("lstm", {"Input": (7, 4 * 6), "Weight": (6, 4 * 6)}, {"Hidden": (7, 6)}), 2 * 7 * 6 * 24),
        (call("relu", {"X": (3, 4)}, {"Out": (3, 4)}), 12),
        (call("reduce_sum", {"X": (3, 4)}, {"Out": ()}), 12),
        (call("pool2d", {"X": (1, 2, 8, 8)}, {"Out": (1, 2, 4, 4)}, ksize=[2, 2]), 32 * 4),
        (call("reshape2", {"X": (3, 4)}, {"Out": (12,)}), 0),
        (call("sgd", {"Param": (3, 4), "Grad": (3, 4)}, {"ParamOut": (3, 4)}), 24),
        (call("relu", {"X": (-1, 4)}, {"Out": (-1, 4)}), None),
        (call("warpctc", {"Logits": (3, 4)}, {"Loss": (1,)}), None),
    ],
)
def test_operations_of_an_operator(found, expected):
    assert flops(found) == expected


def test_bytes_of_an_operator():
    assert moved_bytes(call("relu", {"X": (3, 4)}, {"Out": (3, 4)})) == 2 * 4 * 12
    assert moved_bytes(call("relu", {"X": (-1, 4)}, {"Out": (-1, 4)})) is None
    # A lookup reads the rows that it returns, not the table.
    ids = {"W": [Value(FLOAT, (1000, 8))], "Ids": [Value("int64", (5,))]}
    assert moved_bytes(Call("lookup_table_v2", {}, ids, {"Out": [Value(FLOAT, (5, 8))]})) == 2 * 4 * 40 + 8 * 5


def test_a_sparse_update_costs_its_rows():
    table = Value(FLOAT, (1000, 8))
    gradient = Value.of_info({"kind": 8, "dtype": FLOAT, "shape": [1000, 8], "row_count": 5})
    update = Call("sgd", {}, {"Param": [table], "Grad": [gradient]}, {"ParamOut": [table]})
    assert flops(update) == 2 * 5 * 8
    assert moved_bytes(update) == 3 * 4 * 5 * 8


def test_every_operator_with_a_cost_exists():
    known = {*costs._COSTS, *costs._PRODUCTS, *costs._TABLES}
    forward = {name.removesuffix("_grad") for name in known}
    assert forward <= set(_core.op_types())


def test_a_layers_cost_is_that_of_its_operators():
    x = pm.layers.data("x", shape=[-1, 64])
    pm.layers.fc(x, 32, act="relu")
    (row,) = pm.summary(batch=8).rows
    assert row.flops == 2 * 8 * 64 * 32 + 2 * 8 * 32
