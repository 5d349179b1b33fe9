"""sum: Out = X[0] + X[1] + ..., of tensors and selected rows."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def merged(rows):
    """All rows sorted, each once."""
    dense = sum(one.dense() for one in rows)
    touched = sorted({int(row) for one in rows for row in one.rows})
    return Rows(touched, dense[touched], rows[0].height)


def reference(inputs, attrs):
    xs = inputs["X"]
    if all(isinstance(x, Rows) for x in xs):
        return {"Out": merged(xs)}
    some = [x for x in xs if isinstance(x, Rows) or x.size] or xs[:1]  # those without elements add nothing
    return {"Out": sum(x.dense() if isinstance(x, Rows) else x for x in some)}


test_sum = op_tests(
    "sum",
    reference,
    cases={
        "one": ({"X": [array(3, 4)]}, {}),
        "two": ({"X": [array(3, 4, seed=i) for i in range(2)]}, {}),
        "three": ({"X": [array(53, 41, seed=i) for i in range(3)]}, {}),
        "seven": ({"X": [array(53, 41, seed=i) for i in range(7)]}, {}),
        "one element": ({"X": [array(seed=i) for i in range(3)]}, {}),
        "no rows": ({"X": [array(0, 4), array(0, 4)]}, {}),
    },
    gradients=["X"],
    refusals={
        "other shape": ({"X": [array(3), array(4)]}, {}, pm.ShapeError, "X[1] [4] [3]"),
        "other dtype": ({"X": [array(3), array(3).astype("float32")]}, {}, pm.ShapeError, "X[1] float32"),
        "other table": ({"X": [array(5, 2), Rows([1], array(1, 2), 6)]}, {}, pm.ShapeError, "X[1] [6, 2]"),
        "nothing": ({"X": []}, {}, pm.ProgramError, "X missing"),
    },
)

test_kinds = op_tests(
    "sum",
    reference,
    cases={
        "nothing beside a matrix": ({"X": [array(0, 0), array(3, 40)]}, {}),
        "nothing behind and between": ({"X": [array(3, 4), array(0, 0), array(3, 4, seed=1), array(0, 4)]}, {}),
        "nothing of two shapes": ({"X": [array(0, 2), array(0, 0)]}, {}),
        "int32": ({"X": [ints(3, 4, dtype="int32"), ints(3, 4, dtype="int32", seed=1)]}, {}),
        "int64": ({"X": [ints(3, 4), ints(3, 4, seed=1), ints(3, 4, seed=2)]}, {}),
        "one list of rows": ({"X": [Rows([4, 1, 4], array(3, 5), 6)]}, {}),
        "two lists of rows": ({"X": [Rows([4, 1, 4], array(3, 5), 6), Rows([5, 1], array(2, 5), 6)]}, {}),
        "more rows than the table": ({"X": [Rows([1, 0, 1], array(3, 5), 2), Rows([1, 1], array(2, 5), 2)]}, {}),
        "tensor and rows": ({"X": [array(6, 5), Rows([4, 1, 4], array(3, 5), 6)]}, {}),
        "rows and tensors": (
            {"X": [Rows([4, 1], array(2, 5), 6), array(6, 5), Rows([], array(0, 5), 6), array(6, 5, seed=1)]},
            {},
        ),
        "no rows": ({"X": [Rows([], array(0, 5), 6), Rows([], array(0, 5), 6)]}, {}),
    },
)


def test_out_is_an_input():
    """A regularizer adds to a gradient under the gradient's own name; any input may be it, also more than once."""
    for places in ([0], [1], [2], [3], [0, 1, 2, 3]):
        program, scope = pm.Program(), pm.Scope()
        block = program.global_block()
        names = ["g" if i in places else f"x{i}" for i in range(4)]
        values = {name: array(41, 53, seed=i) for i, name in enumerate(names)}
        for name, value in values.items():
            block.create_var(name, dtype="float64", shape=value.shape, persistable=True)
            scope.set(name, value)
        block.append_op("sum", {"X": names}, {"Out": "g"}, {})
        (found,) = pm.Executor(pm.CPUPlace()).run(program, fetch_list=["g"], scope=scope)
        np.testing.assert_allclose(found, sum(values[name] for name in names), rtol=1e-12, atol=1e-12)


def test_rows_are_added_in_order():
    """The same result every time, regardless of other operators."""
    first, second = Rows([1, 1], np.array([[1e16], [1.0]]), 3), Rows([1], np.array([[-1e16]]), 3)
    assert run_op("sum", {"X": [first, second]})["Out"].values[0, 0] == (1e16 + 1.0) - 1e16


def test_a_tensor_without_elements_may_have_any_shape():
    found = run_op("sum", {"X": [array(3, 4), array(0), array(3, 4, seed=1)]})["Out"]
    np.testing.assert_array_equal(found, array(3, 4) + array(3, 4, seed=1))
