"""merge_selected_rows: the rows of X sorted, those that occur several times summed."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    touched = sorted(set(x.rows))
    return {"Out": Rows(touched, x.dense()[touched], x.height)}


test_merge_selected_rows = op_tests(
    "merge_selected_rows",
    reference,
    cases={
        "rows that repeat": ({"X": Rows([4, 1, 4, 0, 1, 4], array(6, 37), 6)}, {}),
        "sorted already": ({"X": Rows([0, 3], array(2, 5), 6)}, {}),
        "a large table": ({"X": Rows([70_000, 3, 70_000, 2_100], array(4, 2), 100_000)}, {}),
        "rows of one element": ({"X": Rows([1, 0, 1], array(3), 2)}, {}),
        "one element": ({"X": Rows([0], array(1, 1), 1)}, {}),
        "no rows": ({"X": Rows([], array(0, 5), 6)}, {}),
    },
    refusals={"tensor": ({"X": array(3, 4)}, {}, pm.ShapeError, "X tensor selected rows")},
)


def test_the_example_of_paddlepaddles_documentation():
    """By layers, with rows that are in the scope when the program runs."""
    main, scope = pm.Program(), pm.Scope()
    with pm.program_guard(main):
        x = main.global_block().create_var("X2", dtype="float32", shape=[20, 2], kind=8, persistable=True)
        merged = pm.layers.merge_selected_rows(x)
        values = pm.layers.get_tensor_from_selected_rows(merged)
    scope.set_rows("X2", [0, 2, 2, 4, 19], np.ones((5, 2), "float32"), 20)
    rows, found = pm.Executor().run(main, fetch_list=[merged, values], scope=scope, return_numpy=False)
    assert (list(rows.rows), rows.height) == ([0, 2, 4, 19], 20)
    for numbers in (rows.values, found):
        np.testing.assert_array_equal(numbers, np.array([[1, 1], [2, 2], [1, 1], [1, 1]], "float32"))


def test_a_table_that_is_looked_up_twice():
    """Its gradient has the rows of both; merged and fetched, each different row occurs once."""
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        ids = pm.layers.data("ids", [4], dtype="int64")
        table = pm.layers.create_parameter([10, 3], "float32", attr=pm.ParamAttr("table", pm.initializer.Constant(1.0)))
        block = main.global_block()
        for name, at in (("a", ids), ("b", pm.layers.scale(ids, bias=1.0))):
            block.append_op("lookup_table_v2", {"W": table, "Ids": at}, {"Out": name}, {"is_sparse": True})
        loss = pm.layers.reduce_sum(block.var("a") + 2.0 * block.var("b"))
        ((_, gradient),) = pm.append_backward(loss)
        values = pm.layers.get_tensor_from_selected_rows(pm.layers.merge_selected_rows(gradient))
    exe, scope = pm.Executor(), pm.Scope()
    exe.run(startup, scope=scope)
    for fed, wanted in ([1, 2, 2, 5], [1, 4, 4, 1, 2]), ([7, 7, 7, 7], [4, 8]), ([0, 2, 4, 6], [1, 2] * 4):
        (merged,) = exe.run(main, {"ids": np.array(fed)}, [values], scope)
        np.testing.assert_array_equal(merged, np.repeat(np.array(wanted, "float32"), 3).reshape(-1, 3))
