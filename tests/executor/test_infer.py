"""infer: shapes from feeds and scope; an error names a wrong or missing value before anything runs."""

import numpy as np
import pytest

import paddle_mini as pm
from descriptions import FLOAT, INTS, op, program, var
from paddle_mini import _core

LONGS = 11
VARS = [var("x", [-1, 4], need_check_feed=True), var("w", [4, 3], persistable=True), var("h", [-1, 3]), var("y", [-1, 3])]
OPS = [op("mul", {"X": ["x"], "Y": ["w"]}, {"Out": ["h"]}), op("relu", {"X": ["h"]}, {"Out": ["y"]})]


@pytest.fixture
def linear():
    scope = _core.Scope()
    scope.set("w", np.ones((4, 3), "float32"))
    handle, executor = program(VARS, OPS), _core.Executor("cpu")
    return lambda feed=None, fetch=("y",), scope=scope: executor.run(
        _core.Signature(handle, tuple(feed or {}), fetch), scope, tuple((feed or {}).values())
    )


def ones(*shape, dtype="float32"):
    return np.ones(shape, dtype)


def test_each_feed_shape_has_its_plan(linear):
    for rows in (5, 2, 0, 5):
        assert linear({"x": ones(rows, 4)})[0].shape == (rows, 3)


REFUSED = {
    "no feed": (None, ("y",), pm.OpError, "feed 'x' is missing: data [-1, 4] float32"),
    "rank": ({"x": ones(4)}, ("y",), pm.ShapeError, "feed 'x' has shape [4], the program declares [-1, 4]"),
    "width": ({"x": ones(2, 5)}, ("y",), pm.ShapeError, "[2, 5]"),
    "dtype": ({"x": ones(2, 4, dtype="float64")}, ("y",), pm.ShapeError, "float64, the program declares float32"),
    "unknown feed": ({"x": ones(2, 4), "z": ones(1)}, ("y",), pm.ProgramError, "feed 'z': the program has no such variable"),
    "unknown fetch": ({"x": ones(2, 4)}, ("z",), pm.ProgramError, "fetch 'z'"),
    "object array": ({"x": np.array([[None]])}, ("y",), pm.ShapeError, "object"),
    "other byte order": ({"x": np.ones((2, 4), ">f4")}, ("y",), pm.ShapeError, ">f4"),
}


@pytest.mark.parametrize("feed, fetch, error, words", REFUSED.values(), ids=REFUSED)
def test_refuses(linear, feed, fetch, error, words):
    with pytest.raises(error) as caught:
        linear(feed, fetch)
    assert words in str(caught.value) and len(str(caught.value).splitlines()) <= 12
    assert linear({"x": ones(1, 4)})[0].tolist() == [[4, 4, 4]]  # the next call is right


def test_arrays_of_any_layout(linear):
    whole = np.arange(48, dtype="float32").reshape(6, 8)
    for part in (whole[::2, ::2], whole[::-1, :4], np.asfortranarray(whole[:, 4:]), np.broadcast_to(whole[0, :4], (3, 4))):
        assert (linear({"x": part})[0] == part.sum(1, keepdims=True)).all()
    shifted = np.frombuffer(b"\0" + whole[:, :4].tobytes(), "uint8")[1:].view("float32").reshape(6, 4)  # not aligned
    assert (linear({"x": shifted})[0] == whole[:, :4].sum(1, keepdims=True)).all()


def test_parameter_without_value_or_with_another_shape(linear):
    with pytest.raises(pm.OpError, match="'w' has no value in the scope: run the startup program"):
        linear({"x": ones(2, 4)}, scope=_core.Scope())
    other = _core.Scope()
    other.set("w", ones(4, 2))
    with pytest.raises(pm.ShapeError, match=r"'w' has shape \[4, 2\], the program declares \[4, 3\]"):
        linear({"x": ones(2, 4)}, scope=other)


def test_an_operator_names_its_inputs():
    vars = [var("x", [2, 3], need_check_feed=True), var("z", [-1, -1], need_check_feed=True), var("y", [-1])]
    handle = program(vars, [op("elementwise_add", {"X": ["x"], "Y": ["z"]}, {"Out": ["y"]})])
    with pytest.raises(pm.ShapeError) as error:
        _core.Executor("cpu").run(_core.Signature(handle, ("x", "z"), ()), _core.Scope(), (ones(2, 3), ones(2, 4)))
    assert "X 'x' [2, 3] float32, Y 'z' [2, 4] float32" in str(error.value)
    assert "in op #0 elementwise_add -> 'y', block 0" in str(error.value)


def test_a_name_written_again_with_another_shape_is_another_value():
    vars = [var("x", [2, 3], need_check_feed=True), var("t", [-1]), var("y", [-1])]
    ops = [
        op("relu", {"X": ["x"]}, {"Out": ["t"]}),
        op("reduce_sum", {"X": ["t"]}, {"Out": ["t"]}, ("dim", 3, [1])),
        op("relu", {"X": ["t"]}, {"Out": ["y"]}),
    ]
    x = np.arange(6, dtype="float32").reshape(2, 3)
    (value,) = _core.Executor("cpu").run(_core.Signature(program(vars, ops), ("x",), ("y",)), _core.Scope(), (x,))
    assert value.tolist() == [3, 12]


def test_a_fed_array_is_never_written():
    vars = [var("x", [3], need_check_feed=True)]
    handle = program(vars, [op("scale", {"X": ["x"]}, {"Out": ["x"]}, ("scale", 1, 2.0))])
    x = np.ones(3, "float32")
    x.flags.writeable = False
    (value,) = _core.Executor("cpu").run(_core.Signature(handle, ("x",), ("x",)), _core.Scope(), (x,))
    assert value.tolist() == [2, 2, 2] and x.tolist() == [1, 1, 1]


def test_a_persistable_keeps_its_shape_within_a_run():
    """Two kernels would use one buffer with two shapes."""
    vars = [var("a", [3], persistable=True), var("b", [40], persistable=True), var("y", [3])]
    ops = [op("relu", {"X": ["a"]}, {"Out": ["y"]}), op("relu", {"X": ["b"]}, {"Out": ["a"]})]
    scope = _core.Scope()
    scope.set("a", ones(3))
    scope.set("b", ones(40))
    with pytest.raises(pm.ShapeError, match=r"'a' would be \[40\] float32, but it is \[3\] float32 in this run"):
        _core.Executor("cpu").run(_core.Signature(program(vars, ops), (), ("y",)), scope, ())
    assert scope.get("a").shape == (3,)
    # A program that only writes it may give it another shape than that in the scope.
    _core.Executor("cpu").run(_core.Signature(program(vars[:2], ops[1:]), (), ()), scope, ())
    assert scope.get("a").shape == (40,)


def test_a_persistable_may_have_another_shape_in_between():
    """As PaddlePaddle's initializer Dirac writes it: flat, one element set, and in its own shape again."""
    ops = [
        op("fill_constant", {}, {"Out": ["w"]}, ("shape", LONGS, [2, 3]), ("value", FLOAT, 1.0)),
        op("reshape2", {"X": ["w"]}, {"Out": ["w"]}, ("shape", INTS, [6])),
        op("scale", {"X": ["w"]}, {"Out": ["w"]}, ("scale", FLOAT, 3.0)),
        op("reshape2", {"X": ["w"]}, {"Out": ["w"]}, ("shape", INTS, [2, 3])),
        op("scale", {"X": ["w"]}, {"Out": ["w"]}, ("bias", FLOAT, 1.0)),
    ]
    scope, executor = _core.Scope(), _core.Executor("cpu")
    for _ in range(2):
        executor.run(_core.Signature(program([var("w", [2, 3], persistable=True)], ops), (), ()), scope, ())
        np.testing.assert_array_equal(scope.get("w"), np.full((2, 3), 4, "float32"))
    with pytest.raises(pm.ShapeError, match=r"'w' would be \[6\] float32, but it is \[2, 3\] float32 in this run"):
        executor.run(_core.Signature(program([var("w", [2, 3], persistable=True)], ops[:3]), (), ()), scope, ())


def test_a_persistable_has_the_last_shape_that_a_program_writes():
    """As PaddlePaddle's WeightNormParamAttr writes a length: without dimensions, and in the declared shape."""
    ops = [
        op("fill_constant", {}, {"Out": ["g"]}, ("shape", LONGS, []), ("value", FLOAT, 3.0)),
        op("reshape2", {"X": ["g"]}, {"Out": ["g"]}, ("shape", INTS, [1, 1])),
    ]
    scope, executor = _core.Scope(), _core.Executor("cpu")
    for _ in range(2):
        executor.run(_core.Signature(program([var("g", [1, 1], persistable=True)], ops), (), ()), scope, ())
        np.testing.assert_array_equal(scope.get("g"), [[3]])


def test_one_element_of_the_scope_is_updated_in_its_shape():
    """As PaddlePaddle's ctr_metric_bundle adds [1, 1] to a sum that began as [1]."""
    vars = [var("sum", [1, 1], persistable=True), var("x", [1, 1], need_check_feed=True)]
    ops = [op("elementwise_add", {"X": ["x"], "Y": ["sum"]}, {"Out": ["sum"]})]
    scope, executor = _core.Scope(), _core.Executor("cpu")
    scope.set("sum", ones(1))
    for wanted in (3, 5):
        signature = _core.Signature(program(vars, ops), ("x",), ("sum",))
        (found,) = executor.run(signature, scope, (np.full((1, 1), 2, "float32"),))
        assert found.tolist() == [[wanted]] and scope.get("sum").tolist() == [wanted]


def test_a_variable_without_elements_has_a_value_without_an_operator():
    """As PaddlePaddle's lstsq declares the singular values that its driver does not give."""
    executor = _core.Executor("cpu")
    (found,) = executor.run(_core.Signature(program([var("none", [0, 3])], []), (), ("none",)), _core.Scope(), ())
    assert found.shape == (0, 3) and found.dtype == np.float32
    with pytest.raises(pm.OpError, match="fetch 'some' has no value"):
        executor.run(_core.Signature(program([var("some", [1, 3])], []), (), ("some",)), _core.Scope(), ())


def test_more_rows_than_the_plan_was_made_for():
    vars = [var("r", [50, 2], kind=8, persistable=True), var("y", [50, 2], kind=8)]
    handle = program(vars, [op("scale", {"X": ["r"]}, {"Out": ["y"]}, ("scale", 1, 2.0))])
    executor, scope = _core.Executor("cpu"), _core.Scope()
    for count in (1, 40, 3):
        scope.set_rows("r", list(range(count)), ones(count, 2), 50)
        ((rows, values, height),) = executor.run(_core.Signature(handle, (), ("y",)), scope, ())
        assert rows.tolist() == list(range(count)) and (values == 2).all() and height == 50
