"""pm.onnx.load: the node cases of the onnx package, training of a loaded model, and files that are damaged."""

import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import onnx_cases
import paddle_mini as pm
from thorough import thorough

FLOOR = 0.98


def tensors(*names, shape=("N", 4), dtype=TensorProto.FLOAT):
    return [helper.make_tensor_value_info(name, dtype, shape) for name in names]


def model(nodes, inputs, outputs, weights=(), opset=17):
    initializers = [numpy_helper.from_array(value, name) for name, value in dict(weights).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def saved(folder, made):
    path = folder / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return path


@thorough
def test_node_cases_of_the_onnx_package(tmp_path):
    """No case is computed wrongly; at least FLOOR pass where this runtime has the operators and element types, and the others
    are refused."""
    outcomes = [onnx_cases.run_case(case, tmp_path) for case in onnx_cases.node_cases()]
    assert [(outcome.name, outcome.reason) for outcome in outcomes if outcome.kind == "failed"] == []
    known = frozenset(pm.onnx.supported_operators())
    passed = sum(outcome.kind == "passed" for outcome in outcomes)
    refused = [o for o in outcomes if o.kind == "refused" and o.operators <= known and "element type" not in o.reason]
    ratio = passed / (passed + len(refused))
    print(f"{passed} of {len(outcomes)} cases pass, {ratio:.1%} of those with known operators and element types")
    assert ratio >= FLOOR, [outcome.name for outcome in refused]
    assert passed >= 1520
    figures = json.loads((Path(__file__).parents[2] / "docs/onnx_figures.json").read_text())["read"]
    assert onnx_cases.by_operator(outcomes) == figures, "run .venv/bin/python docs/make_onnx.py --figures"


# The models of package onnx whose operators or element types this runtime does not have.
NOT_READ = re.compile("test_(strnorm_model|gradient_of)")


@thorough
def test_models_of_the_onnx_package(tmp_path):
    """Small ones, and networks for pictures, such as AlexNet, DenseNet, Inception, ResNet-50 and VGG-19."""
    outcomes = [onnx_cases.run_case(case, tmp_path) for case in onnx_cases.model_cases()]
    assert [(one.name, one.reason) for one in outcomes if one.kind == "failed"] == []
    assert [(one.name, one.reason) for one in outcomes if one.kind == "refused" and not NOT_READ.match(one.name)] == []
    passed = {one.name for one in outcomes if one.kind == "passed"}
    assert len(passed) >= 139 and {"test_resnet50", "test_densenet121", "test_vgg19", "test_PReLU_2d_multiparam"} <= passed


def attention(rng):
    """A block as torch exports it: the shape of the batch is computed by the graph."""
    weights = {"w": rng.normal(size=(8, 24)).astype("float32"), "two": np.array(2), "one": np.array(1), "zero": np.array(0)}
    weights |= {"axes": np.array([0]), "heads": np.array([3, 2, 4]), "scale": np.float32(0.5).reshape(())}
    node = helper.make_node
    nodes = [
        node("MatMul", ["x", "w"], ["qkv"]),
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["n"], axis=0),
        node("Gather", ["shape", "one"], ["t"], axis=0),
        node("Unsqueeze", ["n", "axes"], ["n1"]),
        node("Unsqueeze", ["t", "axes"], ["t1"]),
        node("Concat", ["n1", "t1", "heads"], ["wanted"], axis=0),
        node("Reshape", ["qkv", "wanted"], ["split"]),
        node("Transpose", ["split"], ["moved"], perm=[2, 0, 3, 1, 4]),
        node("Gather", ["moved", "zero"], ["q"], axis=0),
        node("Gather", ["moved", "one"], ["k"], axis=0),
        node("Gather", ["moved", "two"], ["v"], axis=0),
        node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
        node("MatMul", ["q", "kt"], ["scores"]),
        node("Mul", ["scores", "scale"], ["scaled"]),
        node("Softmax", ["scaled"], ["probabilities"], axis=-1),
        node("MatMul", ["probabilities", "v"], ["y"]),
    ]
    shapes = [tensors("x", shape=("N", "T", 8)), tensors("y", shape=("N", 2, "T", 4))]
    return model(nodes, *shapes, weights)


@pytest.mark.parametrize("sizes", [(1, 3), (2, 5)])
def test_shapes_that_the_graph_computes(tmp_path, sizes):
    rng = np.random.default_rng(1)
    made = attention(rng)
    program, feeds, fetches = pm.onnx.load(saved(tmp_path, made))
    x = rng.normal(size=(*sizes, 8)).astype("float32")
    assert feeds == ["x"] and [var.name for var in fetches] == ["y"]
    found = pm.Executor().run(program, {"x": x}, fetches)[0]
    np.testing.assert_allclose(found, ReferenceEvaluator(made).run(None, {"x": x})[0], rtol=1e-5, atol=1e-6)


def classifier(rng):
    weights = {
        "w": rng.normal(size=(8, 4)).astype("float32"),
        "b": np.zeros(8, "float32"),
        **{name: np.full(8, value, "float32") for name, value in {"gamma": 1, "beta": 0, "mean": 0.1, "variance": 2}.items()},
        "v": rng.normal(size=(8, 1)).astype("float32"),
    }
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"], transB=1),
        helper.make_node("BatchNormalization", ["h", "gamma", "beta", "mean", "variance"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("MatMul", ["r", "v"], ["y"]),
    ]
    return model(nodes, tensors("x"), tensors("y", shape=("N", 1)), weights)


def test_a_loaded_model_is_trained_further(tmp_path):
    rng = np.random.default_rng(2)
    scope = pm.Scope()
    program, _, (y,) = pm.onnx.load(saved(tmp_path, classifier(rng)), scope)
    x = rng.normal(size=(64, 4)).astype("float32")
    startup = pm.Program()
    with pm.program_guard(program, startup):
        target = pm.layers.data("target", [-1, 1])
        loss = pm.layers.reduce_mean(pm.layers.square(y - target))
        pm.optimizer.SGD(0.01).minimize(loss)
    executor = pm.Executor()
    executor.run(startup, scope=scope)
    before = {name: scope.get(name).copy() for name in ("w", "b", "gamma", "beta", "v", "mean", "variance")}
    feed = {"x": x, "target": x[:, :1]}
    losses = [float(executor.run(program, feed, [loss], scope=scope)[0]) for _ in range(30)]
    assert losses[-1] < losses[0] / 2
    assert {name for name, value in before.items() if (scope.get(name) != value).any()} == {"w", "b", "gamma", "beta", "v"}


def test_the_error_lists_all_operators_that_cannot_be_expressed(tmp_path):
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("StringNormalizer", ["a"], ["b"], name="volume"),
        helper.make_node("Neg", ["b"], ["c"]),
        helper.make_node("MaxRoiPool", ["x", "i"], ["d"], pooled_shape=[2, 2], name="regions"),
        helper.make_node("Gelu", ["c"], ["y"], domain="com.microsoft"),
    ]
    inputs = [*tensors("x", shape=(4, 4)), *tensors("i", shape=(4, 4), dtype=TensorProto.INT64)]
    made = model(nodes, inputs, tensors("y", shape=()))
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    scope = pm.Scope()
    with pytest.raises(pm.ProgramError) as raised:
        pm.onnx.load(saved(tmp_path, made), scope)
    lines = str(raised.value).splitlines()
    assert "3 operators of the graph cannot be expressed" in lines[0]
    assert lines[1:] == [
        "  StringNormalizer ('volume', node 1): this operator is not known",
        "  MaxRoiPool ('regions', node 3): this operator is not known",
        "  Gelu (node 4): domain 'com.microsoft'",
    ]
    assert not scope.names()


def test_many_problems_fit_into_one_message(tmp_path):
    nodes = [helper.make_node("StringNormalizer", ["x"], [f"y{i}"]) for i in range(30)]
    with pytest.raises(pm.ProgramError) as raised:
        pm.onnx.load(saved(tmp_path, model(nodes, tensors("x", shape=(2, 2)), tensors("y0", shape=()))))
    assert len(str(raised.value).splitlines()) <= 12


def test_constants_replace_inputs(tmp_path):
    inputs = [*tensors("x", shape=(2, 3)), *tensors("axes", shape=(1,), dtype=TensorProto.INT64)]
    made = model([helper.make_node("ReduceSum", ["x", "axes"], ["y"])], inputs, tensors("y", shape=(2, 1)))
    with pytest.raises(pm.ProgramError, match="'axes' must be constant"):
        pm.onnx.load(saved(tmp_path, made))
    with pytest.raises(pm.ProgramError, match="no input axis"):
        pm.onnx.load(tmp_path / "model.onnx", constants={"axis": [1]})
    program, feeds, fetches = pm.onnx.load(tmp_path / "model.onnx", constants={"axes": [1]})
    assert feeds == ["x"]
    assert pm.Executor().run(program, {"x": np.ones((2, 3), "float32")}, fetches)[0].tolist() == [[3], [3]]


def test_constants_have_the_element_type_of_the_graph(tmp_path):
    inputs = [*tensors("x", shape=(2,)), *tensors("a", shape=(1,))]
    made = saved(tmp_path, model([helper.make_node("Mul", ["x", "a"], ["y"])], inputs, tensors("y", shape=(2,))))
    for value in ([0.5], 0.5, np.array([0.5])):
        program, _, (y,) = pm.onnx.load(made, constants={"a": value})
        (found,) = pm.Executor().run(program, {"x": np.ones(2, "float32")}, [y])
        assert found.dtype == np.float32 and found.tolist() == [0.5, 0.5]
    with pytest.raises(pm.ProgramError, match="constants: 'a' is an array of complex128, the program wants float32"):
        pm.onnx.load(made, constants={"a": [1j]})


def relu(weights=()):
    return model([helper.make_node("Relu", ["x"], ["y"])], tensors("x"), tensors("y"), weights)


def cyclic():
    nodes = [helper.make_node("Relu", ["b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    return model(nodes, tensors("x"), tensors("b"))


def with_false_size():
    made = model([helper.make_node("Add", ["x", "w"], ["y"])], tensors("x"), tensors("y"), {"w": np.ones(4, "float32")})
    made.graph.initializer[0].dims[0] = 1 << 40
    return made


def outside_of_the_folder():
    made = model([helper.make_node("Add", ["x", "w"], ["y"])], tensors("x"), tensors("y"), {"w": np.ones(4, "float32")})
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "../secret.bin"
    return made


@pytest.mark.parametrize("damaged", [cyclic, with_false_size, outside_of_the_folder], ids=lambda made: made.__name__)
def test_damaged_models_are_refused(tmp_path, damaged):
    (tmp_path / "secret.bin").write_bytes(np.ones(4, "float32").tobytes())
    folder = tmp_path / "folder"
    folder.mkdir()
    scope = pm.Scope()
    with pytest.raises(pm.ProgramError) as raised:
        pm.onnx.load(saved(folder, damaged()), scope)
    assert "model.onnx" in str(raised.value) and len(str(raised.value).splitlines()) <= 12
    assert not scope.names()


def test_truncated_and_foreign_files_are_refused(tmp_path):
    whole = classifier(np.random.default_rng(3)).SerializeToString()
    for content in (*(whole[:size] for size in range(0, len(whole), 37)), b"PK\x03\x04 not a model", b"\xff" * 64):
        (tmp_path / "model.onnx").write_bytes(content)
        scope = pm.Scope()
        with pytest.raises(pm.ProgramError, match=r"model\.onnx"):
            pm.onnx.load(tmp_path / "model.onnx", scope)
        assert not scope.names()
    with pytest.raises(pm.ProgramError, match="is not a file"):
        pm.onnx.load(tmp_path / "nothing.onnx")


def test_models_of_earlier_opsets_are_converted(tmp_path):
    """Softmax of opset 11 is over all axes from `axis` on, not over one."""
    made = model([helper.make_node("Softmax", ["x"], ["y"])], *(tensors(name, shape=(2, 3, 4)) for name in "xy"), opset=11)
    program, _, fetches = pm.onnx.load(saved(tmp_path, made))
    found = pm.Executor().run(program, {"x": np.zeros((2, 3, 4), "float32")}, fetches)[0]
    np.testing.assert_allclose(found, np.full((2, 3, 4), 1 / 12), rtol=1e-6)


def test_meanings_older_than_opset_13_are_refused_where_they_are_not_converted(tmp_path):
    outputs = [*tensors("y", shape=(2, 4)), *tensors("mask", shape=(2, 4), dtype=TensorProto.BOOL)]
    nodes = [helper.make_node("Softmax", ["x"], ["h"]), helper.make_node("Gelu", ["h"], ["y"], domain="com.microsoft")]
    made = model(nodes, tensors("x", shape=(2, 4)), outputs[:1], opset=11)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    with pytest.raises(pm.ProgramError, match="com.microsoft"):
        pm.onnx.load(saved(tmp_path, made))


CASES = sorted(
    path.parent
    for kind in ("pytorch-converted", "pytorch-operator")
    for path in (Path(onnx.__file__).parent / "backend/test/data" / kind).glob("*/model.onnx")
)


def values_of(folder, kind):
    files = sorted((folder / "test_data_set_0").glob(f"{kind}_*.pb"), key=lambda path: int(path.stem.rpartition("_")[2]))
    return [numpy_helper.to_array(onnx.load_tensor(path)) for path in files]


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_models_that_torch_has_exported(folder):
    program, feeds, fetches = pm.onnx.load(folder / "model.onnx")
    found = pm.Executor().run(program, dict(zip(feeds, values_of(folder, "input"))), fetches)
    for value, must in zip(found, values_of(folder, "output"), strict=True):
        np.testing.assert_allclose(value, must, rtol=1e-3, atol=1e-5)


LIGHT = sorted((Path(onnx.__file__).parent / "backend/test/data/light").glob("*.onnx"))


@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_networks_of_the_model_zoo_are_read(path):
    """The package has ResNet-50, DenseNet-121 and others without weights that mean something: the graph is read completely."""
    program, feeds, fetches = pm.onnx.load(path)
    assert len(feeds) == 1 and program.global_block().var(feeds[0]).shape == (1, 3, 224, 224)
    assert [dim for dim in fetches[0].shape if dim != 1] == [1000]


def test_a_small_file_does_not_make_a_large_program(tmp_path):
    """Constants of many elements are not computed while the file is read: here 2⁴⁰ of them, which the result does not need."""
    weights = {"zero": np.array(0), "many": np.array(1 << 40), "one": np.array(1)}
    nodes = [
        helper.make_node("Range", ["zero", "many", "one"], ["r"]),
        helper.make_node("Cast", ["r"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Relu", ["x"], ["y"]),
    ]
    program, _, fetches = pm.onnx.load(saved(tmp_path, model(nodes, tensors("x"), tensors("y"), weights)))
    assert pm.Executor().run(program.prune(["x"], fetches), {"x": np.ones((1, 4), "float32")}, fetches)[0].tolist() == [[1] * 4]


def test_external_data_in_the_folder_is_read(tmp_path):
    made = model([helper.make_node("Add", ["x", "w"], ["y"])], tensors("x"), tensors("y"), {"w": np.arange(4, dtype="float32")})
    onnx.save(made, tmp_path / "model.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    scope = pm.Scope()
    pm.onnx.load(tmp_path / "model.onnx", scope)
    assert scope.get("w").tolist() == [0, 1, 2, 3]
