"""pm.onnx.load: models whose dimensions only a run knows, as exporters write them for batches of any size: run with two sizes."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import paddle_mini as pm

IMAGE = ("N", 4, "H", "W")
UNKNOWN = {"N": (2, 3), "M": (1, 2), "H": (5, 8), "W": (6, 4), "K": (3, 4)}


def ints(*values):
    return np.array(values, "int64")


def node(op_type, *inputs, **attrs):
    return helper.make_node(op_type, [*inputs], ["y"], **attrs)


def parts_of_shape(*parts):
    """Nodes that compute the shape 's' from dimensions ('x', axis) of inputs and from numbers."""
    nodes, names = [], []
    for place, part in enumerate(parts):
        if isinstance(part, int):
            value = numpy_helper.from_array(ints(part))
            nodes.append(helper.make_node("Constant", [], [f"part{place}"], value=value))
        else:
            nodes.append(helper.make_node("Shape", [part[0]], [f"part{place}"], start=part[1], end=part[1] + 1))
        names.append(f"part{place}")
    return [*nodes, helper.make_node("Concat", names, ["s"], axis=0)]


CASES = {
    "expand": ([node("Expand", "x", "s")], {"x": ("N", 1, 4)}, {"s": ints(1, 3, 4)}),
    "expand_in_front": ([node("Expand", "x", "s")], {"x": ("N", 1)}, {"s": ints(2, 1, 5)}),
    "reshape": ([*parts_of_shape(("x", 0), ("x", 1), 2, 3), node("Reshape", "x", "s", allowzero=1)], {"x": ("N", "K", 6)}, {}),
    "depth_to_space_crd": ([node("DepthToSpace", "x", blocksize=2, mode="CRD")], {"x": IMAGE}, {}),
    "depth_to_space_dcr": ([node("DepthToSpace", "x", blocksize=2, mode="DCR")], {"x": ("N", 8, "H", "W")}, {}),
    "space_to_depth": ([node("SpaceToDepth", "x", blocksize=2)], {"x": ("N", 3, 4, 6)}, {}),
    "log_sum_exp": ([node("ReduceLogSumExp", "x", "a", keepdims=0)], {"x": ("N", 5)}, {"a": ints(1)}),
    "same_padding": (
        [node("Conv", "x", "w", auto_pad="SAME_UPPER", kernel_shape=[3, 2])],
        {"x": IMAGE},
        {"w": np.linspace(-1, 1, 48, dtype="float32").reshape(2, 4, 3, 2)},
    ),
    "ceil_mode": ([node("MaxPool", "x", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)], {"x": ("N", 2, 5, 5)}, {}),
    "nearest_by_scales": (
        [node("Resize", "x", "", "c", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")],
        {"x": IMAGE},
        {"c": np.array([1, 1, 2, 1.5], "float32")},
    ),
    "linear_by_scales": (
        [node("Resize", "x", "", "c", mode="linear", coordinate_transformation_mode="half_pixel")],
        {"x": IMAGE},
        {"c": np.array([1, 1, 2, 0.5], "float32")},
    ),
    "cubic_of_a_batch": (
        [*parts_of_shape(("x", 0), 2, 7, 3), node("Resize", "x", "", "", "s", mode="cubic")],
        {"x": ("N", 2, 4, 5)},
        {},
    ),
    "gather_nd": ([node("GatherND", "x", "i")], {"x": ("N", 4, 2), "i": ("K", 2)}, {}),
    "scatter_nd": (
        [node("ScatterND", "x", "i", "u")],
        {"x": ("N", 4, 2)},
        {"i": ints(0, -1, 1, 0).reshape(2, 2), "u": np.ones((2, 2), "float32")},
    ),
    "heads_of_a_product": (
        [
            *parts_of_shape(("x", 0), ("x", 1), 2, 2),
            helper.make_node("Mul", ["part0", "part2"], ["n"]),
            helper.make_node("Concat", ["n", "part1", "part3"], ["flat"], axis=0),
            helper.make_node("Reshape", ["x", "flat"], ["r"], allowzero=1),
            helper.make_node("Split", ["r"], ["first", "y"], axis=2, num_outputs=2),
        ],
        {"x": ("N", "K", 4)},
        {},
    ),
    "scatter_elements": (
        [node("ScatterElements", "x", "i", "u", axis=1, reduction="add")],
        {"x": ("N", 4), "i": ("N", 2), "u": ("N", 2)},
        {},
    ),
    "scatter_elements_of_fewer_rows": (
        [node("ScatterElements", "x", "i", "u", axis=1)],
        {"x": ("N", 4), "i": ("M", 1), "u": ("M", 1)},
        {},
    ),
    "scatter_nd_of_columns": (
        [node("ScatterND", "x", "i", "u")],
        {"x": (5, "N"), "u": (2, "N")},
        {"i": ints(3, -5).reshape(2, 1)},
    ),
    "scatter_nd_max": (
        [node("ScatterND", "x", "i", "u", reduction="max")],
        {"x": ("N", 4, 2), "i": ("M", 1), "u": ("M", 4, 2)},
        {},
    ),
}
for name, given in {"": {}, "_without_outside": {"exclude_outside": 1}, "_by_keys": {"cubic_coeff_a": -0.5}}.items():
    CASES[f"cubic_to_the_size_of_another_image{name}"] = (
        [*parts_of_shape(("x", 0), 4, ("z", 2), ("z", 3)), node("Resize", "x", "", "", "s", mode="cubic", **given)],
        {"x": IMAGE, "z": ("N", 1, "M", "K")},
        {},
    )
for method in ("linear", "cubic"):
    for name, given in {
        "antialias": {"antialias": 1},
        "antialias_without_outside": {"antialias": 1, "exclude_outside": 1},
        "corners": {"coordinate_transformation_mode": "align_corners"},
    }.items():
        CASES[f"{method}_by_scales_{name}"] = (
            [node("Resize", "x", "", "c", mode=method, **given)],
            {"x": IMAGE},
            {"c": np.array([1, 1, 0.55, 1.3], "float32")},
        )
for op_type, given in {
    "MaxPool": {"kernel_shape": [3, 2], "strides": [2, 2]},
    "AveragePool": {"kernel_shape": [3, 3], "strides": [2, 1], "pads": [1, 1, 1, 1]},
}.items():
    CASES[f"ceil_mode_{op_type}"] = ([node(op_type, "x", ceil_mode=1, **given)], {"x": IMAGE}, {})
CASES["ceil_mode_means_that_count_pads"] = (
    [node("AveragePool", "x", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1, count_include_pad=1)],
    {"x": IMAGE},
    {},
)
for k in (-1, 0, 2):
    CASES[f"eye_{k}"] = ([node("EyeLike", "x", k=k, dtype=TensorProto.FLOAT)], {"x": ("H", "W")}, {})
CASES["squeeze"] = ([node("Squeeze", "x")], {"x": ("N", 1, "H", 1, 4)}, {})
for mode in ("align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"):
    CASES[f"linear_to_the_size_of_another_image_{mode}"] = (
        [
            *parts_of_shape(("x", 0), 4, ("z", 2), ("z", 3)),
            node("Resize", "x", "", "", "s", mode="linear", coordinate_transformation_mode=mode),
        ],
        {"x": IMAGE, "z": ("N", 1, "M", "K")},
        {},
    )


def model(nodes, inputs, constants, rank):
    def info(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.INT64 if name == "i" else TensorProto.FLOAT, shape)

    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    facts = [info(name, shape) for name, shape in inputs.items()]
    graph = helper.make_graph(nodes, "g", facts, [info("y", [None] * rank)], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def values_of(inputs, size):
    """Inputs of the first or the second size; indices reach the last element but one from both sides."""
    random = np.random.default_rng(size)
    made = {}
    for name, shape in inputs.items():
        dims = [UNKNOWN[dim][size] if isinstance(dim, str) else dim for dim in shape]
        made[name] = random.integers(-2, 2, dims) if name == "i" else random.normal(size=dims).astype("float32")
    return made


@pytest.mark.parametrize("name", CASES)
def test_results_for_two_sizes(name, tmp_path):
    nodes, inputs, constants = CASES[name]
    reference = ReferenceEvaluator(model(nodes, inputs, constants, 0))
    must = [reference.run(None, values_of(inputs, size))[0] for size in (0, 1)]
    onnx.save(model(nodes, inputs, constants, must[0].ndim), tmp_path / "m.onnx")
    scope = pm.Scope()
    program, _, fetches = pm.onnx.load(tmp_path / "m.onnx", scope)
    for size in (0, 1):
        (found,) = pm.Executor().run(program, values_of(inputs, size), fetches, scope=scope)
        np.testing.assert_allclose(found, must[size], rtol=0, atol=1e-5, strict=True)
    declared = list(fetches[0].shape)
    assert len(declared) == must[0].ndim
    assert all(a == -1 or a == b == c for a, b, c in zip(declared, must[0].shape, must[1].shape)), declared


def test_elements_are_gathered_for_the_rows_that_the_indices_have(tmp_path):
    inputs = {"x": ("N", 4), "i": ("M", 2)}
    onnx.save(model([node("GatherElements", "x", "i", axis=1)], inputs, {}, 2), tmp_path / "m.onnx")
    program, _, fetches = pm.onnx.load(tmp_path / "m.onnx", scope := pm.Scope())
    for size in (0, 1):
        given = values_of(inputs, size)
        (found,) = pm.Executor().run(program, given, fetches, scope=scope)
        must = np.take_along_axis(given["x"][: len(given["i"])], given["i"], 1)
        np.testing.assert_array_equal(found, must, strict=True)


def test_positions_of_maxima_for_two_sizes(tmp_path):
    pool = helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2], strides=[2, 2])
    made = model([pool], {"x": ("N", 3, 4, 6)}, {}, 4)
    made.graph.output.append(helper.make_tensor_value_info("i", TensorProto.INT64, ["N", 3, 2, 3]))
    onnx.save(made, tmp_path / "m.onnx")
    program, _, fetches = pm.onnx.load(tmp_path / "m.onnx", scope := pm.Scope())
    for count in (1, 3):
        x = np.random.default_rng(count).normal(size=(count, 3, 4, 6)).astype("float32")
        maxima, places = pm.Executor().run(program, {"x": x}, fetches, scope=scope)
        np.testing.assert_array_equal(x.ravel()[places], maxima)
        windows = x.reshape(count, 3, 2, 2, 3, 2).max((3, 5))
        np.testing.assert_array_equal(maxima, windows, strict=True)


def test_an_axis_that_squeeze_does_not_expect_is_refused(tmp_path):
    onnx.save(model([node("Squeeze", "x")], {"x": ("N", 1, 4)}, {}, 2), tmp_path / "m.onnx")
    program, _, fetches = pm.onnx.load(tmp_path / "m.onnx", scope := pm.Scope())
    with pytest.raises(pm.ShapeError, match="reshape2"):
        pm.Executor().run(program, {"x": np.ones((1, 1, 4), "float32")}, fetches, scope=scope)


@pytest.mark.parametrize(
    "op_type, attrs, words",
    [
        ("MaxPool", {"kernel_shape": [2, 2], "strides": [3, 3]}, "must be known"),  # the last window may begin outside
        ("MaxPool", {"kernel_shape": [2, 2], "dilations": [2, 2]}, "must be known"),
        ("AveragePool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4, "count_include_pad": 1}, "must be known"),
        ("LpPool", {"kernel_shape": [3, 3], "strides": [2, 2]}, "must be known"),
    ],
)
def test_pools_that_need_the_size_of_an_image(op_type, attrs, words, tmp_path):
    onnx.save(model([node(op_type, "x", ceil_mode=1, **attrs)], {"x": IMAGE}, {}, 4), tmp_path / "m.onnx")
    with pytest.raises(pm.ProgramError, match=words):
        pm.onnx.load(tmp_path / "m.onnx", pm.Scope())


def test_antialias_by_a_factor_that_only_a_run_knows_is_refused(tmp_path):
    nodes = [*parts_of_shape(("x", 0), 4, ("z", 2), ("z", 3)), node("Resize", "x", "", "", "s", mode="linear", antialias=1)]
    onnx.save(model(nodes, {"x": IMAGE, "z": ("N", 1, "M", "K")}, {}, 4), tmp_path / "m.onnx")
    with pytest.raises(pm.ProgramError, match="antialias along dimension 2 by a factor that only a run knows"):
        pm.onnx.load(tmp_path / "m.onnx", pm.Scope())


def test_resized_integers_are_refused(tmp_path):
    graph = helper.make_graph(
        [node("Resize", "x", "", "c", mode="linear")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 1, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, [1, 1, 8, 8])],
        [numpy_helper.from_array(np.array([1, 1, 2, 2], "float32"), "c")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), tmp_path / "m.onnx")
    with pytest.raises(pm.ProgramError, match="mode linear of uint8"):
        pm.onnx.load(tmp_path / "m.onnx", pm.Scope())


def test_another_batch_in_the_sizes_of_resize_is_refused(tmp_path):
    nodes = [*parts_of_shape(("z", 0), 2, 8, 8), node("Resize", "x", "", "", "s", mode="linear")]
    onnx.save(model(nodes, {"x": ("N", 2, 4, 4), "z": ("M", 1)}, {}, 4), tmp_path / "m.onnx")
    program, _, fetches = pm.onnx.load(tmp_path / "m.onnx", scope := pm.Scope())
    x = np.ones((2, 2, 4, 4), "float32")
    pm.Executor().run(program, {"x": x, "z": x[:, 0, 0, :1]}, fetches, scope=scope)
    with pytest.raises(pm.ShapeError, match="reshape2"):
        pm.Executor().run(program, {"x": x, "z": x[:1, 0, 0, :1]}, fetches, scope=scope)


@pytest.mark.parametrize(
    "given, message",
    [
        (np.array([2, 2], "float32"), "one number above 0 for each of 4 axes"),
        (np.array([1, 1, 2, -1], "float32"), "one number above 0 for each of 4 axes"),
        (np.array([1, 1, 2, np.inf], "float32"), "one number above 0 for each of 4 axes"),
        (ints(8, 8), "sizes has 2 elements: there must be one for each of 4 axes"),
    ],
    ids=str,
)
def test_resize_needs_a_size_or_a_scale_for_each_axis(given, message, tmp_path):
    inputs = ["x", "", "c"] if given.dtype == "float32" else ["x", "", "", "c"]
    onnx.save(model([node("Resize", *inputs, mode="nearest")], {"x": IMAGE}, {"c": given}, 4), tmp_path / "m.onnx")
    with pytest.raises(pm.ProgramError, match=message):
        pm.onnx.load(tmp_path / "m.onnx", pm.Scope())


@pytest.mark.parametrize(
    "values",
    [
        np.array([0, -np.inf], "float32"),
        np.array([-np.inf, 0], "float32"),
        np.array([1, 2**40 + 1], "int64"),
        np.array([0.1, 0.3], "float64"),
        np.array([2, 250], "uint8"),
        np.array([True, False]),
    ],
    ids=lambda values: f"{values.dtype}{values.tolist()}",
)
def test_the_values_of_one_hot_are_exact(values, tmp_path):
    kind = helper.np_dtype_to_tensor_dtype(values.dtype)
    graph = helper.make_graph(
        [node("OneHot", "i", "d", "v")],
        "g",
        [helper.make_tensor_value_info("i", TensorProto.INT64, ["N"])],
        [helper.make_tensor_value_info("y", kind, ["N", 3])],
        [numpy_helper.from_array(np.array(3), "d"), numpy_helper.from_array(values, "v")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), tmp_path / "m.onnx")
    scope = pm.Scope()
    program, _, fetches = pm.onnx.load(tmp_path / "m.onnx", scope)
    (found,) = pm.Executor().run(program, {"i": ints(0, -1, 7)}, fetches, scope=scope)
    np.testing.assert_array_equal(found, values[np.array([[1, 0, 0], [0, 0, 1], [0, 0, 0]])], strict=True)
