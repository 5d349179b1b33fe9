"""sum: Out = X[0] + X[1] + ..., of tensors and selected rows."""

import numpy as np
import pytest

import paddle_mini as pm
from families.programs import run
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


def array_of(values):
    """A tensor array with the values at these indices."""
    array = None
    for i, value in values.items():
        array = pm.layers.array_write(value, pm.layers.fill_constant([1], "int64", i), array)
    return array


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_arrays_are_added_element_by_element(dtype):
    def build(x):
        arrays = [array_of({0: x, 2: x}), array_of({2: x * x, 3: x}), array_of({0: x})]
        total = pm.layers.sums(arrays)
        assert (total.kind, total.dtype) == (arrays[0].kind, dtype)
        pm.layers.assign(x * x * x, x)  # changes no element
        return total

    x = np.array([2, 3], dtype)
    found = run(build, x=x)
    assert found[1] is None and [value.dtype for value in (found[0], found[2], found[3])] == [dtype] * 3
    np.testing.assert_array_equal([found[0], found[2], found[3]], [2 * x, x + x * x, x])


def test_arrays_are_not_changed_by_their_sum():
    def build(x):
        arrays = [array_of({0: x}), array_of({0: x})]
        total = pm.layers.sums(arrays)
        return pm.layers.concat([pm.layers.array_read(a, pm.layers.fill_constant([1], "int64", 0)) for a in (total, *arrays)])

    np.testing.assert_array_equal(run(build, x=np.ones(2, "float32")), [2, 2, 1, 1, 1, 1])


def test_only_arrays_of_one_type_are_added_to_arrays():
    def other_kind(x):
        return pm.layers.sums([array_of({0: x}), x])

    def other_type(x):
        return pm.layers.sums([array_of({0: x}), array_of({0: pm.layers.cast(x, "float64")})])

    for build, words in {other_kind: "tensor of float32", other_type: "tensor array of float64"}.items():
        with pytest.raises(pm.ShapeError, match=rf"sum: X\[1\] is {words}, X\[0\] is tensor array of float32"):
            run(build, x=np.ones(2, "float32"))


def test_elements_of_other_shapes_are_refused():
    with pytest.raises(pm.ShapeError, match=r"sum: values of \[2\] float32 and \[4\] float32 can't be added(?s:.)*in op #"):
        run(lambda x: pm.layers.sums([array_of({0: x}), array_of({0: pm.layers.concat([x, x])})]), x=np.ones(2, "float32"))


def test_an_array_that_is_read_twice_has_the_sum_of_the_gradients():
    x = pm.layers.data("x", [2])
    x.stop_gradient = False
    array = array_of({0: x, 1: x * x})
    joined = [pm.layers.tensor_array_to_tensor(array)[0] for _ in range(2)]
    (gradient,) = pm.gradients(pm.layers.reduce_sum(joined[0] + 3.0 * joined[1]), x)
    (value,) = pm.Executor().run(feed={"x": np.array([2, 3], "float32")}, fetch_list=[gradient])
    np.testing.assert_allclose(value, [4 * (1 + 4), 4 * (1 + 6)])
