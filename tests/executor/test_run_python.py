# Executor.run from Python: feeds, fetches, scopes, and rejected arguments.
import numpy as np
import pytest

import paddle_mini as pm
from programs import start


@pytest.fixture
def double():
    """Data x and n, and the double of each."""
    x, n = pm.layers.data("x", [-1, 2]), pm.layers.data("n", [-1], dtype="int64")
    return x * 2.0, n * 2


def test_fetches_are_arrays_of_their_own(double):
    exe, x = pm.Executor(), np.ones((1, 2), "float32")
    feed = {"x": x, "n": np.array([1])}
    (first,) = exe.run(feed=feed, fetch_list=[double[0]])
    first[:] = 7
    second, fed = exe.run(feed=feed, fetch_list=["tmp_0", "x"])
    np.testing.assert_array_equal(second, [[2, 2]])
    fed[:] = 7
    np.testing.assert_array_equal(x, [[1, 1]])


def test_numbers_and_lists_become_the_variables_dtype(double):
    for n in ([1, 2], (1, 2), [np.int64(1), 2]):
        x, doubled = pm.Executor().run(feed={"x": [[1, 2.5]], "n": n}, fetch_list=["x", double[1]])
        assert (x.dtype, doubled.dtype) == (np.float32, np.int64)
        np.testing.assert_array_equal(doubled, [2, 4])


def test_arrays_need_not_be_contiguous_and_may_change_shape(double):
    exe = pm.Executor()
    for rows in (3, 5, 0, 1):
        whole = np.arange(rows * 4, dtype="float32").reshape(rows, 4)
        (value,) = exe.run(feed={"x": whole[:, ::2], "n": [1]}, fetch_list=[double[0]])
        np.testing.assert_array_equal(value, whole[:, ::2] * 2)


@pytest.mark.parametrize(
    "feed, error, words",
    [
        ({"x": np.ones((1, 2)), "n": [1]}, pm.ShapeError, ["'x' is an array of float64", "x.astype('float32')"]),
        ({"x": np.ones((1, 2), "float32"), "n": [1.5]}, pm.ShapeError, ["'n' is [1.5]", "int64"]),
        ({"x": [[1, 2], [3]], "n": [1]}, pm.ShapeError, ["'x'"]),
        ({"x": "text", "n": [1]}, pm.ShapeError, ["'x' is 'text'"]),
        ({"x": np.ones((1, 3), "float32"), "n": [1]}, pm.ShapeError, ["'x' has shape [1, 3]", "[-1, 2]"]),
        ({"y": [1], "n": [1]}, pm.ProgramError, ["'y' is not a variable", "its data are x, n"]),
        ({"N": [1]}, pm.ProgramError, ["'N' is not a variable"]),
        ({"n": [1]}, pm.Error, ["'x'"]),
        ([1], pm.ProgramError, ["feed is of type list"]),
    ],
)
def test_feeds_that_are_refused(double, feed, error, words):
    with pytest.raises(error) as caught:
        pm.Executor().run(feed=feed, fetch_list=list(double))
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    "fetch_list, words",
    [(["tmp_7"], "'tmp_7' is not a variable of the program; did you mean 'tmp_"), ([3], "neither a variable nor a name")],
)
def test_fetches_that_are_refused(double, fetch_list, words):
    with pytest.raises(pm.ProgramError) as caught:
        pm.Executor().run(feed={"x": [[1, 2]], "n": [1]}, fetch_list=fetch_list)
    assert words in str(caught.value)


def test_startup_that_was_not_run_is_told():
    out = pm.layers.fc(pm.layers.data("x", [-1, 2]), 3)
    with pytest.raises(pm.OpError, match="fc_0.w_0"):
        pm.Executor().run(feed={"x": [[1, 2]]}, fetch_list=[out])


def test_scopes_are_apart():
    counter = pm.layers.create_global_var([1], 0.0, name="counter")
    pm.layers.increment(counter)
    exe, scopes = pm.Executor(), [pm.Scope(), pm.Scope()]
    for scope in scopes:
        exe.run(pm.default_startup_program(), scope=scope)
    for scope, times in zip(scopes, (3, 1)):
        for _ in range(times):
            exe.run(scope=scope)
    assert [scope.get("counter").item() for scope in scopes] == [3, 1]
    assert "counter" not in pm.global_scope()


def test_a_value_set_in_the_scope_is_used():
    out = pm.layers.create_global_var([2], 0.0, name="v") * 2.0
    exe = start()
    pm.global_scope().set("v", np.array([1, 2], "float32"))
    np.testing.assert_array_equal(exe.run(fetch_list=[out])[0], [2, 4])


def test_a_fetched_sparse_gradient_is_selected_rows():
    table = pm.layers.embedding(pm.layers.data("ids", [-1], dtype="int64"), [4, 2], is_sparse=True)
    ((_, gradient),) = pm.append_backward(pm.layers.reduce_sum(table))
    (rows,) = start().run(feed={"ids": [2, 0, 2]}, fetch_list=[gradient])
    assert isinstance(rows, pm.SelectedRows) and rows.height == 4
    np.testing.assert_array_equal(rows.rows, [2, 0, 2])
    np.testing.assert_array_equal(rows.to_dense(), [[1, 1], [0, 0], [2, 2], [0, 0]])


def test_places():
    assert repr(pm.CUDAPlace(1)) == "CUDAPlace(1)" and pm.CPUPlace() == pm.CPUPlace()
    with pytest.raises(pm.DeviceError, match="gpu:0"):
        pm.Executor(pm.CUDAPlace(0))
    with pytest.raises(pm.ProgramError, match="give CPUPlace"):
        pm.Executor("cpu")


def test_the_plan_can_be_read(double):
    text = pm.Executor().plan_text(feed={"x": [[1, 2]], "n": [1]}, fetch_list=[double[0]])
    assert "scale" in text


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"scope": {}}, "scope is of type dict, it must be a Scope"),
        ({"fetch_list": ["nothing"]}, "fetch 'nothing'"),
        ({"feed": {"x": [[1, 2, 3]], "n": [1]}}, "'x' has shape"),
        ({"feed": {"x": np.ones((1, 2)), "n": [1]}}, "astype"),
    ],
)
def test_errors_end_at_run(double, arguments, words):
    with pytest.raises(pm.Error, match=words) as caught:
        pm.Executor().run(**{"feed": {"x": [[1, 2]], "n": [1]}, "fetch_list": [double[0]], **arguments})
    if "scope" not in arguments:
        assert caught.traceback[-1].name == "run" and len(caught.traceback) == 2
        assert caught.value.__suppress_context__
    with pytest.raises(pm.ProgramError, match="scope is of type dict"), pm.scope_guard({}):
        pass


def test_scopes_take_variables_and_names():
    x = pm.layers.data("x", [-1, 2])
    scope = pm.Scope()
    scope.set(x, np.float32([[1, 2]]))
    assert x in scope and scope.names() == ["x"]
    assert scope.get(x).tolist() == scope.get("x", copy=False).tolist() == [[1, 2]]
    for use in (scope.get, scope.info, scope.lod, scope.place, scope.erase, scope.get_rows, scope.__contains__):
        with pytest.raises(pm.ProgramError, match="the name is of type int, it must be a variable or its name"):
            use(3)
    scope.erase(x)
    assert scope.names() == []


def test_a_variable_is_no_key_of_a_feed():
    x = pm.layers.data("x", [-1, 2])
    with pytest.raises(pm.ProgramError, match="use .name, which is 'x'"):
        pm.Executor().run(feed={x: [[1, 2]]}, fetch_list=[x])


@pytest.mark.parametrize("number", ["a", 1.5, -1, 2**64, None])
def test_what_is_no_seed(number):
    with pytest.raises(pm.ProgramError, match="is not an integer in"):
        pm.seed(number)


def test_a_feed_that_an_operator_would_overwrite_is_refused():
    x = pm.layers.data("x", [2])
    half = x * 0.5
    out = half + 1.0
    main, exe = pm.default_main_program(), pm.Executor()
    feed = {"x": np.ones(2, "float32"), half.name: np.full(2, 7, "float32")}
    with pytest.raises(pm.ProgramError, match="feed 'tmp_0' would be overwritten by scale, which computes it; Program.prune"):
        exe.run(main, feed, [out])
    assert exe.run(main.prune([half], [out]), {half.name: feed[half.name]}, [out])[0].tolist() == [8, 8]


@pytest.mark.parametrize(
    "dtype, value, words",
    [
        ("int64", [1.5, 2.7], "the program wants int64"),
        ("int8", [1, 200], "beyond int8"),
        ("float16", [1e9, 0.0], "beyond float16"),
        ("float32", ["1", "2"], "the program wants float32"),
        ("bool", [2, 0], "the program wants bool"),
    ],
)
def test_numbers_that_a_variable_of_a_scope_can_not_hold(dtype, value, words):
    scope = pm.Scope()
    scope.set("w", np.ones(2, dtype))
    with pytest.raises(pm.ShapeError, match=f"'w' is set to .*{words}"):
        scope.set("w", value)
    assert scope.get("w").tolist() == [1, 1]
    scope.set("w", [True, False] if dtype == "bool" else [1, 0])
    assert scope.get("w").dtype == dtype and scope.get("w").tolist() == [1, 0]


def in_a_branch(x, w):
    return pm.layers.cond(pm.layers.reduce_sum(x) > 0.0, lambda: x * w, lambda: x)


def after_a_branch(x, w):
    return pm.layers.cond(pm.layers.reduce_sum(x) > 0.0, lambda: x * 1.0, lambda: x) * w


def after_a_shape_that_depends_on_data(x, w):
    return pm.layers.arange(0, pm.layers.reduce_sum(x) - 1.0, 1, "float32") * w


@pytest.mark.parametrize("build", [in_a_branch, after_a_branch, after_a_shape_that_depends_on_data])
def test_a_parameter_that_is_fed_has_this_value_in_the_whole_run(build):
    x = pm.layers.data("x", [2])
    w = pm.layers.create_parameter([2], "float32", name="w", default_initializer=pm.initializer.Constant(1.0))
    out, exe = build(x, w), start()
    base = exe.run(feed={"x": np.array([1, 2], "float32")}, fetch_list=[out])[0]
    value, fetched = exe.run(feed={"x": np.array([1, 2], "float32"), "w": np.array([3, 5], "float32")}, fetch_list=[out, w])
    np.testing.assert_array_equal(value, base * [3, 5])
    np.testing.assert_array_equal(fetched, [3, 5])
    np.testing.assert_array_equal(pm.global_scope().get("w"), [1, 1])


def test_a_variable_that_a_branch_writes_is_not_fed():
    x, total = pm.layers.data("x", [1]), pm.layers.create_global_var([1], 0.0, "float32", persistable=True, name="total")
    pm.layers.cond(
        pm.layers.reduce_sum(x) > 0.0, lambda: pm.layers.assign(x, output=total), lambda: pm.layers.assign(x, output=total)
    )
    with pytest.raises(pm.ProgramError, match="feed 'total': the program writes this variable"):
        start().run(feed={"x": [1.0], "total": [2.0]})
