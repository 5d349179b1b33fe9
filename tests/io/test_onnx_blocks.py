"""pm.onnx.load: If, Loop and Scan, beside ONNX's reference; and programs with blocks, exported and read back."""

import numpy as np
import pytest
from onnx import TensorProto, checker, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import paddle_mini as pm

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node, info = helper.make_node, helper.make_tensor_value_info


def model(nodes, inputs, outputs, weights=None):
    initializers = [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(made)
    return made


def inner(nodes, inputs, outputs, weights=None):
    return helper.make_graph(
        nodes, "inner", inputs, outputs, [numpy_helper.from_array(w, name) for name, w in (weights or {}).items()]
    )


def loaded(folder, made):
    path = folder / "model.onnx"
    path.write_bytes(made.SerializeToString())
    scope = pm.Scope()
    return (*pm.onnx.load(path, scope), scope)


def agrees(folder, made, expected_of, *feeds):
    program, names, fetches, scope = loaded(folder, made)
    for feed in feeds:
        found = pm.Executor().run(program, {name: feed[name] for name in names}, fetches, scope=scope)
        for value, expected in zip(found, expected_of(feed), strict=True):
            assert value.shape == np.shape(expected)
            np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def branches():
    """Both branches have an initializer named w; their results have different lengths."""
    parts = []
    for length in (2, 3):
        w = {"w": np.arange(3 * length, dtype="float32").reshape(3, length)}
        parts.append(inner([node("MatMul", ["x", "w"], ["r"])], [], [info("r", FLOAT, ["N", length])], w))
    nodes = [
        node("ReduceSum", ["x"], ["sum"], keepdims=0),
        node("Greater", ["sum", "zero"], ["positive"]),
        node("If", ["positive"], ["y"], then_branch=parts[0], else_branch=parts[1]),
    ]
    shapes = [info("x", FLOAT, ["N", 3])], [info("y", FLOAT, ["N", "K"])]
    return model(nodes, *shapes, {"zero": np.float32(0).reshape(())})


def test_a_condition_that_depends_on_data_selects_a_branch(tmp_path):
    ones = np.ones((2, 3), "float32")
    made = branches()
    agrees(tmp_path, made, lambda feed: ReferenceEvaluator(made).run(None, feed), {"x": ones}, {"x": -ones}, {"x": 2 * ones[:1]})


def test_branches_are_trained(tmp_path):
    program, _, (y,), scope = loaded(tmp_path, branches())
    startup = pm.Program()
    with pm.program_guard(program, startup):
        pm.optimizer.SGD(0.125).minimize(pm.layers.reduce_sum(y))
    executor = pm.Executor()
    executor.run(startup, scope=scope)
    names = sorted(parameter.name for parameter in program.all_parameters())
    before = {name: scope.get(name).copy() for name in names}
    assert [before[name].shape for name in names] == [(3, 2), (3, 3)]
    executor.run(program, {"x": np.ones((2, 3), "float32")}, [y], scope=scope)
    np.testing.assert_array_equal(scope.get(names[0]), before[names[0]] - 0.25)
    np.testing.assert_array_equal(scope.get(names[1]), before[names[1]])


def loop(nodes, states, rows=(), condition="more", limit="limit", carried=()):
    """A model with a Loop from x and `limit`; states: (name, name after the step, shape); rows: names of what is kept."""
    inputs = [info("step", INT, []), info("before", BOOL, []), *(info(name, FLOAT, shape) for name, _, shape in states)]
    outputs = [info(condition, BOOL, []), *(info(after, FLOAT, shape) for _, after, shape in states)]
    body = inner(nodes, inputs, [*outputs, *(info(name, FLOAT, shape) for name, shape in rows)])
    names = [f"{after}_last" for _, after, _ in states] + [f"{name}_rows" for name, _ in rows]
    made = [node("Loop", [limit, "start", *carried], names, body=body)]
    results = [info(name, FLOAT, shape or ["K"]) for name, (_, _, shape) in zip(names, states)]
    results += [info(name, FLOAT, ["T", *shape]) for name, (_, shape) in zip(names[len(states) :], rows)]
    feeds = [info("x", FLOAT, [2]), info("limit", INT, []), info("start", BOOL, [])]
    return model(made, feeds, results, {"most": np.float32(50).reshape(())})


def fed(limit, start=True, x=(1, 2)):
    return {"x": np.array(x, "float32"), "limit": np.array(limit), "start": np.array(start)}


def test_a_loop_ends_by_its_condition_or_its_limit(tmp_path):
    nodes = [
        node("Add", ["a", "x"], ["next"]),
        node("ReduceSum", ["next"], ["sum"], keepdims=0),
        node("Less", ["sum", "most"], ["more"]),
        node("Mul", ["next", "a"], ["product"]),
    ]
    made = loop(nodes, [("a", "next", [2])], [("product", [2]), ("sum", [])], carried=["x"])

    def steps(feed):
        a, products, sums = feed["x"], [], []
        while len(sums) < feed["limit"] and feed["start"] and (not sums or sums[-1] < 50):
            products.append((a + feed["x"]) * a)
            a = a + feed["x"]
            sums.append(a.sum())
        return a, np.reshape(products, (-1, 2)), sums

    # The limit ends the loop, the condition does, or no step runs and the result has no rows.
    agrees(tmp_path, made, steps, fed(3), fed(1000), fed(0), fed(5, False))


def test_loop_variables_that_change_places_keep_their_values(tmp_path):
    nodes = [node("Add", ["a", "b"], ["sum"]), node("Identity", ["a"], ["old"]), node("Identity", ["before"], ["more"])]
    made = loop(nodes, [("a", "sum", [2]), ("b", "old", [2])], carried=["x", "x"])
    agrees(tmp_path, made, lambda feed: (13 * feed["x"], 8 * feed["x"]), fed(5))


def test_a_loop_variable_that_grows(tmp_path):
    """The shape that the body computes is that of the step, not the one before the loop."""
    nodes = [
        node("Concat", ["a", "x"], ["longer"], axis=0),
        node("Shape", ["a"], ["shape"]),
        node("Cast", ["shape"], ["size"], to=FLOAT),
        node("Identity", ["before"], ["more"]),
    ]
    made = loop(nodes, [("a", "longer", ["K"])], [("size", [1])], carried=["x"])
    for limit in (4, 0):
        sizes = np.arange(2, 2 + 2 * limit, 2).reshape(limit, 1)
        agrees(tmp_path, made, lambda feed, limit=limit, sizes=sizes: (np.tile(feed["x"], 1 + limit), sizes), fed(limit))


def test_a_loop_whose_variable_changes_its_rank_is_refused(tmp_path):
    nodes = [node("Unsqueeze", ["a", "axes"], ["wider"]), node("Identity", ["before"], ["more"])]
    axes = node("Constant", [], ["axes"], value_ints=[0])
    made = loop([axes, *nodes], [("a", "wider", None)], carried=["x"])
    scope = pm.Scope()
    (tmp_path / "model.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(pm.ProgramError, match=r"Loop \(node 0\): loop variables of shapes \[\(2,\)\], which become \[\(1, 2\)\]"):
        pm.onnx.load(tmp_path / "model.onnx", scope)
    assert not scope.names()


def scan(backward=0, axis=0):
    """The running sums of the rows of x, times w, and the last sum."""
    nodes = [node("Add", ["state", "row"], ["next"]), node("Mul", ["next", "w"], ["scaled"])]
    body = inner(
        nodes, [info("state", FLOAT, [2]), info("row", FLOAT, [2])], [info("next", FLOAT, [2]), info("scaled", FLOAT, [2])]
    )
    made = node(
        "Scan", ["first", "x"], ["last", "y"], body=body, num_scan_inputs=1, scan_input_axes=[axis],
        scan_input_directions=[backward], scan_output_directions=[backward], scan_output_axes=[axis],
    )  # fmt: skip
    shape = [2, "T"] if axis else ["T", 2]
    feeds = [info("first", FLOAT, [2]), info("x", FLOAT, shape)]
    return model([made], feeds, [info("last", FLOAT, [2]), info("y", FLOAT, shape)], {"w": np.array([3, -1], "float32")})


@pytest.mark.parametrize(("backward", "axis"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_scan(tmp_path, backward, axis):
    program, names, fetches, scope = loaded(tmp_path, scan(backward, axis))
    x = np.random.default_rng(3).normal(size=(4, 2)).astype("float32")
    first = np.array([0.5, -1], "float32")
    feed = {"first": first, "x": x.T.copy() if axis else x}
    last, y = pm.Executor().run(program, {name: feed[name] for name in names}, fetches, scope=scope)
    sums = first + np.cumsum(x[::-1] if backward else x, axis=0)
    must = (sums[::-1] if backward else sums) * np.array([3, -1])
    np.testing.assert_allclose(last, sums[-1], rtol=1e-5)
    np.testing.assert_allclose(y, must.T if axis else must, rtol=1e-5)


def test_scan_is_trained(tmp_path):
    program, _, (_, y), scope = loaded(tmp_path, scan())
    startup = pm.Program()
    with pm.program_guard(program, startup):
        pm.optimizer.SGD(1.0).minimize(pm.layers.reduce_sum(y))
    executor = pm.Executor()
    executor.run(startup, scope=scope)
    x = np.array([[1, 2], [3, 4]], "float32")
    executor.run(program, {"first": np.zeros(2, "float32"), "x": x}, [y], scope=scope)
    np.testing.assert_allclose(scope.get("w"), np.array([3, -1]) - np.cumsum(x, axis=0).sum(axis=0))


def test_programs_with_blocks_are_read_back(tmp_path):
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        x = pm.layers.data("x", [3, 2])
        total = pm.layers.reduce_sum(x)
        y = pm.layers.cond(total > 0.0, lambda: x * 2.0, lambda: x - 1.0)
        _, grown = pm.layers.while_loop(
            lambda i, v: pm.layers.reduce_sum(v) < 100.0, lambda i, v: [i + 1, v * 2.0], [pm.layers.zeros([1], "int64"), x * x]
        )
        rnn, first = pm.layers.StaticRNN(), pm.layers.zeros([2])
        with rnn.step():
            before = rnn.memory(init=first)
            after = before * 0.5 + rnn.step_input(x)
            rnn.update_memory(before, after)
            rnn.step_output(after)
        fetches = [y, grown, rnn()]
    values = np.random.default_rng(4).normal(size=(3, 2)).astype("float32")
    pm.onnx.export(main, tmp_path / "model.onnx", [x], fetches, pm.Scope())
    scope = pm.Scope()
    program, _, again = pm.onnx.load(tmp_path / "model.onnx", scope)
    for feed in ({"x": np.abs(values)}, {"x": -np.abs(values)}):
        must = pm.Executor().run(main, feed, fetches)
        found = pm.Executor().run(program, feed, again, scope=scope)
        for value, expected in zip(found, must, strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-6)


@pytest.mark.parametrize(("axis", "new_axis"), [(1, 1), (-1, 1), (0, 0), (1, 0)])
@pytest.mark.parametrize("steps", [1, 4])
def test_a_loop_that_appends_to_a_sequence(tmp_path, axis, new_axis, steps):
    """As PyTorch exports a list to which a scripted loop appends."""
    steps_of_body = [
        node("Identity", ["on"], ["on2"]),
        node("Add", ["h", "x"], ["h2"]),
        node("Neg", ["h2"], ["row"]),
        node("SequenceInsert", ["before", "row"], ["after"]),
    ]
    before, after = (helper.make_tensor_sequence_value_info(name, FLOAT, None) for name in ("before", "after"))
    given = [info("i", INT, []), info("on", BOOL, []), info("h", FLOAT, ["N", 3]), before]
    body = inner(steps_of_body, given, [info("on2", BOOL, []), info("h2", FLOAT, ["N", 3]), after])
    nodes = [
        node("SequenceEmpty", [], ["none"]),
        node("Loop", ["steps", "", "x", "none"], ["last", "rows"], body=body),
        node("ConcatFromSequence", ["rows"], ["y"], axis=axis, new_axis=new_axis),
    ]
    outputs = [info("last", FLOAT, ["N", 3]), info("y", FLOAT, ["A", "B", "C"][: 2 + new_axis])]
    program, _, fetches, scope = loaded(tmp_path, model(nodes, [info("x", FLOAT, ["N", 3]), info("steps", INT, [])], outputs))
    x = np.array([[1, 2, 3], [4, 5, 6]], "float32")
    last, y = pm.Executor().run(program, {"x": x, "steps": np.array(steps)}, fetches, scope=scope)
    rows = [-(count + 2) * x for count in range(steps)]
    assert (last == -rows[-1]).all()
    assert (y == (np.stack(rows, axis) if new_axis else np.concatenate(rows, axis))).all()
