"""pm.onnx.export: what is written is read back with the same results; refusals; files."""

import os

import numpy as np
import onnx
import pytest

import onnx_exports
import paddle_mini as pm
from thorough import thorough

# The definition of NaN and of infinite quotients differs.
DIFFERENT = {"elementwise_floordiv: each with each, broadcast", "hard_shrink: special values"}


def network():
    """A small network with convolution, batch normalization in training mode, dropout, and its optimizer."""
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        x, label = pm.layers.data("x", [-1, 3, 8, 8]), pm.layers.data("label", [-1, 1], dtype="int64")
        h = pm.layers.conv2d(x, 4, 3, padding=1)
        h = pm.layers.pool2d(pm.layers.batch_norm(h, act="relu"), 2, "max", 2)
        logits = pm.layers.fc(pm.layers.dropout(h, 0.5), 5)
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
        pm.optimizer.Momentum(0.1, 0.9).minimize(loss)
    pm.seed(1)
    pm.Executor().run(startup, scope=scope)
    return main, x, logits, loss, scope


def images(rows=3):
    return np.random.default_rng(0).normal(size=(rows, 3, 8, 8)).astype("float32")


def linear(**more):
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        x = pm.layers.data("x", [-1, 4])
        y = pm.layers.fc(x, 2, param_attr="w", **more)
    pm.Executor().run(startup, scope=scope)
    return main, x, y, scope


@thorough
def test_operators_are_read_back(tmp_path):
    cases = list(onnx_exports.operator_cases(tmp_path, most=3))
    written = [case for case in cases if not case.refusal]
    assert len(written) > 500 and len(written) > 0.95 * len(cases)
    for case in written:
        if case.name not in DIFFERENT:
            assert onnx_exports.difference(onnx_exports.read_back(case), case.expected) == "", case.name


@pytest.mark.parametrize("opset", [13, 14, 16, 17, 18, 21])
def test_a_training_program_is_written_for_inference(tmp_path, opset):
    main, x, logits, _, scope = network()
    before = main.to_bytes()
    path = tmp_path / "folder" / "model.onnx"
    pm.onnx.export(main, path, [x], [logits], scope, opset)
    assert main.to_bytes() == before
    onnx.checker.check_model(path, full_check=True)
    model = onnx.load(path)
    assert [entry.version for entry in model.opset_import] == [opset]
    assert {tensor.name for tensor in model.graph.initializer} <= set(scope.names())
    assert not {node.op_type for node in model.graph.node} & {"Dropout", "Momentum"}
    test = main.clone(for_test=True).prune([x], [logits])
    (must,) = pm.Executor().run(test, {"x": images()}, [logits], scope=scope)
    loaded = pm.Scope()
    program, feeds, fetches = pm.onnx.load(path, loaded)
    assert feeds == ["x"] and fetches[0].name == logits.name
    (found,) = pm.Executor().run(program, {"x": images()}, fetches, scope=loaded)
    np.testing.assert_allclose(found, must, rtol=1e-5, atol=1e-6)


def test_what_is_read_back_is_trained_further(tmp_path):
    main, x, y, scope = linear()
    pm.onnx.export(main, tmp_path / "model.onnx", [x], [y], scope)
    loaded, startup = pm.Scope(), pm.Program()
    program, _, (y,) = pm.onnx.load(tmp_path / "model.onnx", loaded)
    with pm.program_guard(program, startup):
        loss = pm.layers.reduce_mean(pm.layers.square(y))
        pm.optimizer.SGD(0.1).minimize(loss)
    executor = pm.Executor()
    executor.run(startup, scope=loaded)
    feed = {"x": np.random.default_rng(1).normal(size=(8, 4)).astype("float32")}
    losses = [float(executor.run(program, feed, [loss], scope=loaded)[0]) for _ in range(20)]
    assert losses[-1] < losses[0] / 2


def test_dimensions_that_a_run_knows_have_names(tmp_path):
    main, x, y, scope = linear()
    pm.onnx.export(main, tmp_path / "model.onnx", [x], [y], scope)
    dims = onnx.load(tmp_path / "model.onnx").graph.input[0].type.tensor_type.shape.dim
    assert dims[0].dim_param and dims[1].dim_value == 4


def test_a_variable_that_is_written_twice(tmp_path):
    """ONNX has a value for each time; fetches that are feeds, or the same value under two names, are outputs too."""
    main, scope = pm.Program(), pm.Scope()
    with pm.program_guard(main, pm.Program()):
        x = pm.layers.data("x", [-1, 2])
        total = pm.layers.scale(x, scale=2.0)
        first = pm.layers.assign(total)
        pm.layers.assign(pm.layers.elementwise_add(total, x), output=total)
    pm.onnx.export(main, tmp_path / "model.onnx", [x], [total, first], scope)
    onnx.checker.check_model(tmp_path / "model.onnx", full_check=True)
    program, _, fetches = pm.onnx.load(tmp_path / "model.onnx")
    feed = {"x": np.array([[1, 2]], "float32")}
    assert [value.tolist() for value in pm.Executor().run(program, feed, fetches)] == [[[3, 6]], [[2, 4]]]


def test_the_error_lists_all_operators_that_cannot_be_expressed(tmp_path):
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x = pm.layers.data("x", [-1, 2])
        noise = pm.layers.uniform_random([3, 2])
        words = pm.layers.data("words", [-1, 2], lod_level=1)
        pooled = pm.layers.sequence_pool(words, "sum")
        y = pm.layers.elementwise_add(pm.layers.relu(noise), pm.layers.relu(pooled))
    path = tmp_path / "model.onnx"
    path.write_bytes(b"what was there")
    with pytest.raises(pm.ProgramError) as raised:
        pm.onnx.export(main, path, [words], [y, x][:1], pm.Scope())
    lines = str(raised.value).splitlines()
    assert lines[0] == "ONNX cannot express 3 operators of the program:"
    assert lines[1] == "  feed 'words': ONNX does not have sequences of rows"
    assert lines[2].startswith(f"  uniform_random ('{noise.name}', operator 0): random numbers")
    assert lines[3].startswith("  sequence_pool (") and len(lines) == 4
    assert path.read_bytes() == b"what was there" and os.listdir(tmp_path) == ["model.onnx"]


def test_many_problems_fit_into_one_message(tmp_path):
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        parts = [pm.layers.uniform_random([3, 2]) for _ in range(30)]
    with pytest.raises(pm.ProgramError) as raised:
        pm.onnx.export(main, tmp_path / "model.onnx", [], parts, pm.Scope())
    assert len(str(raised.value).splitlines()) <= 12 and os.listdir(tmp_path) == []


def test_a_program_that_changes_its_state_is_refused(tmp_path):
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        counter = pm.layers.create_global_var([1], 0.0, "float32", persistable=True)
        y = pm.layers.scale(pm.layers.increment(counter), scale=2.0)
    pm.Executor().run(startup, scope=scope)
    with pytest.raises(pm.ProgramError, match="whose value outlives a run"):
        pm.onnx.export(main, tmp_path / "model.onnx", [], [y], scope)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"opset": 18.0}, "opset 18.0; this version writes 13 to 21"),
        ({"feeds": [np.ones(4)]}, "onnx.export: feeds has array.*, it must hold variables or their names"),
        ({"opset": 12}, "writes 13 to 21"),
        ({"opset": 22}, "writes 13 to 21"),
        ({"fetches": []}, "fetches is empty"),
        ({"feeds": "x"}, "feeds must be a list"),
        ({"feeds": ["x", "x"]}, "a variable twice"),
        ({"feeds": ["z"]}, "no variable 'z'"),
        ({"program": None}, "not a Program"),
        ({"feeds": []}, "'x'"),
        ({"scope": pm.Scope()}, "has no value in the scope"),
    ],
)
def test_wrong_arguments_are_refused(tmp_path, change, message):
    main, x, y, scope = linear()
    arguments = {"program": main, "feeds": [x], "fetches": [y], "scope": scope, "opset": 18, **change}
    with pytest.raises(pm.Error, match=message) as raised:
        pm.onnx.export(path=tmp_path / "model.onnx", **arguments)
    assert len(str(raised.value).splitlines()) <= 12 and os.listdir(tmp_path) == []


def test_parameters_in_a_second_file(tmp_path):
    main, x, y, scope = linear()
    pm.onnx.export(main, tmp_path / "model.onnx", [x], [y], scope, external_data=True)
    assert sorted(os.listdir(tmp_path)) == ["model.onnx", "model.onnx.data"]
    onnx.checker.check_model(tmp_path / "model.onnx", full_check=True)
    loaded = pm.Scope()
    pm.onnx.load(tmp_path / "model.onnx", loaded)
    for name in ("w", "fc_0.b_0"):
        assert (loaded.get(name) == scope.get(name)).all()
    inside = onnx.load(tmp_path / "model.onnx", load_external_data=False).graph.initializer
    assert [len(tensor.raw_data) for tensor in inside] == [0, 0]


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64", "int32", "bool"])
def test_element_types(tmp_path, dtype):
    """The parameter keeps its bits."""
    main, scope = pm.Program(), pm.Scope()
    block = main.global_block()
    block.create_var("x", shape=[2], dtype=dtype, need_check_feed=True)
    block.create_var("w", shape=[2], dtype=dtype, persistable=True)
    block.append_op("concat", {"X": ["x", "w"]}, {"Out": "y"}, {"axis": 0})
    stored = np.array([1, 0.5]).astype("float32" if dtype == "bfloat16" else dtype)
    bits = (stored.view(np.uint32) >> 16).astype(np.uint16) if dtype == "bfloat16" else stored
    scope.set("w", bits)
    pm.onnx.export(main, tmp_path / "model.onnx", ["x"], ["y"], scope)
    onnx.checker.check_model(tmp_path / "model.onnx", full_check=True)
    loaded = pm.Scope()
    program, _, fetches = pm.onnx.load(tmp_path / "model.onnx", loaded)
    (found,) = pm.Executor().run(program, {"x": bits}, fetches, scope=loaded)
    assert found.dtype == bits.dtype and (found == np.concatenate([bits, bits])).all()


def test_shapes_that_contradict_operators_are_refused(tmp_path):
    """A program of a file may declare any shapes."""
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        z, v = pm.layers.data("z", [2, 3]), pm.layers.data("v", [2, 3, 4])
        moved, reduced = pm.layers.transpose(z, [1, 0]), pm.layers.reduce_sum(v, dim=[2])
    for fed, fetch in ((z, moved), (v, reduced)):
        fed._shape = (2,)
        with pytest.raises(pm.ProgramError) as raised:
            pm.onnx.export(main, tmp_path / "model.onnx", [fed], [fetch], pm.Scope())
        assert len(str(raised.value).splitlines()) <= 12
    assert os.listdir(tmp_path) == []


def test_products_of_sizes_and_factors_are_rounded_to_float32(tmp_path):
    """The factor 0.7 of float32 is less than that of float64: 10 pixels become 7, not 6."""
    main, scope = pm.Program(), pm.Scope()
    with pm.program_guard(main, pm.Program()):
        x = pm.layers.data("x", [-1, 2, 10, 10])
        resized = [pm.layers.image_resize(x, scale=0.7, resample=method) for method in ("nearest", "bilinear", "bicubic")]
    pm.onnx.export(main, tmp_path / "model.onnx", [x], resized, scope)
    program, _, fetches = pm.onnx.load(tmp_path / "model.onnx", scope)
    feed = {"x": np.random.default_rng(0).normal(size=(2, 2, 10, 10)).astype("float32")}
    pairs = zip(pm.Executor().run(program, feed, fetches, scope=scope), pm.Executor().run(main, feed, resized), strict=True)
    for found, must in pairs:
        assert found.shape == (2, 2, 7, 7)
        np.testing.assert_allclose(found, must, rtol=1e-5, atol=1e-6)


def test_linear_interpolation_of_integers_is_refused(tmp_path):
    with pm.program_guard(pm.Program(), pm.Program()):
        x = pm.layers.data("x", [1, 2, 4, 4], "uint8")
        y = pm.layers.resize_bilinear(x, [8, 8])
        with pytest.raises(pm.ProgramError, match="bilinear_interp_v2.*uint8: sums in another order are rounded otherwise"):
            pm.onnx.export(y.block.program, tmp_path / "model.onnx", [x], [y])
